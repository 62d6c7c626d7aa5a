# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes forked off one process that has imported and loaded what all of them take.

Such a start is seconds shorter than one from nothing; what it does is the same.
"""

import functools
import importlib
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import traceback
from multiprocessing import forkserver
from unittest.mock import patch

from support.environment import PROGRAMS, ROOT, with_checkout
from support.processes import note

READ_LATE = {
    'KMP_DUPLICATE_LIB_OK',  # proxsuite sets it
    *('MALLOC_TRIM_THRESHOLD_', 'MKL_NUM_THREADS', 'OMP_NUM_THREADS'),  # Dask, for its workers
    'PYTEST_CURRENT_TEST',
    'FASTDDS_DEFAULT_PROFILES_FILE',
    'ROS_AUTOMATIC_DISCOVERY_RANGE',
    'ROS_DOMAIN_ID',
    'ROS_LOG_DIR',
    'ROS_SECURITY_ENABLE',
    'ROS_SECURITY_KEYSTORE',
    'ROS_SECURITY_STRATEGY',
}
"""Variables that change no import of a node: all others must be those of the nursery."""


@functools.cache
def nursery():
    """Return the nursery of this process."""
    return Nursery()


def read_early(environment):
    """Return the variables that imports may read, which a nursery has read already."""
    return {name: value for name, value in environment.items() if name not in READ_LATE}


class Nursery:
    """The fork server of the standard library, with all loaded that `preloaded` loads."""

    def __init__(self):
        known = with_checkout()
        self._environment = read_early(known)
        self._context = multiprocessing.get_context('forkserver')
        self._context.set_forkserver_preload(['support.preloaded'])
        with patch.dict(os.environ, PYTHONPATH=f'{known["PYTHONPATH"]}{os.pathsep}{ROOT}/test'):
            forkserver.ensure_running()

    def suits(self, environment):
        """Whether a process with this environment may be forked."""
        return read_early(environment) == self._environment

    def start(self, module, arguments, environment, log):
        """Return a forked node: its standard output and error go to the file ``log``."""
        node = module, [str(word) for word in arguments], environment, str(log)
        process = self._context.Process(target=become, args=node, daemon=True)
        process.start()
        note(process.pid)
        return Forked(process)


class Forked:
    """What tests use of `subprocess.Popen`, of a forked node."""

    def __init__(self, process):
        self._process, self.pid = process, process.pid

    def poll(self):
        """Return the exit status, or None."""
        return self._process.exitcode

    def wait(self, timeout=None):
        """Return the exit status; raise `subprocess.TimeoutExpired`."""
        self._process.join(timeout)
        if self.poll() is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        return self.poll()

    def send_signal(self, number):
        """Send a signal unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


def become(module, arguments, environment, log):
    """Be a node that has just been started; never return."""
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    for number, path, flags in ((0, os.devnull, os.O_RDONLY), (1, log, os.O_WRONLY | os.O_APPEND)):
        opened = os.open(path, flags)
        os.dup2(opened, number)
        os.close(opened)
    os.dup2(1, 2)
    sys.argv = [module, *arguments]
    try:
        if module in PROGRAMS:
            package = PROGRAMS[module].rpartition('.')[0]
            status = getattr(importlib.import_module(f'{package}.programs'), module)()
        else:
            status = runpy.run_path(module, run_name='__main__')
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
