# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes forked off one process that has imported and loaded what all of them take.

Such a start is seconds shorter than one from nothing; what it does is the same.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import time
import traceback

from support.environment import PROGRAMS, ROOT, with_checkout
from support.processes import Program

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

SERVER = """
import sys
sys.path.append(sys.argv[1])
from support.nursery import serve
sys.path.pop()
serve()
"""


@functools.cache
def nursery():
    """Return the nursery of this process."""
    return Nursery()


def read_early(environment):
    """Return the variables that imports may read, which a nursery has read already."""
    return {name: value for name, value in environment.items() if name not in READ_LATE}


class Nursery:
    """Starts forked nodes and knows how they ended."""

    def __init__(self):
        self._environment = read_early(with_checkout())
        self._server = Program(
            [sys.executable, '-c', SERVER, str(ROOT / 'test')],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environment,
            cwd=ROOT,
            lasts=True,
        )
        atexit.register(self._close)
        self._rest, self._started, self.ended = b'', [], {}

    def suits(self, environment):
        """Whether a process with this environment may be forked."""
        return read_early(environment) == self._environment

    def start(self, module, arguments, environment, log):
        """Return a forked node: its standard output and error go to the file ``log``."""
        request = module, [str(word) for word in arguments], environment, str(log)
        self._server.stdin.write(json.dumps(request).encode() + b'\n')
        self._server.stdin.flush()
        while not self._started:
            self.listen(None)
        return Forked(self, self._started.pop())

    def _close(self):
        """Let the server go, which ends with its input."""
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()

    def listen(self, timeout=0.0):
        """Take in what the server says within a time [s]."""
        out = self._server.stdout.fileno()
        if not select.select([out], [], [], timeout)[0]:
            return
        data = os.read(out, 4096)
        assert data, 'the nursery has ended'
        *lines, self._rest = (self._rest + data).split(b'\n')
        for pid, status in map(json.loads, lines):
            if status is None:
                self._started.append(pid)
            else:
                self.ended[pid] = status


class Forked:
    """What tests use of `subprocess.Popen`, of a forked node."""

    def __init__(self, nursery, pid):
        self._nursery, self.pid = nursery, pid

    def poll(self):
        """Return the exit status, or None."""
        self._nursery.listen()
        return self._nursery.ended.get(self.pid)

    def wait(self, timeout=None):
        """Return the exit status; raise `subprocess.TimeoutExpired`."""
        deadline = time.monotonic() + (1e9 if timeout is None else timeout)
        while self.pid not in self._nursery.ended:
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            self._nursery.listen(left)
        return self._nursery.ended[self.pid]

    def send_signal(self, number):
        """Send a signal unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


def serve():
    """Fork a node at each line of standard input; say its number, and later its status."""
    for module in PROGRAMS.values():
        importlib.import_module(module)
    from geolin_ros.stream.warm_up import warm_up

    warm_up()
    gc.collect()
    gc.freeze()
    heard, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children = set()
    while True:
        ready, _, _ = select.select([0, heard], [], [])
        if heard in ready:
            os.read(heard, 1024)
            for pid in list(children):
                if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    say(pid, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                    children.remove(pid)
        if 0 in ready:
            line = sys.stdin.buffer.readline()
            if not line:
                return
            pid = os.fork()
            if pid == 0:
                os.close(heard)
                os.close(woken)
                become(*json.loads(line))
            children.add(pid)
            say(pid, None)


def say(pid, status):
    """Tell the other end."""
    os.write(1, json.dumps([pid, status]).encode() + b'\n')


def become(module, arguments, environment, log):
    """Be a node that has just been started; never return."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
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
