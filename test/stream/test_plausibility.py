# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated flight raises no warning; each way to spoil it raises its own."""

import numpy as np
import pytest
from geolin_demos.demo.flight import Flight
from support.messages import SECOND, odometry

from geolin_ros import TreeModel, robots
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.spatial.se3 import quaternion_from_rotation
from geolin_ros.stream.inputs.plausibility import Window, findings

PERIOD, SAMPLES = 0.002, 250


@pytest.fixture(scope='module')
def model():
    return TreeModel.from_urdf(robots.path('quadruped'))


@pytest.fixture(scope='module')
def flight(model):
    """Half a second of a tumbling robot, as the stream sees it."""
    source, linearizer = Flight(model), Linearizer(model)
    source.advance(0.2)
    rows = []
    for _ in range(SAMPLES):
        state = source.state
        nu_dot = linearizer.forward_dynamics(state, source.tau).copy()
        rows.append([
            [source.time], state.H.copy(), state.v.copy(), state.s.copy(), state.r.copy(),
            source.tau.copy(), nu_dot, [0.0],
        ])  # fmt: skip
        source.advance(PERIOD)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    columns[0], columns[-1] = columns[0][:, 0], columns[-1][:, 0]
    return Window(*columns)


def warned(window, model, twist_frame='child', max_skew=0.05):
    """Return the sentences about a window, with odometry messages of its poses and twists."""
    if not window.odometry:
        twists = window.twists
        window = window._replace(odometry=messages_of(window, window.poses, twists))
    return [warning.sentence for warning in findings(window, model, twist_frame, max_skew)]


def messages_of(window, poses, twists):
    return [
        odometry(round(time * SECOND), H[:3, 3], quaternion_from_rotation(H[:3, :3]), v)
        for time, H, v in zip(window.times, poses, twists, strict=True)
    ]


def in_axes(window, turn):
    """Return the twists of a window turned by the rotations of its poses, as ``turn`` says."""
    R = window.poses[:, :3, :3]
    parts = [np.einsum(turn, R, window.twists[:, rows]) for rows in (slice(3), slice(3, 6))]
    return np.concatenate(parts, axis=1)


def test_flight__raises_no_warning(flight, model):
    assert warned(flight, model) == []


def test_noise__of_good_sensors_raises_no_warning(flight, model):
    rng = np.random.default_rng(0)
    poses = flight.poses.copy()
    poses[:, :3, 3] += 1e-4 * rng.standard_normal((SAMPLES, 3))
    twists = flight.twists + 0.02 * rng.standard_normal((SAMPLES, 6))
    assert warned(flight._replace(poses=poses, twists=twists), model) == []


def test_twist_in_world_axes__names_the_setting_that_reads_it(flight, model):
    said = messages_of(flight, flight.poses, in_axes(flight, 'nij,nj->ni'))
    assert warned(flight._replace(odometry=said), model) == [
        'the odometry twist is in world axes, not in child axes: set parameter '
        'odometry.twist_frame to world'
    ]
    assert warned(flight._replace(odometry=said), model, 'world') == []


def test_twist_in_child_axes_read_as_world__names_it_too(flight, model):
    (sentence,) = warned(flight, model, 'world')
    assert 'in child axes, not in world axes' in sentence


def test_twist_of_mixed_axes__is_said(flight, model):
    """Some estimators give the velocity in world axes and the rate of a gyroscope."""
    twists = flight.twists.copy()
    twists[:, :3] = in_axes(flight, 'nij,nj->ni')[:, :3]
    said = messages_of(flight, flight.poses, twists)
    (sentence,) = warned(flight._replace(odometry=said), model)
    assert 'in world axes where it is linear and in child axes where it is angular' in sentence


def test_twist_in_other_units__is_said(flight, model):
    twists = flight.twists.copy()
    twists[:, 3:] *= 180.0 / np.pi
    said = messages_of(flight, flight.poses, twists)
    (sentence,) = warned(flight._replace(odometry=said), model)
    assert sentence.startswith(
        'the angular odometry twist agrees with the motion of the pose in no'
    )
    assert 'check units, frames and delays' in sentence


def test_noise_as_large_as_the_slowest_motion__is_not_judged(flight, model):
    """That of a twist is less than moves at all, and all that moves."""
    slow, rng = flight.poses.copy(), np.random.default_rng(2)
    slow[:] = np.eye(4)
    slow[:, 0, 3] = 0.06 * flight.times
    twists = np.zeros((SAMPLES, 6))
    twists[:, 0] = 0.02
    twists[:, 3:] = 0.01 * rng.standard_normal((SAMPLES, 3))
    said = messages_of(flight, slow, twists)
    assert not any('agrees' in s for s in warned(flight._replace(odometry=said), model))
    twists[:, 0] = 0.0
    said = messages_of(flight, slow, twists)
    assert any('linear odometry' in s for s in warned(flight._replace(odometry=said), model))


def test_frozen_odometry__is_said(flight, model):
    still = np.broadcast_to(flight.poses[0], flight.poses.shape)
    said = messages_of(flight, still, flight.twists)
    (sentence,) = warned(flight._replace(odometry=said), model)
    assert f'the odometry pose stays the same in {SAMPLES} messages' in sentence


def test_robot_that_is_held_up__is_said_to_lack_contacts(flight, model):
    still = flight._replace(
        poses=np.broadcast_to(np.eye(4), flight.poses.shape),
        twists=np.zeros_like(flight.twists),
        accelerations=np.zeros_like(flight.accelerations) + np.eye(18)[2] * -9.81,
    )
    (sentence,) = [s for s in warned(still, model) if 'accelerate' in s]
    assert '9.8 m/s^2 and does so at 0 m/s^2' in sentence
    assert 'give contacts or foot forces' in sentence


def test_frozen_joint__is_named(flight, model):
    positions = flight.positions.copy()
    positions[:, 4] = positions[0, 4]
    (sentence,) = warned(flight._replace(positions=positions), model)
    assert sentence.startswith(f'joint {model.joint_names[4]!r} stays at')


def test_frozen_joint_states__are_said(flight, model):
    frozen = flight._replace(
        positions=np.broadcast_to(flight.positions[0], flight.positions.shape),
        rates=np.zeros_like(flight.rates),
    )
    assert any('their publisher is frozen' in sentence for sentence in warned(frozen, model))


def test_value_beyond_its_limit__is_the_one_said(flight, model):
    """Not the largest: the limits of a knee are both on one side."""
    joint = model.joint_names.index('FL_calf_joint')
    lower, upper = model.limits.lower[joint], model.limits.upper[joint]
    assert lower < upper < 0.0
    positions = flight.positions.copy()
    positions[:, joint] = np.where(np.arange(SAMPLES) % 2, 0.9 * lower, 0.5 * upper)
    (sentence,) = [
        warning
        for warning in warned(flight._replace(positions=positions), model)
        if 'limits' in warning
    ]
    assert f'has position {0.5 * upper:.4g}, outside {lower:.4g} to {upper:.4g}' in sentence


@pytest.mark.parametrize(
    ('part', 'value', 'text'),
    [
        ('positions', 10.0, 'position 10'),
        ('rates', 1e3, 'rate 1000/s'),
        ('efforts', -1e3, 'effort -1000'),
    ],
)
def test_joint_beyond_limits__is_named(flight, model, part, value, text):
    values = getattr(flight, part).copy()
    values[100, 3] = value
    found = warned(flight._replace(**{part: values}), model)
    assert any(s.startswith(f'joint {model.joint_names[3]!r} has {text}') for s in found)


def test_lasting_skew__is_said(flight, model):
    late = flight._replace(ages=np.full(SAMPLES, 0.03))
    (sentence,) = warned(late, model, max_skew=0.05)
    assert '+30.0 ms away from their odometry' in sentence
    assert warned(late, model, max_skew=0.1) == []


def test_short_window__is_not_judged(flight, model):
    short = Window(*(part[:10] for part in flight))
    assert warned(short._replace(ages=np.full(10, 1.0)), model) == []
