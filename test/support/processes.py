# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs that tests start: none outlives the test that started it, whatever happens there."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import psutil

PATIENCE = 60.0
"""A program that is left to itself at the end of its ``with`` has this long to end [s]."""
_started = []
_watchdog = None


class Program(subprocess.Popen):
    """`subprocess.Popen` that ends with the test, and with all that it has started itself.

    One with ``lasts`` is of a fixture, which ends it; at the latest the end of all tests does.
    """

    def __init__(self, *arguments, lasts=False, **options):
        super().__init__(*arguments, **options)
        self.lasts = lasts
        _started.append(self)
        note(self.pid)

    def __exit__(self, kind, *rest):
        """Wait for its end; where the test has failed, or waits in vain, end it."""
        try:
            if kind is None:
                self.wait(PATIENCE)
        finally:
            self.end()
            super().__exit__(kind, *rest)

    def end(self):
        """Kill it, unless it has ended, and all below."""
        if self.poll() is None:
            _kill(psutil.Process(self.pid))


def _kill(process):
    """Kill a process and all below."""
    found = [process]
    with contextlib.suppress(psutil.NoSuchProcess):
        found += process.children(recursive=True)
    for each in found:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()


def note(pid):
    """Have a process end with this one, too."""
    if _watchdog:
        _watchdog.stdin.write(f'{pid}\n')


@contextlib.contextmanager
def ended_with_it():
    """End what is started inside and still runs at its end."""
    before = len(_started)
    try:
        yield
    finally:
        for program in _started[before:]:
            if not program.lasts:
                program.end()
                _started.remove(program)


def watch():
    """Start what ends each program from now on even if this process is killed.

    A process of its own: what a program has started itself would outlive a signal at the death of
    its parent (PR_SET_PDEATHSIG), which comes with the end of a thread too.
    """
    global _watchdog
    options = {'bufsize': 1, 'text': True, 'start_new_session': True}  # a new one has no Ctrl-C
    _watchdog = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, **options)
    os.register_at_fork(after_in_child=_watchdog.stdin.close)  # a fork would keep it open


def end_all():
    """End what is left of all tests."""
    while _started:
        _started.pop().end()
    if _watchdog:
        _watchdog.communicate()


def _status(pid):
    """Return what /proc tells of a process, from its state on (proc(5), fields 3 and up)."""
    return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()


def began(pid):
    """Return when a process began, since the machine did [s]."""
    return int(_status(pid)[19]) / os.sysconf('SC_CLK_TCK')


def is_over(pid):
    """Whether a process is gone; where nobody asks for its status it stays as a zombie."""
    try:
        return _status(pid)[0] == 'Z'
    except (FileNotFoundError, ProcessLookupError):
        return True


if __name__ == '__main__':  # the watchdog
    found = []
    for pid in sys.stdin:
        with contextlib.suppress(psutil.NoSuchProcess):
            found.append(psutil.Process(int(pid)))
    for process in found:
        _kill(process)
