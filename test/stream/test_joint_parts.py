# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from support.close import assert_close
from support.messages import SECOND, joint_state, odometry
from support.taking import dropped, take

from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.joint_parts import JointParts
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.stamps import nanoseconds
from geolin_ros.stream.linearization_stream import LinearizationStream

T0 = 100 * SECOND
MS = 1_000_000


@pytest.fixture
def halves(quadruped):
    """The joints of two publishers; each has one that is none of the robot's."""
    names = quadruped.joint_names
    return ['lidar', *names[7:]], [*names[:7][::-1], 'gripper']


@pytest.fixture
def parts(quadruped):
    return JointParts(quadruped, max_skew=0.05)


def part(names, milliseconds, **changes):
    rng = np.random.default_rng(milliseconds)
    message = joint_state(T0 + milliseconds * MS, names, *rng.uniform(-1.0, 1.0, (3, len(names))))
    for field, value in changes.items():
        setattr(message, field, value)
    return message


def of(message, field, name):
    return getattr(message, field)[message.name.index(name)]


def test_whole__has_all_parts_at_the_newest_stamp(quadruped, parts, halves):
    first, second = part(halves[0], 0), part(halves[1], 8)
    assert parts.merge(first) is None
    whole = parts.merge(second)
    assert nanoseconds(whole.header.stamp) == T0 + 8 * MS
    assert whole.name == list(quadruped.joint_names)
    for c, name in enumerate(quadruped.joint_names):
        source, late = (first, 0.008) if name in first.name else (second, 0.0)
        assert whole.velocity[c] == of(source, 'velocity', name)
        assert whole.effort[c] == of(source, 'effort', name)
        carried = of(source, 'position', name) + late * of(source, 'velocity', name)
        assert whole.position[c] == pytest.approx(carried, abs=1e-15)


def test_same_stamps__make_one_whole_each(parts, halves):
    wholes = [parts.merge(part(half, 10 * k)) for k in range(5) for half in halves]
    assert [whole is not None for whole in wholes] == [False, True] * 5


def test_fast_publisher__waits_for_the_slow_one(parts, halves):
    stamps = []
    for t in range(1, 101):
        for half in halves[: 1 + (t % 20 == 0)]:
            whole = parts.merge(part(half, t))
            if whole is not None:
                stamps.append((nanoseconds(whole.header.stamp) - T0) // MS)
    assert stamps == [20, 40, 60, 80, 100]


def test_joint_that_does_not_come__is_named(parts, halves, quadruped):
    for t in (0, 50):
        assert parts.merge(part(halves[0], t)) is None
    with pytest.raises(DroppedInput, match=r'has not come for 0.0510 s') as drop:
        parts.merge(part(halves[0], 51))
    assert drop.value.cause is Cause.MISSING_JOINT
    assert repr(quadruped.joint_names[0]) in str(drop.value)
    assert parts.merge(part(halves[1], 52)) is not None


def test_publisher_that_ends__is_named(parts, halves):
    for half in halves:
        parts.merge(part(half, 0))
    parts.merge(part(halves[1], 10))
    with pytest.raises(DroppedInput, match=r'has not come for 0.0600 s'):
        parts.merge(part(halves[1], 60))


def test_fields_that_a_part_leaves_out__are_missing(parts, halves):
    parts.merge(part(halves[0], 0, effort=np.zeros(0)))
    whole = parts.merge(part(halves[1], 0))
    assert np.isnan(whole.effort).sum() == 5
    parts.merge(part(halves[0], 1, effort=np.zeros(0)))
    whole = parts.merge(part(halves[1], 1, effort=np.zeros(0)))
    assert whole.effort.size == 0


def test_wrong_length__is_refused(parts, halves):
    with dropped(Cause.LENGTH, '4 entries in velocity, expected 6'):
        parts.merge(part(halves[0], 0, velocity=np.zeros(4)))


def test_stamps_of_a_publisher__must_increase(parts, halves):
    parts.merge(part(halves[0], 10))
    assert parts.merge(part(halves[1], 5)) is not None  # another publisher may be late
    with dropped(Cause.BACKWARDS, 'expected a later stamp'):
        parts.merge(part(halves[0], 10))


def test_clock_that_was_set_back__starts_anew(parts, halves):
    parts.merge(part(halves[0], 5000))
    assert parts.merge(part(halves[0], 0)) is None
    assert nanoseconds(parts.merge(part(halves[1], 1)).header.stamp) == T0 + MS


def test_strangers__are_ignored(parts):
    assert parts.merge(part(['lidar'], 0)) is None


def test_stream__answers_whole_joint_states(quadruped, halves):
    stream = LinearizationStream(quadruped, StreamSettings(joint_states_in_parts=True))
    take(stream, 'odom', odometry(T0, np.zeros(3), (0, 0, 0, 1), np.ones(6)))
    first, second = (part(half, 2) for half in halves)
    assert take(stream, 'joint_states', first) is None
    answer = take(stream, 'joint_states', second)
    assert answer.stamp == T0 + 2 * MS
    names = first.name + second.name
    order = [names.index(name) for name in quadruped.joint_names]
    for values, field in ((answer.state.s, 'position'), (answer.tau, 'effort')):
        both = np.concatenate((getattr(first, field), getattr(second, field)))
        assert_close(values, both[order], 1e-15)
    counts = stream.counts
    assert (counts.received, counts.parts, counts.answered, counts.dropped) == (2, 1, 1, 0)


def test_stream__says_how_to_merge_parts(quadruped, halves):
    stream = LinearizationStream(quadruped, StreamSettings())
    take(stream, 'odom', odometry(T0, np.zeros(3), (0, 0, 0, 1), np.ones(6)))
    with pytest.raises(DroppedInput, match='or set joint_states_in_parts'):
        take(stream, 'joint_states', part(halves[0], 0))
