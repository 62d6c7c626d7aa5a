# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated flight raises no doubt; each way to spoil it raises its own."""

import numpy as np
import pytest

from geolin_ros import TreeModel, robots
from geolin_ros.demo.flight import Flight
from geolin_ros.linearization import Linearizer
from geolin_ros.stream.plausibility import Window, findings

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


def doubts(window, model, twist_frame='child', max_skew=0.05):
    return findings(window, model, twist_frame, max_skew)


def test_flight__raises_no_doubt(flight, model):
    assert doubts(flight, model) == []


def test_noise__of_good_sensors_raises_no_doubt(flight, model):
    rng = np.random.default_rng(0)
    poses = flight.poses.copy()
    poses[:, :3, 3] += 1e-4 * rng.standard_normal((SAMPLES, 3))
    twists = flight.twists + 0.02 * rng.standard_normal((SAMPLES, 6))
    assert doubts(flight._replace(poses=poses, twists=twists), model) == []


def test_twist_in_world_axes__names_the_setting_that_reads_it(flight, model):
    R = flight.poses[:, :3, :3]
    turned = np.concatenate(
        [np.einsum('nij,nj->ni', R, flight.twists[:, part]) for part in (slice(3), slice(3, 6))],
        axis=1,
    )
    found = doubts(flight._replace(twists=turned), model)
    assert any("set odometry.twist_frame to 'world'" in sentence for sentence in found)
    assert sum('twist fits its pose in world axes' in sentence for sentence in found) == 2


def test_twist_in_child_axes_read_as_world__names_it_too(flight, model):
    # what the stream makes of it: it turned the numbers into base axes once more
    R = flight.poses[:, :3, :3]
    turned = np.concatenate(
        [np.einsum('nji,nj->ni', R, flight.twists[:, part]) for part in (slice(3), slice(3, 6))],
        axis=1,
    )
    found = doubts(flight._replace(twists=turned), model, 'world')
    assert any("set odometry.twist_frame to 'child'" in sentence for sentence in found)


def test_twist_in_other_units__is_said(flight, model):
    twists = flight.twists.copy()
    twists[:, 3:] *= 180.0 / np.pi
    (angular,) = [s for s in doubts(flight._replace(twists=twists), model) if 'angular' in s]
    assert 'check frame and units' in angular


def test_robot_that_is_held_up__is_said_to_lack_contacts(flight, model):
    still = flight._replace(
        poses=np.broadcast_to(np.eye(4), flight.poses.shape),
        twists=np.zeros_like(flight.twists),
        accelerations=np.zeros_like(flight.accelerations) + np.eye(18)[2] * -9.81,
    )
    (sentence,) = [s for s in doubts(still, model) if 'accelerate' in s]
    assert '9.8 m/s^2 and does so at 0 m/s^2' in sentence
    assert 'give contacts or foot forces' in sentence


def test_frozen_joint__is_named(flight, model):
    positions = flight.positions.copy()
    positions[:, 4] = positions[0, 4]
    (sentence,) = doubts(flight._replace(positions=positions), model)
    assert sentence.startswith(f'joint {model.joint_names[4]!r} stays at')


def test_frozen_joint_states__are_said(flight, model):
    frozen = flight._replace(
        positions=np.broadcast_to(flight.positions[0], flight.positions.shape),
        rates=np.zeros_like(flight.rates),
    )
    assert any('joint states are frozen' in sentence for sentence in doubts(frozen, model))


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
    found = doubts(flight._replace(**{part: values}), model)
    assert any(s.startswith(f'joint {model.joint_names[3]!r} has {text}') for s in found)


def test_lasting_skew__is_said(flight, model):
    late = flight._replace(ages=np.full(SAMPLES, 0.03))
    (sentence,) = doubts(late, model, max_skew=0.05)
    assert '+30.0 ms away from their odometry' in sentence
    assert doubts(late, model, max_skew=0.1) == []


def test_short_window__is_not_judged(flight, model):
    short = Window(*(part[:10] for part in flight))
    assert doubts(short._replace(ages=np.full(10, 1.0)), model) == []
