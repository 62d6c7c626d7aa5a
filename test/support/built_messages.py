# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages that no package index has: as installed, or built of their definitions."""

import ctypes
import fcntl
import functools
import importlib
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from support.environment import ROOT
from tools.build_messages import SOURCE, build

TF2 = 'tf2_msgs'
INSTALLED = find_spec(TF2) is not None
FOLDER = Path(sys.prefix).resolve() / 'build/of_tests' / TF2  # libraries know it: no link to it


@functools.cache
def tf2_messages():
    """Return the type of transforms, and the environment of processes that are to know it."""
    environment = {}
    if not INSTALLED:
        prefix = FOLDER / 'installed'
        _build(prefix)
        (packages,) = map(str, prefix.glob('lib/python*/site-packages'))
        sys.path.append(packages)
        for library in (prefix / 'lib').glob('*.so'):  # found by name once they are loaded
            ctypes.CDLL(str(library))
        importlib.import_module(f'{TF2}.msg')
        sys.path.remove(packages)  # forked nodes get what is in it
        for variable, folders in (
            ('PYTHONPATH', (str(ROOT), packages)),
            ('LD_LIBRARY_PATH', (str(prefix / 'lib'),)),
            ('AMENT_PREFIX_PATH', (str(prefix),)),
        ):
            known = os.environ.get(variable, '')
            environment[variable] = os.pathsep.join(filter(None, (*folders, known)))
    return importlib.import_module(f'{TF2}.msg').TFMessage, environment


def _build(prefix):
    """Make the package as geolin_msgs is made, once an environment."""
    source, file = FOLDER / TF2, 'msg/TFMessage.msg'
    (source / 'msg').mkdir(parents=True, exist_ok=True)
    with (FOLDER / 'lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (prefix / 'share' / TF2 / 'package.xml').exists():  # what is installed last
            return
        (source / file).write_text('geometry_msgs/TransformStamped[] transforms\n')
        about = (SOURCE / 'package.xml').read_text()
        (source / 'package.xml').write_text(about.replace('geolin_msgs', TF2))
        lines = (SOURCE / 'CMakeLists.txt').read_text().splitlines()
        kept = [line for line in lines if not line.endswith(('.msg', '.srv'))]
        at = next(k for k, line in enumerate(kept) if line.startswith('rosidl_generate'))
        text = '\n'.join((*kept[: at + 1], f'  {file}', *kept[at + 1 :]))
        (source / 'CMakeLists.txt').write_text(text.replace('geolin_msgs', TF2))
        quick = (f'-DCMAKE_{language}_FLAGS_RELEASE=-O0' for language in ('C', 'CXX'))
        place = f'-DCMAKE_INSTALL_RPATH={prefix}/lib'
        build(source, prefix, place, '-DGEOLIN_MSGS_PYTHON_ONLY=ON', *quick)
