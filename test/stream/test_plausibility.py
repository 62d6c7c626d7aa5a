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


def twisted(window, twists, poses=None):
    """Return a window whose odometry has other twists, and other poses if given."""
    poses = window.poses if poses is None else poses
    return window._replace(odometry=messages_of(window, poses, twists))


def in_world_axes(window, model):
    return twisted(window, in_axes(window, 'nij,nj->ni'))


def in_mixed_axes(window, model):
    """Some estimators give the velocity in world axes and the rate of a gyroscope."""
    return twisted(window, np.hstack((in_axes(window, 'nij,nj->ni')[:, :3], window.twists[:, 3:])))


def in_degrees(window, model):
    return twisted(window, window.twists * np.repeat((1.0, 180.0 / np.pi), 3))


def frozen_pose(window, model):
    still = np.broadcast_to(window.poses[0], window.poses.shape)
    return twisted(window, window.twists, still)


def held_up(window, model):
    return window._replace(
        poses=np.broadcast_to(np.eye(4), window.poses.shape),
        twists=np.zeros_like(window.twists),
        accelerations=np.zeros_like(window.accelerations) + np.eye(18)[2] * -9.81,
    )


def frozen_joint(window, model):
    positions = window.positions.copy()
    positions[:, 3] = positions[0, 3]
    return window._replace(positions=positions)


def frozen_joints(window, model):
    still = np.broadcast_to(window.positions[0], window.positions.shape)
    return window._replace(positions=still, rates=np.zeros_like(window.rates))


def knee_beyond(window, model):
    """Not by the largest value: the limits of a knee are both on one side."""
    lower, upper = model.limits.lower[2], model.limits.upper[2]
    assert lower < upper < 0.0
    positions = window.positions.copy()
    positions[:, 2] = np.where(np.arange(SAMPLES) % 2, 0.9 * lower, 0.5 * upper)
    return window._replace(positions=positions)


def beyond(part, value):
    def spoil(window, model):
        values = getattr(window, part).copy()
        values[100, 3] = value
        return window._replace(**{part: values})

    return spoil


def late(window, model):
    return window._replace(ages=np.full(SAMPLES, 0.03))


SPOILT = {
    'world axes': (in_world_axes, 'in world axes, not in child axes: set', 'twist_frame to world'),
    'mixed axes': (in_mixed_axes, 'in world axes where it is linear and in child axes where it'),
    'degrees': (in_degrees, 'the angular odometry twist agrees', 'no', 'check units, frames'),
    'frozen pose': (frozen_pose, f'the odometry pose stays the same in {SAMPLES} messages'),
    'held up': (held_up, '9.8 m/s^2 and does so at 0 m/s^2', 'give contacts or foot forces'),
    'frozen joint': (frozen_joint, "joint 'FR_hip_joint' stays at"),
    'frozen joints': (frozen_joints, 'their publisher is frozen'),
    'knee': (knee_beyond, "'FL_calf_joint' has position -0.3, outside -2.7 to -0.6"),
    **{
        f'{part} {value:g}': (beyond(part, value), f"joint 'FR_hip_joint' has {words}")
        for part, value, words in (
            ('positions', 10.0, 'position 10'),
            ('positions', -10.0, 'position -10'),
            ('rates', 1e3, 'rate 1000/s'),
            ('rates', -1e3, 'rate -1000/s'),
            ('efforts', 1e3, 'effort 1000'),
            ('efforts', -1e3, 'effort -1000'),
        )
    },
    'late': (late, '+30.0 ms away from their odometry'),
}
ALONE = 'world axes', 'mixed axes', 'degrees', 'frozen pose', 'frozen joint', 'late'
"""What is inconsistent in no other way."""


@pytest.mark.parametrize('what', SPOILT)
def test_spoilt_flight__raises_the_warning_about_it(flight, model, what):
    spoil, *fragments = SPOILT[what]
    said = warned(spoil(flight, model), model)
    (sentence,) = [sentence for sentence in said if fragments[0] in sentence]
    assert all(fragment in sentence for fragment in fragments)
    assert len(said) == 1 or what not in ALONE, said


def test_settings__that_allow_it_raise_no_warning(flight, model):
    assert warned(in_world_axes(flight, model), model, 'world') == []
    assert warned(late(flight, model), model, max_skew=0.1) == []
    (sentence,) = warned(flight, model, 'world')
    assert 'in child axes, not in world axes' in sentence


def test_noise_as_large_as_the_slowest_motion__is_not_judged(flight, model):
    """That of a twist is less than moves at all, and all that moves."""
    slow, rng = np.tile(np.eye(4), (SAMPLES, 1, 1)), np.random.default_rng(2)
    slow[:, 0, 3] = 0.06 * flight.times
    twists = np.zeros((SAMPLES, 6))
    twists[:, 0] = 0.02
    twists[:, 3:] = 0.01 * rng.standard_normal((SAMPLES, 3))
    assert not any('agrees' in s for s in warned(twisted(flight, twists, slow), model))
    twists[:, 0] = 0.0
    assert any('linear odometry' in s for s in warned(twisted(flight, twists, slow), model))


def test_short_window__is_not_judged(flight, model):
    short = Window(*(part[:10] for part in flight))
    assert warned(short._replace(ages=np.full(10, 1.0)), model) == []
