# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Exported C libraries, built by CMake, called through ctypes; packages with rclcpp, by colcon."""

import ctypes
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

needs_tools = pytest.mark.skipif(
    not all(map(shutil.which, ('cmake', 'cc'))), reason='cmake and a C compiler are not here'
)
PREFIXES = [sys.prefix, *filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep))]
LIBRARY = Path(sysconfig.get_config_var('LIBDIR'), sysconfig.get_config_var('INSTSONAME'))
# The wheels' librcl needs symbols of Python, which a program in C++ does not bring.
PRELOADED = {'LD_PRELOAD': str(LIBRARY)} if Path(sys.prefix, 'lib/librcl.so').exists() else {}
needs_rclcpp = pytest.mark.skipif(
    not any(Path(prefix, 'share/rclcpp/cmake').exists() for prefix in PREFIXES),
    reason='rclcpp is not here: as launch_ros, it is in no package index',
)


def with_prefix(*installed):
    """Return an environment where CMake finds packages, the shell this Python's programs."""
    path = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'
    prefixes = os.pathsep.join(map(str, (*installed, *PREFIXES)))
    found = {'CMAKE_PREFIX_PATH': prefixes, 'AMENT_PREFIX_PATH': os.pathsep.join(PREFIXES)}
    return {**os.environ, **found, 'PATH': path}


def build_package(source, folder):
    """Build a package that uses rclcpp by colcon, below a folder; return where it is installed."""
    environment = with_prefix()
    run(
        *(shutil.which('colcon', path=environment['PATH']), '--log-base', folder / 'log'),
        *('build', '--base-paths', source, '--build-base', folder / 'build'),
        *('--install-base', folder / 'install', '--cmake-args', '-Wno-dev'),
        '-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror',
        *(
            f'-DCMAKE_{kind}_LINKER_FLAGS=-Wl,--as-needed,--allow-shlib-undefined'
            for kind in ('EXE', 'SHARED')
        ),
        env=environment,
    )
    (installed,) = (path for path in (folder / 'install').iterdir() if path.is_dir())
    return installed


def run(*words, **options):
    """Run a command that has to succeed; return its output."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    assert done.returncode == 0, f'{words}\n{done.stdout}{done.stderr}'
    return done.stdout


def build(folder, to, *options):
    """Configure and build a CMake project."""
    run('cmake', '-S', folder, '-B', to, *options)
    run('cmake', '--build', to)
    return to


class Library:
    """A library in C with one instance.

    Parameters
    ----------
    file
        The shared library.
    name
        What its functions begin with.
    model
        The robot.
    """

    def __init__(self, file, name, model):
        self._library, self._name, self.model = ctypes.CDLL(str(file)), name, model
        self.robot = ctypes.c_void_p(self('create', result=ctypes.c_void_p))
        m, n_in = model.m, len(model.actuated_joints)
        self.A, self.B, self.nu_dot = (
            np.empty((2 * m, 2 * m)),
            np.empty((2 * m, n_in)),
            np.empty(m),
        )
        self._shapes = m, n_in

    def __call__(self, function, *arguments, result=ctypes.c_int):
        """Call a function; arrays are passed as pointers, floats as doubles."""
        code = getattr(self._library, f'{self._name}_{function}')
        code.restype = result
        return code(*map(_passed, arguments))

    def linearize(self, state, tau):
        """Return the status; the results are attributes."""
        return self('linearize', self.robot, state.data, tau, self.A, self.B, self.nu_dot)

    def forces(self):
        """Return contact forces and their derivatives by state and by effort."""
        rows, (m, n_in) = self('contact_rows', self.robot), self._shapes
        return [
            np.ctypeslib.as_array(
                self(name, self.robot, result=ctypes.POINTER(ctypes.c_double)), shape
            )
            for name, shape in (
                ('forces', (rows,)),
                ('forces_by_state', (rows, 2 * m)),
                ('forces_by_effort', (rows, n_in)),
            )
        ]


def _passed(argument):
    if isinstance(argument, np.ndarray):
        assert argument.flags.c_contiguous
        assert argument.dtype == np.float64
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_double(argument) if isinstance(argument, float) else argument


def same_bytes(first, second):
    """Whether two arrays are the same bits."""
    return np.asarray(first).tobytes() == np.asarray(second).tobytes()
