# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Console scripts of the nodes, and signals from the first line of a program to its end.

Terminals and ``ros2 launch`` both send SIGINT, so that one Ctrl-C is two signals or more: only the
first counts. A KeyboardInterrupt is left out: it would strike anywhere, in a callback from the
compiler too. SIGHUP comes where a terminal is closed or a connection lost; ``nohup`` ignores it.
"""

import faulthandler
import gc
import importlib
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event

PARENT = os.getppid()
"""Who started this process; read before the imports that take seconds."""
LAST = 30.0  # [s], longest end of a node; then it prints where each thread waits: status 1
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


def linearizer() -> int:
    """Run the linearization node; return the exit status."""
    return run_program('linearizer', 'geolin_ros.ros.linearizer')


def run_program(program: str, module: str) -> int:
    """Run the ``main`` of a node's module, which is imported first; return the exit status."""
    end_early(program)
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), 'w')  # for rclpy
    try:
        main = importlib.import_module(module).main
    except ModuleNotFoundError as error:
        package = (error.name or '').partition('.')[0]
        if package.startswith('geolin_') and package != 'geolin_msgs':
            raise
        fix = 'source its setup.bash (and that of the workspace), or run `make setup`'
        if package == 'geolin_msgs':
            fix = (
                '`colcon build` in the workspace and `source install/setup.bash`, or `make setup`'
            )
        sys.stderr.write(
            f'{program}: package {package} is not installed, expected ROS 2 with rclpy and '
            f'geolin_msgs: {fix}; `geolin` and the Python library need neither\n'
        )
        return 1
    status = main()
    faulthandler.dump_traceback_later(LAST, exit=True, file=2)
    # At once: what the interpreter takes apart, threads of the middleware may still look at.
    gc.unfreeze()
    gc.collect()  # the participant leaves the graph with the last that refers to it
    sys.stdout.flush()
    os._exit(status)
