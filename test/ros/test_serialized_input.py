# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inputs read from their bytes are what rclpy makes of them."""

import math

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from geolin_ros.ros.topics import input_reader, name_of, type_of
from geolin_ros.stream.inputs.serialized import VIEWS, layout

MESSAGES = 500
SPECIAL = (math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324)


def numbers(rng, size):
    values = rng.normal(size=size) * 10.0 ** rng.integers(-300, 300, size)
    return np.where(rng.random(size) < 0.05, rng.choice(SPECIAL, size), values).tolist()


def text(rng):
    return ''.join(rng.choice([*'ab_/é→'], rng.integers(0, 9)))


def fill_numbers(message, rng):
    for name, kind in message.get_fields_and_field_types().items():
        value = getattr(message, name)
        if kind == 'double':
            setattr(message, name, numbers(rng, 1)[0])
        elif 'double' in kind:
            setattr(message, name, np.array(numbers(rng, len(value))))
        elif kind == 'int32':
            setattr(message, name, int(rng.integers(-(2**31), 2**31)))
        elif kind == 'uint32':
            setattr(message, name, int(rng.integers(2**32)))
        elif '/' in kind:
            fill_numbers(value, rng)


def assert_same(message, view):
    for name, kind in message.get_fields_and_field_types().items():
        expected, found = getattr(message, name), getattr(view, name)
        if '/' in kind:
            assert_same(expected, found)
        elif 'double' in kind:
            assert np.asarray(expected).tobytes() == np.asarray(found, np.float64).tobytes(), name
        else:
            assert expected == found, name


def fill_rest(message, rng):
    """Texts and lengths."""
    message.header.frame_id = text(rng)
    if isinstance(message, Odometry):
        message.child_frame_id = text(rng)
    if isinstance(message, JointState):
        message.name = [text(rng) for _ in range(rng.integers(0, 5))]
        for field in ('position', 'velocity', 'effort'):
            setattr(message, field, [0.0] * int(rng.integers(0, 5)))


@pytest.mark.parametrize('kind', [type_of(name) for name in VIEWS])
def test_view__has_what_rclpy_reads(kind):
    rng, reader, views = np.random.default_rng(0), input_reader(kind), 0
    message = kind()
    for k in range(MESSAGES):
        if rng.random() < 0.1:
            fill_rest(message, rng)
        fill_numbers(message, rng)
        data = sent(message)
        for nothing in (b'', data[:3], data[:20]) if k % 100 == 0 else ():
            with pytest.raises(RuntimeError):
                reader.read(nothing)
        found = reader.read(data)
        views += not isinstance(found, kind)
        assert_same(deserialize_message(data, kind), found)
    assert views > 0.8 * MESSAGES


def sent(message):
    """Return the bytes as they arrive: rclpy serializes into more room than is needed."""
    return serialize_message(message)[: len(layout(name_of(type(message)), message)[0])]


def test_bytes_that_mean_nothing__may_differ():
    """Senders leave between names what was there."""
    data = bytearray(sent(JointState(name=['abc', 'b'], position=[1.0, 2.0])))
    reader = input_reader(JointState)
    reader.read(bytes(data))
    gap = data.index(b'b\x00') + 2  # its length counts the zero
    data[gap] ^= 0xFF
    view = reader.read(bytes(data))
    assert not isinstance(view, JointState)
    assert_same(deserialize_message(bytes(data), JointState), view)
