# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM, from the first line of a program to the end of its process.

Terminals and ``ros2 launch`` both send SIGINT, so that one Ctrl-C is two signals or more: only the
first counts. A KeyboardInterrupt is left out: it would strike anywhere, in a callback from the
compiler too.
"""

import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager

NUMBERS = signal.SIGINT, signal.SIGTERM


def ignore_signals() -> None:
    """Ignore both until the process ends: Python itself would restore their defaults before.

    Not for a handler that returns: Python prints an error about the other signal if it waits.
    """
    for number in NUMBERS:
        signal.signal(number, signal.SIG_IGN)


def end_early(program: str, status: int = 0) -> None:
    """Let the first signal end the process at once, with a status and a sentence.

    For the time of the imports, which leave nothing to clean up; `handled_signals` takes over.
    """

    def end(number: int, frame: object) -> None:
        ignore_signals()
        os.write(2, f'{program}: {signal.Signals(number).name} before it was up\n'.encode())
        os._exit(status)

    for number in NUMBERS:
        signal.signal(number, end)


@contextmanager
def handled_signals() -> Generator[Callable[[], bool], None, None]:
    """Note signals inside, ignore them after; yield a function that tells whether one came.

    Handlers of rclpy that are installed after this shut down its context as well.
    """
    received: list[int] = []

    def note(number: int, frame: object) -> None:
        received.append(number)

    for number in NUMBERS:
        signal.signal(number, note)
    try:
        yield lambda: bool(received)
    finally:
        ignore_signals()
