# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Run a node until it is asked to stop, with the cheapest executor that the distribution has."""

from collections.abc import Callable
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
