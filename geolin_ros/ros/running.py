# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs of nodes: their arguments, and the cheapest executor that the distribution has.

What differs between distributions of ROS 2 is in this module alone.
"""

import argparse
import faulthandler
import gc
import os
import re
import sys
import time
import types
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import rclpy
from rclpy.clock import Clock, ClockType  # type: ignore[attr-defined]
from rclpy.exceptions import InvalidHandle
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rclpy.utilities import remove_ros_args

from geolin_ros.renamed import OLD_NODE
from geolin_ros.ros.programs import LAST, PARENT, handled_signals

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


SWITCH_INTERVAL = 5e-4
"""How long another thread, a compiler, may keep the interpreter from the executor's [s]."""


class Program(NamedTuple):
    """What a node says of itself: its name, what it does, and topics and services of it."""

    name: str
    about: str
    takes: str
    gives: str


def read_arguments(program: Program, arguments: list[str] | None) -> bool:
    """Return whether the node is to end with its parent.

    Answers --help, and ends the process where an argument is neither of these nor one of ROS.
    """
    parser = argparse.ArgumentParser(
        program.name,
        usage='%(prog)s [-h] [--end-with-parent] '
        '[--ros-args -p NAME:=VALUE --params-file FILE -r FROM:=TO ...]',
        description=f'{program.about}\n\nin:  {program.takes}\nout: /diagnostics, {program.gives}',
        epilog=f'parameters: geolin parameters {program.name}',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        '--end-with-parent',
        action='store_true',
        help='end when the process that started this one is gone',
    )
    given = sys.argv[1:] if arguments is None else arguments
    try:
        own = remove_ros_args(given)
    except RuntimeError:
        return False  # rclpy.init says what is wrong with those of ROS
    return bool(parser.parse_args(own).end_with_parent)


def with_old_name(arguments: list[str] | None, name: str) -> list[str]:
    """Return the arguments of a node, which keeps its old name with a parameter file of that.

    ``name`` is the new one; a name of the user's own is kept. Warns on standard error.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    named = next((word for word in given if word.startswith('__node:=')), f'__node:={name}')
    for word, file in pairwise(given):
        of_old = rf'^[^#]*\b{OLD_NODE}["\']?:'
        if word != '--params-file' or named != f'__node:={name}' or not Path(file).is_file():
            continue
        if re.search(of_old, Path(file).read_text(errors='replace'), re.MULTILINE):
            sys.stderr.write(
                f'{name}: {file} has parameters of {OLD_NODE}, and the node keeps this name: '
                f'lqr_node and walking_node, which expect {name}/..., get nothing from it; '
                f'rename it to {name} there: the old name ends with the next version\n'
            )
            rest = [other for other in given if other != named]
            if named in given:
                rest.pop(given.index(named) - 1)  # -r
            return [*rest, '--ros-args', '-r', f'__node:={OLD_NODE}']
    return given


def security_hint() -> str:
    """Return what to look at where a start failed and ROS 2 security is on, else nothing."""
    if os.environ.get('ROS_SECURITY_ENABLE') != 'true':
        return ''
    names = 'ROS_SECURITY_STRATEGY', 'ROS_SECURITY_KEYSTORE'
    given = ', '.join(f'{name}={os.environ.get(name) or "none"}' for name in names)
    return f'; security is on ({given}): make keys and permissions as docs/security.md says'


def run(make_node: Callable[[], Any], program: Program, arguments: list[str] | None = None) -> int:
    """Run a node until SIGINT, SIGTERM or SIGHUP; return the exit status of its program.

    With --end-with-parent also until the process that started it is gone: `ros2 launch` that is
    ended by SIGTERM or SIGKILL leaves its nodes alone. Signals are ignored afterwards.
    """
    with_parent = read_arguments(program, arguments)
    failure, node = None, None
    sys.setswitchinterval(SWITCH_INTERVAL)
    with handled_signals() as signalled:

        def asked_to_stop() -> bool:
            return signalled() or (with_parent and os.getppid() != PARENT)

        try:
            init(arguments)
            node = make_node()
            node.asked_to_stop = asked_to_stop
            spin(node, node.is_over, node.autostart)
            if not asked_to_stop():
                failure = node.failure
        except KeyboardInterrupt:
            pass
        except Exception as error:
            if not asked_to_stop():
                if node is not None:
                    raise
                failure = f'{error}{security_hint()}'  # a parameter file, for one
        finally:
            # by a thread in C: a deadlock with the middleware's may hold the GIL
            faulthandler.dump_traceback_later(LAST, exit=True, file=2)
            if node is not None:
                node.destroy_node()
            else:
                gc.collect()  # what was made of a node before a signal came
            rclpy.try_shutdown()
            rclpy.get_default_context().destroy()
            faulthandler.cancel_dump_traceback_later()
    if failure is not None:
        sys.stderr.write(f'{program.name}: {failure}\n')
        return 1
    return 0
