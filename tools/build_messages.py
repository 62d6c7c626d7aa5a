# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Build geolin_msgs and install it into the virtual environment whose Python runs this.

With ``--python-only`` for a first look: without type support for C++ and with little optimization,
in a third of the time.
"""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy

SOURCE = Path(__file__).resolve().parent.parent / 'geolin_msgs'
PREFIX = Path(sys.prefix)


def point_wheels_at_this_python() -> None:
    """Replace places of the machine that built the ROS wheels by those of this one."""
    bundled = Path(sysconfig.get_paths()['platlib']).glob('ros_*.libs/libtinyxml2*.so*')
    for pattern, here in (
        *((r'/usr/lib64/libtinyxml2\.so\b', str(library)) for library in sorted(bundled)[:1]),
        (r'/opt/python/[^/]+/include/python3\.\d+', sysconfig.get_paths()['include']),
        (r'/opt/python/[^;"\s]+/numpy/_?core/include', numpy.get_include()),
    ):
        for file in PREFIX.glob('share/*/cmake/*.cmake'):
            text = file.read_text()
            patched = re.sub(pattern, lambda _, here=here: here, text)
            if patched != text:
                file.write_text(patched)


def build(source: Path = SOURCE, prefix: Path = PREFIX, *options: str) -> None:
    """Configure, compile and install a package of messages with CMake."""
    scripts = Path(sysconfig.get_paths()['scripts'])
    environment = dict(os.environ)
    environment['PATH'] = f'{scripts}{os.pathsep}{environment["PATH"]}'
    for variable in ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH'):
        found = environment.get(variable)
        environment[variable] = f'{PREFIX}{os.pathsep}{found}' if found else str(PREFIX)
    work = PREFIX / 'build' / source.name
    configure = [
        'cmake', '-S', str(source), '-B', str(work), '--fresh', '-Wno-dev',
        '-DCMAKE_BUILD_TYPE=Release', '-DBUILD_TESTING=OFF',
        f'-DCMAKE_INSTALL_PREFIX={prefix}', f'-DPython3_EXECUTABLE={sys.executable}', *options,
    ]  # fmt: skip
    jobs = str(os.cpu_count())  # unlimited, dozens of compilers would share the memory
    compile_and_install = [
        'cmake',
        '--build',
        str(work),
        '--parallel',
        jobs,
        '--target',
        'install',
    ]
    for command in (configure, compile_and_install):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f'{done.stdout}\n{done.stderr}\n{source.name}: {" ".join(command)} failed')


if __name__ == '__main__':
    if sys.prefix == sys.base_prefix:
        sys.exit('geolin_msgs is installed into a virtual environment; run .venv/bin/python')
    if 'ROS_DISTRO' not in os.environ:
        point_wheels_at_this_python()
    options = ['-DGEOLIN_MSGS_PYTHON_ONLY=OFF']
    if sys.argv[1:] == ['--python-only']:
        quick = (f'-DCMAKE_{language}_FLAGS_RELEASE=-O1' for language in ('C', 'CXX'))
        options = ['-DGEOLIN_MSGS_PYTHON_ONLY=ON', *quick]
    build(SOURCE, PREFIX, *options)
