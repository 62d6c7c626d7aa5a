# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Times, poses, twists and wrenches in the messages that ROS has for them."""

from typing import Any

import numpy as np

from geolin_ros.kernels.se3 import quaternion
from geolin_ros.spatial.se3 import rotation_from_quaternion
from geolin_ros.typing import Array


def write_stamp(stamp: Any, nanoseconds: int) -> None:
    """Write a time into a builtin_interfaces/Time."""
    stamp.sec, stamp.nanosec = divmod(nanoseconds, 1_000_000_000)


def write_pose(message: Any, H: Array) -> None:
    """Write a pose (4, 4), C-contiguous, into a geometry_msgs/Pose."""
    place, turn = message.position, message.orientation
    turn.x, turn.y, turn.z, turn.w = quaternion(H)
    place.x, place.y, place.z = H[:3, 3].tolist()


def pose_numbers(message: Any) -> tuple[float, ...]:
    """Return the numbers of a geometry_msgs/Pose: position, then quaternion (x, y, z, w)."""
    place, turn = message.position, message.orientation
    return place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w


def twist_numbers(message: Any) -> tuple[float, ...]:
    """Return [linear; angular] of a geometry_msgs/Twist."""
    linear, angular = message.linear, message.angular
    return linear.x, linear.y, linear.z, angular.x, angular.y, angular.z


def read_pose(message: Any) -> Array:
    """Return a geometry_msgs/Pose as (4, 4).

    Raises `InputError` if its quaternion has no direction.
    """
    numbers, H = pose_numbers(message), np.eye(4)
    H[:3, :3], H[:3, 3] = rotation_from_quaternion(numbers[3:]), numbers[:3]
    return H


def write_twist(message: Any, value: Array) -> None:
    """Write [linear; angular] (6,) into a geometry_msgs/Twist or Accel."""
    linear, angular = message.linear, message.angular
    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = value.tolist()


def write_wrench(message: Any, value: Array) -> None:
    """Write [force; torque] (6,) into a geometry_msgs/Wrench."""
    force, torque = message.force, message.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = value.tolist()
