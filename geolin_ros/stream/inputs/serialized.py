# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages that come with the same names again and again, read from their bytes.

rclpy and rosbags make each string and each number of a message anew, which takes longer than to
linearize a quadruped. Here strings are those of the message before while their bytes are, and
arrays share memory with the bytes.
"""

import struct
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from geolin_ros.typing import Array

LITTLE_ENDIAN = b'\x00\x01\x00\x00'
"""First bytes of plain CDR [OMG DDSI-RTPS, 10.5]; alignment counts from their end."""
# The fields that the stream reads of builtin_interfaces/Time, std_msgs/Header, geometry_msgs,
# sensor_msgs and nav_msgs; those of covariances and joints are arrays.
Stamp = namedtuple('Stamp', 'sec nanosec')
Header = namedtuple('Header', 'stamp frame_id')
Vector = namedtuple('Vector', 'x y z')
Quaternion = namedtuple('Quaternion', 'x y z w')
Pose = namedtuple('Pose', 'position orientation')
PoseWithCovariance = namedtuple('PoseWithCovariance', 'pose covariance')
Twist = namedtuple('Twist', 'linear angular')
TwistWithCovariance = namedtuple('TwistWithCovariance', 'twist covariance')
JointState = namedtuple('JointState', 'header name position velocity effort')
Odometry = namedtuple('Odometry', 'header child_frame_id pose twist')
Imu = namedtuple(
    'Imu',
    'header orientation orientation_covariance angular_velocity angular_velocity_covariance '
    'linear_acceleration linear_acceleration_covariance',
)


_time = struct.Struct('<iI').unpack_from
_pose = struct.Struct('<7d').unpack_from
_twist = struct.Struct('<6d').unpack_from
_vector = struct.Struct('<3d').unpack_from
_rotation = struct.Struct('<4d').unpack_from


def _header(message: Any, data: bytes) -> Header:
    return Header(Stamp(*_time(data, 4)), message.header.frame_id)


def _doubles(data: bytes, at: int, count: int) -> Array:
    return np.frombuffer(data, np.float64, count, at)


def _joint_state(starts: list[int], message: Any, data: bytes) -> JointState:
    position, velocity, effort = starts
    return JointState(
        _header(message, data),
        message.name,
        _doubles(data, position, len(message.position)),
        _doubles(data, velocity, len(message.velocity)),
        _doubles(data, effort, len(message.effort)),
    )


def _odometry(starts: list[int], message: Any, data: bytes) -> Odometry:
    at = starts[0]
    p, v = _pose(data, at), _twist(data, at + 344)
    return Odometry(
        _header(message, data),
        message.child_frame_id,
        PoseWithCovariance(Pose(Vector(*p[:3]), Quaternion(*p[3:])), _doubles(data, at + 56, 36)),
        TwistWithCovariance(Twist(Vector(*v[:3]), Vector(*v[3:])), _doubles(data, at + 392, 36)),
    )


def _imu(starts: list[int], message: Any, data: bytes) -> Imu:
    at = starts[0]
    return Imu(
        _header(message, data),
        Quaternion(*_rotation(data, at)),
        _doubles(data, at + 32, 9),
        Vector(*_vector(data, at + 104)),
        _doubles(data, at + 128, 9),
        Vector(*_vector(data, at + 200)),
        _doubles(data, at + 224, 9),
    )


VIEWS: dict[str, Callable[[list[int], Any, bytes], Any]] = {
    'sensor_msgs/msg/JointState': _joint_state,
    'nav_msgs/msg/Odometry': _odometry,
    'sensor_msgs/msg/Imu': _imu,
}
"""How to read the bytes of a type, with the starts of `layout`."""


def layout(kind: str, message: Any) -> tuple[bytes, list[int]]:
    """Return a mask of the bytes of a message, and where each block of its numbers starts.

    The mask is zero where messages with the same texts and lengths may differ.
    """
    parts: list[str | int | None] = [message.header.frame_id]  # texts, counts of numbers, lengths
    if kind == 'sensor_msgs/msg/JointState':
        parts += [None, *message.name]
        for values in (message.position, message.velocity, message.effort):
            parts += [None, len(values)]
    else:
        parts += [message.child_frame_id, 85] if kind == 'nav_msgs/msg/Odometry' else [37]
    head = len(LITTLE_ENDIAN)
    mask, starts = b'\xff' * head + bytes(8), []
    for part in parts:
        if isinstance(part, int):
            if part:  # nothing is no more aligned than it is long
                mask += bytes(-(len(mask) - head) % 8)
            starts.append(len(mask))
            mask += bytes(8 * part)
        else:
            text = 0 if part is None else len(part.encode()) + 1
            mask += bytes(-(len(mask) - head) % 4) + b'\xff' * (4 + text)
    return mask, starts


class InputReader:
    """Reads the messages of a subscription, or of a topic of a bag, of a ``kind`` of `VIEWS`.

    ``decode`` returns a message of which nothing is known; `read` raises what it raises.
    """

    def __init__(self, kind: str, decode: Callable[[bytes], Any]) -> None:
        self._kind, self._view, self._decode = kind, VIEWS[kind], decode
        self._size, self._end, self._mask, self._fixed = -1, 0, 0, 0
        self._starts: list[int] = []
        self._message: Any = None

    def read(self, data: bytes) -> Any:
        """Return a message, or what has the same attributes; nobody may write to it."""
        if len(data) == self._size and self._texts(data) == self._fixed:
            return self._view(self._starts, self._message, data)
        message = self._decode(data)
        mask, self._starts = layout(self._kind, message)
        is_known = data[:4] == LITTLE_ENDIAN and len(data) == len(mask)
        self._size, self._message = len(mask) if is_known else -1, message
        self._end, self._mask = len(mask.rstrip(b'\0')), int.from_bytes(mask, 'little')
        self._fixed = self._texts(data)
        return message

    def _texts(self, data: bytes) -> int:
        """Return texts and lengths as one number; what is neither they nor numbers is zero."""
        return int.from_bytes(data[: self._end], 'little') & self._mask
