# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from support.messages import joint_state
from support.taking import dropped

from geolin_ros import Description, Joint, Link, TreeModel, robots
from geolin_ros.errors import UnsupportedJointError
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.joint_input import JointInput

NAMES = list(TreeModel.from_urdf(robots.path('quadruped')).joint_names)
FIFTH = np.arange(12) == 4


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


def test_message_after_a_missing_joint__is_read_as_if_nothing_had_happened(reader, quadruped):
    good, bad = numbered(quadruped.joint_names), numbered(quadruped.joint_names[1:])
    first = read(reader, quadruped, good)
    for _ in range(2):  # the second time, the bad order must not be taken for a known one
        with pytest.raises(DroppedInput, match='no joint'):
            read(reader, quadruped, bad)
    np.testing.assert_array_equal(read(reader, quadruped, good), first)


def test_stranger_that_is_named_twice__does_not_matter(reader, quadruped):
    first = read(reader, quadruped, numbered(NAMES))
    found = read(reader, quadruped, numbered([*NAMES, 'tail', 'tail']))
    np.testing.assert_array_equal(found, first)


LENGTH = '{} entries in velocity, expected 12'
NAN = "'FR_thigh_joint' has velocity"
REFUSED = {
    'missing': ({'name': NAMES[1:]}, Cause.MISSING_JOINT, "'FL_hip_joint' of .*'FL_thigh_joint'"),
    'twice': ({'name': [*NAMES, NAMES[0]]}, Cause.JOINT_TWICE, "joint 'FL_hip_joint' 2 times"),
    'none': ({'velocity': []}, Cause.MISSING_VELOCITY, LENGTH.format(0)),
    'short': ({'velocity': np.zeros(11)}, Cause.LENGTH, LENGTH.format(11)),
    'long': ({'velocity': np.zeros(13)}, Cause.LENGTH, LENGTH.format(13)),
    'nan': ({'velocity': np.where(FIFTH, np.nan, 1.0)}, Cause.NOT_FINITE, NAN),
    'inf': ({'velocity': np.where(FIFTH, np.inf, 1.0)}, Cause.NOT_FINITE, NAN),
    'less than all': ({'velocity': np.where(FIFTH, -np.inf, 1.0)}, Cause.NOT_FINITE, NAN),
    'inf that cancels': ({'velocity': np.inf * (-1.0) ** np.arange(12)}, Cause.NOT_FINITE, 'inf'),
}


@pytest.mark.parametrize('what', REFUSED)
def test_joint_state_that_cannot_be_used__is_dropped_by_its_cause(reader, quadruped, what):
    changes, cause, words = REFUSED[what]
    message = numbered(changes.get('name', NAMES))
    vars(message).update(changes)
    with dropped(cause, words):
        read(reader, quadruped, message, 'velocity')


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
