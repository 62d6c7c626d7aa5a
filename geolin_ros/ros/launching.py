# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How the launch files of this package end: all at once, with a sentence and an exit status.

`ros2 launch` ends with status 1 only if an exception passes through it, whatever the processes
ended with.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from launch.action import Action
from launch.actions import EmitEvent, OpaqueFunction, RegisterEventHandler, TimerAction
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.events.process import ProcessExited
from launch.launch_context import LaunchContext

from geolin_ros.errors import ConfigurationError, GeolinError

FLUSH = 0.1
"""For launch to print what a process printed last, before the end [s]."""


def supervise(
    leader: Action,
    is_loss: Callable[[ProcessExited], bool] = lambda event: False,
    ends_all: bool = True,
) -> RegisterEventHandler:
    """End the launch with status 1 when ``leader`` fails, and with its success if it ``ends_all``.

    The end of another process ends it too, with status 1, if ``is_loss`` is true of it: nobody
    can do its work.
    """

    def on_exit(event: ProcessExited, context: LaunchContext) -> TimerAction | None:
        is_leader = event.action is leader
        if context.is_shutdown or not (is_leader or is_loss(event)):
            return None
        if is_leader and event.returncode == 0:
            end = TimerAction(period=FLUSH, actions=[EmitEvent(event=Shutdown())])
            return end if ends_all else None
        early = '' if is_leader else 'early, '

        def refuse(*_: Any) -> None:
            status = event.returncode
            raise GeolinError(f'{event.process_name} ended {early}with status {status}, see above')

        return TimerAction(period=FLUSH, actions=[OpaqueFunction(function=refuse)])

    return RegisterEventHandler(OnProcessExit(on_exit=on_exit))


def check_file(argument: str, value: str) -> None:
    """Raise `ConfigurationError` if an argument names no file, which launch only warns of."""
    if not Path(value).is_file():
        raise ConfigurationError(f'{argument}:={value} is not a file, expected the path of one')


def is_true(argument: str, value: str) -> bool:
    """Return what an argument says; raise `ConfigurationError` unless it is true or false."""
    if value.lower() not in ('true', 'false'):
        raise ConfigurationError(f'{argument}:={value}, expected true or false')
    return value.lower() == 'true'
