# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Child processes that speak through ours and end by SIGINT, or with us, however we end.

The standard input of a child is a pipe whose other end its parent alone holds: the system closes
it where there was no time to send a signal. As a program, this module waits for that while it runs
another one, ``python -m geolin_demos.demo.processes MODULE ARGUMENT ...``.
"""

import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from geolin_ros.errors import GeolinError
from geolin_ros.ros.programs import ignore_signals

INTERRUPTED = 130
PATIENCE = 15.0  # after SIGINT [s]


class Child:
    """A Python module run as a process; its name is in front of what it prints, if ``prefix``."""

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
            [sys.executable, '-m', __name__, module, *arguments],
            env={**os.environ, **environment, 'PYTHONUNBUFFERED': '1'},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
            start_new_session=True,  # Ctrl-C reaches us alone, and we pass it on
        )
        self._is_muted = False
        self._reader = threading.Thread(target=self._repeat, daemon=True)
        self._reader.start()

    def _repeat(self) -> None:
        for line in self._process.stdout or ():
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
        """Send SIGINT, if the process still runs; ``mute`` drops what it prints after that."""
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


def run_reported(program: str, run: Callable[[], int]) -> int:
    """Return the exit status of a program; of an error, that is printed behind its name, 1."""
    try:
        return run()
    except KeyboardInterrupt:
        return INTERRUPTED
    except (GeolinError, OSError) as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1


def run_on_graph(program: str, run: Callable[[], int]) -> int:
    """Return the exit status of what makes nodes and spins them; signals are its own."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        return run_reported(program, run)
    finally:
        ignore_signals()
        rclpy.try_shutdown()


def _end_with_parent() -> None:
    os.read(0, 1)  # nobody writes
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(PATIENCE)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == '__main__':
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)
