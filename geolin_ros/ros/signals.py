# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""SIGINT, SIGTERM and SIGHUP, from the first line of a program to the end of its process.

Terminals and ``ros2 launch`` both send SIGINT, so that one Ctrl-C is two signals or more: only the
first counts. A KeyboardInterrupt is left out: it would strike anywhere, in a callback from the
compiler too. SIGHUP comes where a terminal is closed or a connection lost; ``nohup`` ignores it.
"""

import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event

PARENT = os.getppid()
"""Who started this process; read before the imports that take seconds."""
NUMBERS = tuple(
    number
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN
)


def ignore_signals() -> None:
    """Ignore all until the process ends: Python itself would restore their defaults before.

    Not for a handler that returns: Python prints an error about another signal if it waits.
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
    signal.pthread_sigmask(signal.SIG_UNBLOCK, NUMBERS)  # blocked in .venv until now


def stop_on_signals() -> Event:
    """Return an event that is set by the first signal; for programs that look at it now and then.

    Not for `Event.wait` in the main thread: handlers run in it, and would wait for its lock.
    """
    stop, received = Event(), list[int]()

    def note(number: int, frame: object) -> None:
        received.append(number)
        if len(received) == 1:  # another signal may strike in the middle of `set`
            stop.set()

    for number in NUMBERS:
        signal.signal(number, note)
    return stop


@contextmanager
def handled_signals() -> Generator[Callable[[], bool], None, None]:
    """Note signals inside, ignore them after; yield a function that tells whether one came.

    Handlers of rclpy that are installed after this shut down its context as well.
    """
    stop = stop_on_signals()
    try:
        yield stop.is_set
    finally:
        ignore_signals()
