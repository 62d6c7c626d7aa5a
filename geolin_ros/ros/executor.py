# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Run a node until it is asked to stop, with the cheapest executor that the distribution has.

What differs between distributions of ROS 2 is in this module alone.
"""

import os
import sys
import time
import types
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import Any

import rclpy
from rclpy.clock import Clock, ClockType  # type: ignore[attr-defined]
from rclpy.exceptions import InvalidHandle
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

STEADY = Clock(clock_type=ClockType.STEADY_TIME)
"""For what goes on while a simulation rests."""
SOON, PAUSE = 0.005, 0.001
"""What takes longer is looked at with pauses [s]."""
SLICE = 0.2  # [s], how often `spin` looks whether it is over
AT_ONCE = 100
"""Messages that are put in order."""
NO_LOG_FILE = '--ros-args', '--disable-external-lib-logs'


class OrderOfArrival(SingleThreadedExecutor):
    """Calls subscriptions in the order in which their messages came, as events executors do.

    rclpy's takes one message of each in turn: odometry overtakes joint states, or they it.
    """

    def _take_subscription(self, sub: Any) -> Callable[[], Coroutine[None, None, None]] | None:
        messages: list[tuple[int, Any, Any]] = []
        count = -1
        # Until none came meanwhile, so that none is missing between two; in a flood, not for ever.
        while count < len(messages) < AT_ONCE:
            count = len(messages)
            for given in [given for node in self.get_nodes() for given in node.subscriptions]:
                with suppress(InvalidHandle), given.handle:
                    taken = given.handle.take_message(given.msg_type, given.raw)
                    if taken is not None:
                        messages.append((taken[1]['received_timestamp'], given.callback, taken[0]))

        async def execute() -> None:
            for _, callback, message in sorted(messages, key=itemgetter(0)):
                callback(message)

        return execute


def make_executor() -> Executor:
    """Return an events executor, at half the CPU load, or a single-threaded one.

    That of Jazzy (rclpy 7), whose executors make no futures, answers a service with a coroutine
    instead of awaiting it.
    """
    if hasattr(Executor, 'create_future'):
        with suppress(ImportError):
            from rclpy.experimental.events_executor import EventsExecutor

            return EventsExecutor()
    return OrderOfArrival()


@types.coroutine
def result_of(future: Any, node: Any) -> Generator[None, None, Any]:
    """Return the result of a future of any thread; the executor of `spin` goes on meanwhile.

    An events executor looks at a coroutine that waits when it begins to spin, as it does again
    when the future is done. Others look again and again: without pauses that takes a processor.
    """

    def begin_anew(_: Any) -> None:
        if (executor := node.executor) is not None:
            executor.create_task(node.turn.set_result, None)

    future.add_done_callback(begin_anew)
    begin = time.monotonic()
    while not future.done():
        if isinstance(node.executor, OrderOfArrival) and time.monotonic() - begin > SOON:
            time.sleep(PAUSE)
        yield
    return future.result()


def init(arguments: list[str] | None) -> None:
    """Start rclpy with ``arguments``, by default the process's, also where home is read-only.

    rcl ends the process if it cannot make the folder of its log files: then it writes none.
    Signals are left to `geolin_ros.ros.programs`: rclpy's handlers would end the context, and with
    it the last words of a node.
    """
    home = os.environ.get('ROS_HOME') or '~/.ros'
    folder = Path(os.environ.get('ROS_LOG_DIR') or f'{home}/log').expanduser()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    given = sys.argv if arguments is None else arguments
    without = () if os.access(folder, os.W_OK) else NO_LOG_FILE
    rclpy.init(args=[*given, *without], signal_handler_options=SignalHandlerOptions.NO)


def spin(
    node: Any,
    is_over: Callable[[], bool] = lambda: False,
    first: Callable[[], object] | None = None,
) -> None:
    """Spin ``node`` until ``is_over()`` or the end of its context; do ``first`` before all else.

    With a time limit, because the events executor's `spin` ignores signals; `spin_once` would
    come back for each message, which costs as much as many of them do.
    """
    executor = make_executor()
    executor.add_node(node)
    task = None if first is None else executor.create_task(first)
    try:
        while rclpy.ok() and not is_over():
            node.turn = Future()  # whoever finishes it has `is_over` and coroutines looked at
            executor.spin_until_future_complete(node.turn, timeout_sec=SLICE)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        if task is not None and not task.done():
            task.cancel()  # a coroutine that was never begun would end with a warning
        executor.shutdown()
