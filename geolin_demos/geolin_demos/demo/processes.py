# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Child processes that speak through ours and end by SIGINT, or with us, however we end."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO

from geolin_demos.demo.leash import PATIENCE


class Child:
    """A Python module run as a process of its own.

    Parameters
    ----------
    name
        For messages, and in front of each line that the process writes; ``prefix`` switches that.
    """

    def __init__(
        self,
        name: str,
        module: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        prefix: bool = True,
    ) -> None:
        self.name = name
        self._prefix = f'[{name}] ' if prefix else ''
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'geolin_demos.demo.leash', module, *arguments],
            env={**os.environ, **environment, 'PYTHONUNBUFFERED': '1'},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
            start_new_session=True,  # Ctrl-C reaches us alone, and we pass it on
        )
        self._is_muted = False
        lines = self._process.stdout
        self._reader = threading.Thread(target=self._repeat, args=(lines,), daemon=True)
        self._reader.start()

    def _repeat(self, lines: IO[str]) -> None:
        with lines:
            for line in lines:
                if not self._is_muted:
                    print(f'{self._prefix}{line}', end='', flush=True)

    @property
    def status(self) -> int | None:
        """Exit status, None while the process runs."""
        return self._process.poll()

    @property
    def pid(self) -> int:
        """Process number."""
        return self._process.pid

    def interrupt(self, mute: bool = False) -> None:
        """Send SIGINT, if the process still runs; `mute` drops what it has to say to that."""
        if self.status is None:
            self._is_muted = mute
            self._process.send_signal(signal.SIGINT)

    def finish(self) -> int:
        """Wait for the end, kill what does not end in time, and return the exit status."""
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            print(f'{self.name} did not end within {PATIENCE:g} s of SIGINT', file=sys.stderr)
        self._reader.join()
        with self._process:  # which closes the pipes
            return self._process.wait()


def start(words: Sequence[str]) -> 'subprocess.Popen[bytes]':
    """Return a program that runs beside this process and speaks for itself."""
    return subprocess.Popen(words)


def wait(program: 'subprocess.Popen[bytes]', patience: float = PATIENCE) -> int:
    """Wait for the end, kill what does not end in time, and return the exit status."""
    try:
        return program.wait(patience)
    except subprocess.TimeoutExpired:
        program.kill()
        return program.wait()
