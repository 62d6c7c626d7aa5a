# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages that come with the same names again and again, read from their bytes.

rclpy and rosbags make each string and each number of a message anew, which takes longer than to
linearize a quadruped. Here strings are those of the message before while their bytes are, and
arrays share memory with the bytes.
"""

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.stream.inputs.message_layout import LITTLE_ENDIAN, FieldTypes, Layout
from geolin_ros.typing import Array


class Stamp(NamedTuple):
    """As builtin_interfaces/Time."""

    sec: int
    nanosec: int


class HeaderView(NamedTuple):
    """As std_msgs/Header."""

    stamp: Stamp
    frame_id: str


class Vector(NamedTuple):
    """As geometry_msgs/Vector3 and Point."""

    x: float
    y: float
    z: float


class Rotation(NamedTuple):
    """As geometry_msgs/Quaternion."""

    x: float
    y: float
    z: float
    w: float


class PoseView(NamedTuple):
    """As geometry_msgs/Pose."""

    position: Vector
    orientation: Rotation


class UncertainPose(NamedTuple):
    """As geometry_msgs/PoseWithCovariance."""

    pose: PoseView
    covariance: Array


class TwistView(NamedTuple):
    """As geometry_msgs/Twist."""

    linear: Vector
    angular: Vector


class UncertainTwist(NamedTuple):
    """As geometry_msgs/TwistWithCovariance."""

    twist: TwistView
    covariance: Array


class JointStateView(NamedTuple):
    """As sensor_msgs/JointState."""

    header: HeaderView
    name: list[str]
    position: Array
    velocity: Array
    effort: Array


class OdometryView(NamedTuple):
    """As nav_msgs/Odometry."""

    header: HeaderView
    child_frame_id: str
    pose: UncertainPose
    twist: UncertainTwist


class ImuView(NamedTuple):
    """As sensor_msgs/Imu."""

    header: HeaderView
    orientation: Rotation
    orientation_covariance: Array
    angular_velocity: Vector
    angular_velocity_covariance: Array
    linear_acceleration: Vector
    linear_acceleration_covariance: Array


class Head:
    """What a message and those after it have in common: all but numbers, and where they are."""

    def __init__(self, data: bytes, message: Any, field_types: FieldTypes) -> None:
        layout = Layout(message, field_types)
        self.message, self.size = message, len(data)
        self.is_known = data[:4] == LITTLE_ENDIAN and layout.size == len(data)
        self.at = layout.at
        self._end, bits = layout.fixed[-1].stop, bytearray(layout.size)
        for part in layout.fixed:
            bits[part] = b'\xff' * (part.stop - part.start)
        self._mask = int.from_bytes(bits, 'little')
        self._same = self._fixed(data)

    def fits(self, data: bytes) -> bool:
        """Whether nothing but numbers differs."""
        return len(data) == self.size and self._fixed(data) == self._same

    def _fixed(self, data: bytes) -> int:
        return int.from_bytes(data[: self._end], 'little') & self._mask


_time = struct.Struct('<iI').unpack_from
_pose = struct.Struct('<7d').unpack_from
_twist = struct.Struct('<6d').unpack_from
_vector = struct.Struct('<3d').unpack_from
_rotation = struct.Struct('<4d').unpack_from


def _header(head: Head, data: bytes) -> HeaderView:
    return HeaderView(Stamp(*_time(data, 4)), head.message.header.frame_id)


def _doubles(data: bytes, at: int, count: int) -> Array:
    return np.frombuffer(data, np.float64, count, at)


def _joint_state(head: Head, data: bytes) -> JointStateView:
    at, message = head.at, head.message
    return JointStateView(
        _header(head, data),
        message.name,
        _doubles(data, at['position'], len(message.position)),
        _doubles(data, at['velocity'], len(message.velocity)),
        _doubles(data, at['effort'], len(message.effort)),
    )


def _odometry(head: Head, data: bytes) -> OdometryView:
    at = head.at['pose.pose.position.x']
    p, v = _pose(data, at), _twist(data, at + 344)
    return OdometryView(
        _header(head, data),
        head.message.child_frame_id,
        UncertainPose(PoseView(Vector(*p[:3]), Rotation(*p[3:])), _doubles(data, at + 56, 36)),
        UncertainTwist(TwistView(Vector(*v[:3]), Vector(*v[3:])), _doubles(data, at + 392, 36)),
    )


def _imu(head: Head, data: bytes) -> ImuView:
    at = head.at['orientation.x']
    return ImuView(
        _header(head, data),
        Rotation(*_rotation(data, at)),
        _doubles(data, at + 32, 9),
        Vector(*_vector(data, at + 104)),
        _doubles(data, at + 128, 9),
        Vector(*_vector(data, at + 200)),
        _doubles(data, at + 224, 9),
    )


VIEWS: dict[str, Callable[[Head, bytes], Any]] = {
    'sensor_msgs/msg/JointState': _joint_state,
    'nav_msgs/msg/Odometry': _odometry,
    'sensor_msgs/msg/Imu': _imu,
}
"""How to read the bytes of a type."""


class InputReader:
    """Reads the messages of one subscription, or of one topic of a bag.

    Parameters
    ----------
    kind
        One of `VIEWS`.
    decode
        Returns a message of which nothing is known; `read` raises what it raises.
    field_types
        Of such a message.
    """

    def __init__(self, kind: str, decode: Callable[[bytes], Any], field_types: FieldTypes) -> None:
        self._view, self._decode, self._field_types = VIEWS[kind], decode, field_types
        self._head: Head | None = None

    def read(self, data: bytes) -> Any:
        """Return a message, or what has the same attributes; nobody may write to it."""
        head = self._head
        if head is not None and head.fits(data):
            return self._view(head, data)
        message = self._decode(data)
        head = Head(data, message, self._field_types)
        self._head = head if head.is_known else None
        return message
