# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages of rclpy read from their bytes, see `geolin_ros.stream.inputs.serialized`."""

from typing import Any

from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Imu, JointState

from geolin_ros.stream.inputs.serialized import InputReader

NAMES: dict[Any, str] = {
    JointState: 'sensor_msgs/msg/JointState',
    Odometry: 'nav_msgs/msg/Odometry',
    Imu: 'sensor_msgs/msg/Imu',
}
"""Types that are read so."""


def input_reader(kind: Any) -> InputReader:
    """Return a reader of one of `NAMES`; it raises what rclpy raises."""
    return InputReader(
        NAMES[kind],
        lambda data: deserialize_message(data, kind),
        field_types,
    )


def field_types(message: Any) -> dict[str, str]:
    """Return the type of each field of a message."""
    found: dict[str, str] = message.get_fields_and_field_types()
    return found
