# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from support.messages import joint_state
from support.taking import dropped

from geolin_ros import Description, Joint, Link, TreeModel
from geolin_ros.errors import UnsupportedJointError
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.joint_input import JointInput


@pytest.fixture
def reader(quadruped):
    return JointInput(quadruped)


def numbered(names):
    """Return a joint state whose numbers tell joint and field."""
    k = np.arange(len(names), dtype=float)
    return joint_state(0, names, k, 100 + k, 200 + k)


def read(reader, model, message, field='position'):
    out = np.full(model.n, np.nan)
    reader.read(message, field, out, Cause.MISSING_VELOCITY)
    return out


def test_values__go_where_their_names_say(reader, quadruped):
    rng = np.random.default_rng(0)
    for extra in (0, 3):
        names = [*quadruped.joint_names, *(f'gripper{i}' for i in range(extra))]
        shuffled = [names[i] for i in rng.permutation(len(names))]
        for field, first in (('position', 0), ('velocity', 100), ('effort', 200)):
            expected = [first + shuffled.index(name) for name in quadruped.joint_names]
            found = read(reader, quadruped, numbered(shuffled), field)
            np.testing.assert_array_equal(found, expected)


def test_order_of_names__may_change_from_one_message_to_the_next(reader, quadruped):
    names = list(quadruped.joint_names)
    for order in (names, names[::-1], names):
        found = read(reader, quadruped, numbered(order))
        assert found[0] == order.index(names[0])


@pytest.mark.parametrize('kind', [list, tuple, np.array])
def test_arrays__may_be_of_any_kind(reader, quadruped, kind):
    message = numbered(quadruped.joint_names)
    message.position = kind(message.position)
    np.testing.assert_array_equal(read(reader, quadruped, message), np.arange(quadruped.n))


def test_missing_joint__is_named_with_those_that_are_there(reader, quadruped):
    with pytest.raises(DroppedInput, match="no joint 'FL_hip_joint' of robot 'quadruped'") as drop:
        read(reader, quadruped, numbered(quadruped.joint_names[1:]))
    assert drop.value.cause is Cause.MISSING_JOINT
    assert "'FL_thigh_joint'" in str(drop.value)


def test_message_after_a_missing_joint__is_read_as_if_nothing_had_happened(reader, quadruped):
    good, bad = numbered(quadruped.joint_names), numbered(quadruped.joint_names[1:])
    first = read(reader, quadruped, good)
    for _ in range(2):  # the second time, the bad order must not be taken for a known one
        with pytest.raises(DroppedInput, match='no joint'):
            read(reader, quadruped, bad)
    np.testing.assert_array_equal(read(reader, quadruped, good), first)


def test_joint_named_twice__is_dropped_and_a_stranger_is_not(reader, quadruped):
    names = list(quadruped.joint_names)
    with dropped(Cause.JOINT_TWICE, "joint 'FL_hip_joint' 2 times"):
        read(reader, quadruped, numbered([*names, names[0]]))
    first = read(reader, quadruped, numbered(names))
    np.testing.assert_array_equal(
        read(reader, quadruped, numbered([*names, 'tail', 'tail'])), first
    )


@pytest.mark.parametrize(
    ('length', 'cause'), [(0, Cause.MISSING_VELOCITY), (11, Cause.LENGTH), (13, Cause.LENGTH)]
)
def test_wrong_length__is_told_from_a_missing_field(reader, quadruped, length, cause):
    message = numbered(quadruped.joint_names)
    message.velocity = np.zeros(length)
    with dropped(cause, f'{length} entries in velocity, expected 12'):
        read(reader, quadruped, message, 'velocity')


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_number_that_is_not_finite__is_dropped_with_its_joint(reader, quadruped, value):
    message = numbered(quadruped.joint_names)
    message.velocity[4] = value
    with dropped(Cause.NOT_FINITE, "'FR_thigh_joint' has velocity"):
        read(reader, quadruped, message, 'velocity')


def test_numbers_that_cancel__do_not_hide_an_infinity(reader, quadruped):
    message = numbered(quadruped.joint_names)
    message.position[2], message.position[7] = np.inf, -np.inf
    with pytest.raises(DroppedInput, match='expected a finite'):
        read(reader, quadruped, message)


def test_large_numbers__are_not_taken_for_infinity(reader, quadruped):
    message = numbered(quadruped.joint_names)
    message.position[:2] = 1e308
    assert read(reader, quadruped, message)[0] == 1e308


def test_nan_of_a_joint_that_is_not_the_robots__does_not_matter(reader, quadruped):
    message = numbered([*quadruped.joint_names, 'gripper'])
    message.position[-1] = np.nan
    assert np.all(np.isfinite(read(reader, quadruped, message)))


def test_joints_that_no_joint_state_holds__are_refused():
    links = tuple(Link.from_mass(name, 1.0, np.zeros(3), np.eye(3)) for name in 'ab')
    ball = Description('ball', links, (Joint('hip', 'spherical', 'a', 'b'),))
    with pytest.raises(UnsupportedJointError, match='hip/qw, hip/qx, hip/qy, hip/qz'):
        JointInput(TreeModel.from_description(ball))
