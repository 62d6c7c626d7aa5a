# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inputs that cannot be: consecutive samples, from messages to warnings.

A simulated flight raises no warning, whatever is lost of it; each way to spoil it raises its own.
"""

import re

import numpy as np
import pytest
from geolin_demos.demo.flight import Flight
from support.messages import SECOND, joint_state, odometry
from support.taking import take

from geolin_ros.spatial.se3 import quaternion_from_rotation
from geolin_ros.stream.inputs.plausibility import Window, findings
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import LinearizationStream

PERIOD = 2_000_000


def odometry_of(stamp, H, v):
    return odometry(stamp, H[:3, 3], quaternion_from_rotation(H[:3, :3]), v)


class Robot:
    """A flight as messages, of which some may be lost or late."""

    def __init__(self, model, late=0, kept=1.0, period=PERIOD, **settings):
        self.stream = LinearizationStream(model, StreamSettings(**settings))
        self.flight, self.stamp, self.rng = Flight(model), 10 * SECOND, np.random.default_rng(1)
        self.flight.advance(0.2)
        self.late, self.kept, self.period = late, kept, period

    def step(self):
        """Send odometry and joint state; return the answer."""
        model, state = self.stream.model, self.flight.state
        take(self.stream, 'odom', odometry_of(self.stamp - self.late, state.H, state.v))
        joints = joint_state(self.stamp, model.joint_names, state.s, state.r, self.flight.tau)
        answer = take(self.stream, 'joint_states', joints)
        passed = self.period * int(self.rng.geometric(self.kept))
        self.flight.advance(passed * 1e-9)
        self.stamp += passed
        return answer

    def window(self):
        """Open the watch, run until it is full, and return what it holds."""
        watch = self.stream.watch
        watch.open()
        while watch.is_open:
            self.step()
        return watch.take()

    def warnings(self):
        """Return the sentences about one window."""
        settings, model = self.stream.settings, self.stream.model
        return warned(self.window(), model, settings.twist_frame, settings.max_skew)


def warned(window, model, twist_frame='child', max_skew=0.05):
    """Return the sentences about a window."""
    return list(findings(window, model, twist_frame, max_skew).values())


# ---- What a stream keeps to be judged


def test_window__holds_what_was_answered(quadruped):
    robot = Robot(quadruped, late=1_000_000)
    robot.step()  # not asked for yet
    robot.stream.watch.open()
    answer = robot.step()
    first = answer.point.state.copy(), answer.point.tau.copy(), answer.nu_dot.copy()
    while robot.stream.watch.is_open:
        answer = robot.step()
    window = robot.stream.watch.take()
    assert len(window.times) == len(window.odometry) == 301
    assert window.times[-1] == pytest.approx(0.6)
    np.testing.assert_array_equal(window.poses[0], first[0].H)
    np.testing.assert_array_equal(window.positions[0], first[0].s)
    np.testing.assert_array_equal(window.twists[0], first[0].v)
    np.testing.assert_array_equal(window.efforts[0], first[1])
    np.testing.assert_array_equal(window.accelerations[0], first[2])
    np.testing.assert_array_equal(window.rates[-1], answer.point.state.r)
    np.testing.assert_allclose(window.ages, 1e-3)
    assert robot.stream.watch.take() is None
    robot.step()
    assert robot.stream.watch.take() is None


def test_gap__begins_anew(quadruped):
    robot = Robot(quadruped)
    robot.stream.watch.open()
    for _ in range(20):
        robot.step()
    robot.stamp += SECOND
    assert np.diff(robot.window().times).max() < 0.01


def test_fast_joint_states__are_thinned(quadruped):
    assert 200 < len(Robot(quadruped, period=500_000).window().times) < 400


def test_given_accelerations__are_not_compared(quadruped):
    robot = Robot(quadruped, nu_dot='zero')
    window = robot.window()
    assert window.accelerations.shape[1] == 0
    assert warned(window, quadruped) == []


def test_wrong_gravity__is_said(quadruped):
    """A robot that floats, and is predicted to fall."""
    robot = Robot(quadruped)
    robot.flight = Flight(quadruped.with_gravity((0.0, 0.0, 0.0)))
    assert any('is predicted to accelerate at' in s for s in robot.warnings())


@pytest.mark.parametrize('kept', [1.0, 0.5, 0.1])
def test_throws_and_lost_messages__raise_no_warning(quadruped, kept):
    """The simulated robot is thrown up anew every 1.5 s: its velocity jumps."""
    robot = Robot(quadruped, kept=kept)
    for _ in range(3):
        assert robot.warnings() == []
    assert robot.flight.time > 1.5


# ---- Each way to spoil it


@pytest.fixture(scope='module')
def flight(quadruped):
    """More than half a second of a tumbling robot, as the stream sees it."""
    return Robot(quadruped).window()


def told(window, poses=None, twists=None):
    """Return a window whose odometry has other poses and twists, where given."""
    poses = window.poses if poses is None else poses
    twists = window.twists if twists is None else twists
    stamps = (round(time * SECOND) for time in window.times)
    return window._replace(odometry=list(map(odometry_of, stamps, poses, twists)))


def in_world_axes(window):
    R, v = window.poses[:, :3, :3], window.twists.reshape(-1, 2, 3)
    return np.einsum('nij,nkj->nki', R, v).reshape(-1, 6)


def in_mixed_axes(window):
    """Some estimators give the velocity in world axes and the rate of a gyroscope."""
    return np.hstack((in_world_axes(window)[:, :3], window.twists[:, 3:]))


def still(values):
    return np.broadcast_to(values[0], values.shape)


def with_column(values, column, numbers):
    values = values.copy()
    values[:, column] = numbers
    return values


def knee_beyond(window):
    """Not by the largest value: the limits of a knee, -2.7 and -0.6, are both on one side."""
    odd = np.arange(len(window.times)) % 2
    return window._replace(positions=with_column(window.positions, 2, np.where(odd, -2.4, -0.3)))


def held_up(window):
    return window._replace(
        poses=np.broadcast_to(np.eye(4), window.poses.shape),
        twists=np.zeros_like(window.twists),
        accelerations=np.zeros_like(window.accelerations) + np.eye(18)[2] * -9.81,
    )


def beyond(part, value):
    def spoil(window):
        values = getattr(window, part).copy()
        values[100, 3] = value
        return window._replace(**{part: values})

    return spoil


DEGREES = np.repeat((1.0, 180.0 / np.pi), 3)
SPOILT = {
    'world axes': (
        lambda w: told(w, twists=in_world_axes(w)),
        'in world axes, not in child axes: set .*twist_frame to world',
    ),
    'mixed axes': (
        lambda w: told(w, twists=in_mixed_axes(w)),
        'in world axes where it is linear and in child axes where it',
    ),
    'degrees': (
        lambda w: told(w, twists=w.twists * DEGREES),
        'the angular odometry twist agrees .*no.*check units, frames',
    ),
    'frozen pose': (
        lambda w: told(w, poses=still(w.poses)),
        'pose stays the same in 301 messages',
    ),
    'held up': (held_up, r'9.8 m/s\^2 and does so at 0 m/s\^2.*give contacts or foot forces'),
    'frozen joint': (
        lambda w: w._replace(positions=with_column(w.positions, 3, w.positions[0, 3])),
        "joint 'FR_hip_joint' stays at",
    ),
    'frozen joints': (
        lambda w: w._replace(positions=still(w.positions), rates=np.zeros_like(w.rates)),
        'their publisher is frozen',
    ),
    'knee': (knee_beyond, "'FL_calf_joint' has position -0.3, outside -2.7 to -0.6"),
    'late': (
        lambda w: w._replace(ages=np.full(len(w.times), 0.03)),
        r'\+30.0 ms away from their odometry',
    ),
    **{
        f'{part}s {sign}': (beyond(f'{part}s', sign * size), f"'FR_hip_joint' has {part} {words}")
        for sign, minus in ((1, ''), (-1, '-'))
        for part, size, words in (
            ('position', 10.0, f'{minus}10'),
            ('rate', 1e3, f'{minus}1000/s'),
            ('effort', 1e3, f'{minus}1000'),
        )
    },
}
ALONE = 'world axes', 'mixed axes', 'degrees', 'frozen pose', 'frozen joint', 'late'
"""What is inconsistent in no other way."""


@pytest.mark.parametrize('what', SPOILT)
def test_spoilt_flight__raises_the_warning_about_it(flight, quadruped, what):
    spoil, says = SPOILT[what]
    said = warned(spoil(flight), quadruped)
    assert len([sentence for sentence in said if re.search(says, sentence)]) == 1
    assert len(said) == 1 or what not in ALONE, said


def test_settings__that_allow_it_raise_no_warning(flight, quadruped):
    assert warned(told(flight, twists=in_world_axes(flight)), quadruped, 'world') == []
    assert warned(SPOILT['late'][0](flight), quadruped, max_skew=0.1) == []
    (sentence,) = warned(flight, quadruped, 'world')
    assert 'in child axes, not in world axes' in sentence


def test_noise__of_good_sensors_raises_no_warning(flight, quadruped):
    rng, poses = np.random.default_rng(0), flight.poses.copy()
    poses[:, :3, 3] += 1e-4 * rng.standard_normal((len(poses), 3))
    twists = flight.twists + 0.02 * rng.standard_normal((len(poses), 6))
    noisy = flight._replace(poses=poses, twists=twists)
    assert warned(told(noisy), quadruped) == []


def test_noise_as_large_as_the_slowest_motion__is_not_judged(flight, quadruped):
    """That of a twist is less than moves at all, and all that moves."""
    size, rng = len(flight.times), np.random.default_rng(2)
    slow, twists = np.tile(np.eye(4), (size, 1, 1)), np.zeros((size, 6))
    slow[:, 0, 3] = 0.06 * flight.times
    twists[:, 0] = 0.02
    twists[:, 3:] = 0.01 * rng.standard_normal((size, 3))
    assert not any('agrees' in s for s in warned(told(flight, slow, twists), quadruped))
    twists[:, 0] = 0.0
    assert any('linear odometry' in s for s in warned(told(flight, slow, twists), quadruped))


def test_short_window__is_not_judged(flight, quadruped):
    short = Window(*(part[:10] for part in flight))
    assert warned(short._replace(ages=np.full(10, 1.0)), quadruped) == []
