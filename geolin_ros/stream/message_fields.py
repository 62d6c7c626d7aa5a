# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Fields of messages: times, poses, twists, wrenches, arrays, and words of enumerations."""

from array import array
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from geolin_ros.errors import InputError
from geolin_ros.kernels.se3 import quaternion
from geolin_ros.spatial.se3 import rotation_from_quaternion
from geolin_ros.typing import Array

W = TypeVar('W', bound=str)


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


def allocate(owner: Any, field: str, size: int) -> Array:
    """Give a float64[] field ``size`` zeros and return a writable view of them."""
    setattr(owner, field, array('d', bytes(8 * size)))
    # the message may have copied what it was given
    return np.frombuffer(getattr(owner, field), dtype=np.float64)


class MatrixWriter:
    """Fills one geolin_msgs/Matrix, whose memory, ``view``, is kept as long as the size stays."""

    def __init__(self, message: Any, rows: int = 0, cols: int = 0) -> None:
        self._message = message
        self._allocate(rows, cols)

    def write(self, values: Array) -> None:
        """Fill the message."""
        if values.shape != self.view.shape:
            self._allocate(*values.shape)
        self.view[:] = values

    def _allocate(self, rows: int, cols: int) -> None:
        self._message.rows, self._message.cols = rows, cols
        self.view = allocate(self._message, 'data', rows * cols).reshape(rows, cols)


def word_of(what: str, code: int, codes: Mapping[W, int]) -> W:
    """Return the word of an enumeration; raise `InputError` for a code that it does not have."""
    for word, known in codes.items():
        if known == code:
            return word
    raise InputError(
        f'{what} = {code}, expected one of {sorted(codes.values())}; the publisher is newer than '
        'this reader, or left the field empty'
    )


def write_matrix(message: Any, values: Array | None) -> None:
    """Write an array into a geolin_msgs/Matrix; none leaves it empty."""
    message.rows, message.cols = (0, 0) if values is None else values.shape
    message.data = array('d', b'' if values is None else np.ascontiguousarray(values).tobytes())


def read_matrix(message: Any) -> Array:
    """Return a geolin_msgs/Matrix as an array that shares its memory.

    Raises `InputError` if the data do not have rows * cols entries.
    """
    values = np.asarray(message.data, dtype=np.float64)
    if values.size != message.rows * message.cols:
        raise InputError(
            f'matrix message has {values.size} entries, expected {message.rows} x {message.cols}'
        )
    return values.reshape(message.rows, message.cols)
