# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Transforms and IMU as inputs of a node; tf2_msgs is looked for only when they are wanted."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

from sensor_msgs.msg import Imu

from geolin_ros.errors import ConfigurationError
from geolin_ros.ros.qos import LATCHED_BY_MANY
from geolin_ros.ros.robot_node import Input


def check_transforms() -> Any:
    """Return the type tf2_msgs/TFMessage.

    Raises `ConfigurationError` if tf2_msgs is not installed.
    """
    try:
        from tf2_msgs.msg import TFMessage
    except ImportError as error:
        raise ConfigurationError(
            f'parameter base_source is tf, which needs the package tf2_msgs: {error}; install it '
            '(ros-$ROS_DISTRO-tf2-msgs) or take odometry'
        ) from error
    return TFMessage


class Transforms:
    """Subscriptions to /tf, /tf_static and imu.

    Static transforms are sent once for all, maybe before there is a robot that they are about:
    they are kept, to be repeated to each new one.

    Parameters
    ----------
    take
        Called with the name of a topic and a message.
    """

    def __init__(self, take: Callable[..., None]) -> None:
        self._take = take
        self._static: dict[str, Any] = {}

    def inputs(self) -> list[Input]:
        """Return what is to be subscribed to."""
        kind = check_transforms()
        return [
            Input(kind, '/tf', partial(self._take, 'tf')),
            Input(kind, '/tf_static', self._on_static, LATCHED_BY_MANY),
            Input(Imu, 'imu', partial(self._take, 'imu')),
        ]

    def repeat(self) -> None:
        """Hand all static transforms on once more."""
        if self._static:
            message = SimpleNamespace(transforms=list(self._static.values()))
            self._take('tf_static', message)

    def _on_static(self, message: Any) -> None:
        self._static |= {stamped.child_frame_id: stamped for stamped in message.transforms}
        self.repeat()
