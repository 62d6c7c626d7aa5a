# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Run a node until it is asked to stop, with the cheapest executor that the distribution has."""

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.clock import Clock, ClockType  # type: ignore[attr-defined]
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor

STEADY = Clock(clock_type=ClockType.STEADY_TIME)
"""For what goes on while a simulation rests."""


def make_executor() -> Executor:
    """Return an events executor, at half the CPU load, or the single-threaded one."""
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


@contextmanager
def handled_signals() -> Generator[Callable[[], bool], None, None]:
    """Take SIGINT and SIGTERM calmly inside; yield a function that tells whether one came.

    They still shut down rclpy's context, if rclpy.init comes after this. A KeyboardInterrupt is
    left out: it would strike anywhere, in a callback from the compiler too.
    """
    received: list[int] = []

    def note(number: int, frame: object) -> None:
        received.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def spin(node: Any, failure: Callable[[], str | None] = lambda: None) -> str | None:
    """Spin ``node`` until SIGINT, SIGTERM or ``failure()``; return the failure.

    `spin_once` with a time limit, because the events executor's `spin` ignores signals.
    """
    executor = make_executor()
    executor.add_node(node)
    try:
        while rclpy.ok() and failure() is None:
            executor.spin_once(timeout_sec=0.2)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        executor.shutdown()
    return failure()
