# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""tf2_msgs/TFMessage: as installed, or built of its definition: no package index has it."""

import ctypes
import fcntl
import functools
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from support.environment import ROOT
from tools.build_messages import SOURCE, build

INSTALLED = find_spec('tf2_msgs') is not None
DEFINITION = 'geometry_msgs/TransformStamped[] transforms\n'
FOLDER = Path(sys.prefix) / 'build' / 'tf2'
PREFIX = FOLDER / 'installed'


@functools.cache
def tf2_messages():
    """Return the type, and the environment of processes that are to know it."""
    environment = {}
    if not INSTALLED:
        _build()
        (packages,) = map(str, PREFIX.glob('lib/python*/site-packages'))
        sys.path.append(packages)
        for library in (PREFIX / 'lib').glob('*.so'):  # found by name once they are loaded
            ctypes.CDLL(str(library))
        for variable, folders in (
            ('PYTHONPATH', (str(ROOT), packages)),
            ('LD_LIBRARY_PATH', (str(PREFIX / 'lib'),)),
        ):
            known = os.environ.get(variable, '')
            environment[variable] = os.pathsep.join(filter(None, (*folders, known)))
    from tf2_msgs.msg import TFMessage

    return TFMessage, environment


def _build():
    """Make the package as geolin_msgs is made, once an environment."""
    source = FOLDER / 'tf2_msgs'
    (source / 'msg').mkdir(parents=True, exist_ok=True)
    with (FOLDER / 'lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (PREFIX / 'share' / 'tf2_msgs' / 'package.xml').exists():  # what is installed last
            return
        (source / 'msg' / 'TFMessage.msg').write_text(DEFINITION)
        package = (SOURCE / 'package.xml').read_text()
        (source / 'package.xml').write_text(package.replace('geolin_msgs', 'tf2_msgs'))
        lines = (SOURCE / 'CMakeLists.txt').read_text().splitlines()
        kept = [line for line in lines if not line.endswith(('.msg', '.srv'))]
        at = next(k for k, line in enumerate(kept) if line.startswith('rosidl_generate'))
        text = '\n'.join((*kept[: at + 1], '  msg/TFMessage.msg', *kept[at + 1 :]))
        (source / 'CMakeLists.txt').write_text(text.replace('geolin_msgs', 'tf2_msgs'))
        build(source, PREFIX, f'-DCMAKE_INSTALL_RPATH={PREFIX}/lib')
