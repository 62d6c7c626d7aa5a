# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs that tests start: none outlives the test that started it, whatever happens there."""

import contextlib
import subprocess
from pathlib import Path

import psutil

PATIENCE = 60.0
"""A program that is left to itself at the end of its ``with`` has this long to end [s]."""
_started = []


class Program(subprocess.Popen):
    """`subprocess.Popen` that ends with the test, and with all that it has started itself.

    One with ``lasts`` is of a fixture, which ends it; at the latest the end of all tests does.
    """

    def __init__(self, *arguments, lasts=False, **options):
        super().__init__(*arguments, **options)
        self.lasts = lasts
        _started.append(self)

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
        below = []
        if self.poll() is None:
            with contextlib.suppress(psutil.NoSuchProcess):
                below = psutil.Process(self.pid).children(recursive=True)
        for process in (self, *below):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


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


def end_all():
    """End what is left of all tests."""
    while _started:
        _started.pop().end()


def is_over(pid):
    """Whether a process is gone; where nobody asks for its status it stays as a zombie."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] == 'Z'
    except (FileNotFoundError, ProcessLookupError):
        return True
