# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Run a node until it is asked to stop, with the cheapest executor that the distribution has."""

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor


def make_executor() -> Executor:
    """Return an events executor, at half the CPU load, or the single-threaded one."""
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


class Interrupt:
    """What SIGINT and SIGTERM do besides rclpy's shutting down of its context.

    While the node starts they raise KeyboardInterrupt, so that nobody waits for a compilation.
    Later they do nothing: an exception in the midst of a callback helps nobody, see `spin`.
    """

    def __init__(self) -> None:
        self.raises = True

    def __call__(self, number: int, frame: object) -> None:
        """Handle a signal."""
        if self.raises:
            self.raises = False
            raise KeyboardInterrupt


@contextmanager
def handled_signals() -> Generator[Interrupt, None, None]:
    """Handle SIGINT and SIGTERM inside; rclpy.init must follow, it calls these handlers first."""
    interrupt = Interrupt()
    before = {
        number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield interrupt
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
