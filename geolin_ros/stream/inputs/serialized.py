# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages that come with the same names again and again, read from their bytes.

rclpy and rosbags make each string and each number of a message anew, which takes longer than to
linearize a quadruped. Here strings are those of the message before while their bytes are, and
arrays share memory with the bytes.
"""

import re
import struct
from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from geolin_ros.typing import Array

LITTLE_ENDIAN = b'\x00\x01\x00\x00'
"""First bytes of plain CDR [OMG DDSI-RTPS, 10.5]; alignment counts from their end."""
_SIZES = {'int32': 4, 'uint32': 4, 'double': 8}
"""Bytes of numbers, as rosidl names them."""
_KIND = re.compile(r'(?:sequence<)?([\w/]+)(>|\[\d+\])?')
FieldTypes = Callable[[Any], Mapping[str, str]]
"""Returns the type of each field of a message, as rosidl names it: ``'sequence<double>'``."""

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


class Layout:
    """Where the numbers of a message lie in its bytes: of all with the same texts and lengths.

    Raises `TypeError` if the message has a field of another type than numbers, strings, messages
    of them, and arrays of numbers and of strings.

    Attributes
    ----------
    at
        Offset of each number, or of the first one of an array, by its field through nested
        messages: ``'pose.pose.position.x'``.
    size
        Bytes of the whole.
    """

    def __init__(self, message: Any, field_types: FieldTypes) -> None:
        self._field_types = field_types
        self.at: dict[str, int] = {}
        self._mask = bytearray(b'\xff' * len(LITTLE_ENDIAN))  # zero where bytes may differ
        self._place_fields('', message)
        self.size = len(self._mask)
        self._end = len(self._mask.rstrip(b'\0'))
        self._bits = int.from_bytes(self._mask, 'little')

    def fixed(self, data: bytes) -> int:
        """Return texts and lengths as one number; what is neither they nor numbers is zero."""
        return int.from_bytes(data[: self._end], 'little') & self._bits

    def _place_fields(self, path: str, message: Any) -> None:
        for name, kind in self._field_types(message).items():
            self._place(path + name, kind, getattr(message, name))

    def _place(self, name: str, kind: str, value: Any) -> None:
        match = _KIND.fullmatch(kind)
        element, is_array = match.groups() if match else ('', None)
        if is_array == '>':
            self._fix()
        if element in _SIZES:
            count = len(value) if is_array else 1
            if count:  # nothing is no more aligned than it is long
                self._align(_SIZES[element])
            self.at[name] = len(self._mask)
            self._mask += bytes(_SIZES[element] * count)
        elif element == 'string':
            for text in value if is_array else (value,):
                self._fix(len(text.encode()) + 1)
        elif '/' in element and not is_array:
            self._place_fields(name + '.', value)
        else:
            raise TypeError(f'{name} is a {kind}, expected numbers, strings or messages of them')

    def _fix(self, text: int = 0) -> None:
        """Place a length, and a text of so many bytes behind it."""
        self._align(4)
        self._mask += b'\xff' * (4 + text)

    def _align(self, size: int) -> None:
        self._mask += bytes(-(len(self._mask) - len(LITTLE_ENDIAN)) % size)


_time = struct.Struct('<iI').unpack_from
_pose = struct.Struct('<7d').unpack_from
_twist = struct.Struct('<6d').unpack_from
_vector = struct.Struct('<3d').unpack_from
_rotation = struct.Struct('<4d').unpack_from


def _header(message: Any, data: bytes) -> Header:
    return Header(Stamp(*_time(data, 4)), message.header.frame_id)


def _doubles(data: bytes, at: int, count: int) -> Array:
    return np.frombuffer(data, np.float64, count, at)


def _joint_state(at: dict[str, int], message: Any, data: bytes) -> JointState:
    return JointState(
        _header(message, data),
        message.name,
        _doubles(data, at['position'], len(message.position)),
        _doubles(data, at['velocity'], len(message.velocity)),
        _doubles(data, at['effort'], len(message.effort)),
    )


def _odometry(offsets: dict[str, int], message: Any, data: bytes) -> Odometry:
    at = offsets['pose.pose.position.x']
    p, v = _pose(data, at), _twist(data, at + 344)
    return Odometry(
        _header(message, data),
        message.child_frame_id,
        PoseWithCovariance(Pose(Vector(*p[:3]), Quaternion(*p[3:])), _doubles(data, at + 56, 36)),
        TwistWithCovariance(Twist(Vector(*v[:3]), Vector(*v[3:])), _doubles(data, at + 392, 36)),
    )


def _imu(offsets: dict[str, int], message: Any, data: bytes) -> Imu:
    at = offsets['orientation.x']
    return Imu(
        _header(message, data),
        Quaternion(*_rotation(data, at)),
        _doubles(data, at + 32, 9),
        Vector(*_vector(data, at + 104)),
        _doubles(data, at + 128, 9),
        Vector(*_vector(data, at + 200)),
        _doubles(data, at + 224, 9),
    )


VIEWS: dict[str, Callable[[dict[str, int], Any, bytes], Any]] = {
    'sensor_msgs/msg/JointState': _joint_state,
    'nav_msgs/msg/Odometry': _odometry,
    'sensor_msgs/msg/Imu': _imu,
}
"""How to read the bytes of a type, with the offsets of its `Layout`."""


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
        self._layout: Layout | None = None
        self._message: Any = None
        self._fixed = 0

    def read(self, data: bytes) -> Any:
        """Return a message, or what has the same attributes; nobody may write to it."""
        layout = self._layout
        if layout and len(data) == layout.size and layout.fixed(data) == self._fixed:
            return self._view(layout.at, self._message, data)
        message = self._decode(data)
        layout = Layout(message, self._field_types)
        is_known = data[:4] == LITTLE_ENDIAN and len(data) == layout.size
        self._layout, self._message = layout if is_known else None, message
        self._fixed = layout.fixed(data)
        return message
