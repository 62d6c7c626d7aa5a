# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The message types that bags are read and written with, those of geolin_msgs among them."""

import functools
from array import array
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

JOINT_STATE = 'sensor_msgs/msg/JointState'
ODOMETRY = 'nav_msgs/msg/Odometry'
TRANSFORMS = 'tf2_msgs/msg/TFMessage'
IMU = 'sensor_msgs/msg/Imu'
STRING = 'std_msgs/msg/String'
WRENCH = 'geometry_msgs/msg/WrenchStamped'
CONTACT = 'geolin_msgs/msg/ContactState'
CONTACT_STATES = 'geolin_msgs/msg/ContactStates'
CLOCK = 'rosgraph_msgs/msg/Clock'
LINEARIZATION = 'geolin_msgs/msg/LinearizedDynamics'
FORWARD_DYNAMICS = 'geolin_msgs/msg/ForwardDynamics'
SUMMARY = 'geolin_msgs/msg/LinearizationSummary'

_DEFINITIONS = Path(__file__).parent / 'msg'
_QUATERNION = 'geometry_msgs/msg/Quaternion'
_ZEROS = {'bool': False, 'string': '', 'float32': 0.0, 'float64': 0.0}


@functools.cache
def known_types() -> Typestore:
    """Return the common types of ROS 2, equal from Humble to Lyrical, and those of geolin_msgs."""
    store = get_typestore(Stores.ROS2_KILTED)
    own: dict[str, Any] = {}
    for file in sorted(_DEFINITIONS.glob('*.msg')):
        own |= get_types_from_msg(file.read_text(), f'geolin_msgs/msg/{file.stem}')
    store.register(own)
    return store


def empty_message(name: str) -> Any:
    """Return a message of type ``name`` as ROS makes it: zeros, empty texts and lists, no turn."""
    store = known_types()
    _, members = store.fielddefs[name]
    message: Any = store.types[name](
        **{field: _empty(description) for field, description in members}
    )
    if name == _QUATERNION:
        message.w = 1.0  # the only default among these types, which rosbags does not keep
    return message


def _empty(description: Any) -> Any:
    node, inner = description
    if node == Nodetype.NAME:
        return empty_message(inner)
    if node == Nodetype.BASE:
        return _ZEROS.get(inner[0], 0)
    (element, of), length = inner
    if element == Nodetype.BASE and of[0] != 'string':
        return np.zeros(length if node == Nodetype.ARRAY else 0, dtype=of[0])
    return [_empty((element, of)) for _ in range(length if node == Nodetype.ARRAY else 0)]


def share_arrays(message: Any) -> Any:
    """Put NumPy views in the place of ``array.array`` fields, and return the message.

    The writers of `geolin_ros.stream.outputs.messages` allocate the one, rosbags serializes the
    other.
    """
    for field in fields(message):
        value = getattr(message, field.name)
        if isinstance(value, array):
            setattr(message, field.name, np.frombuffer(value, dtype=value.typecode))
        elif is_dataclass(value):
            share_arrays(value)
    return message
