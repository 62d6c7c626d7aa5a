# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a stream keeps to be judged: consecutive samples, from messages to warnings."""

import numpy as np
import pytest
from geolin_demos.demo.flight import Flight
from support.messages import SECOND, joint_state, odometry
from support.taking import take

from geolin_ros.spatial.se3 import quaternion_from_rotation
from geolin_ros.stream.inputs.plausibility import findings
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import LinearizationStream

PERIOD = 2_000_000


class Robot:
    """A flight as messages, whose odometry may be late."""

    def __init__(self, model, **settings):
        self.stream = LinearizationStream(model, StreamSettings(**settings))
        self.flight, self.stamp = Flight(model), 10 * SECOND
        self.flight.advance(0.2)
        self.delay = 0

    def step(self):
        """Send odometry and joint state; return the answer."""
        model, state = self.stream.model, self.flight.state
        turn = quaternion_from_rotation(state.H[:3, :3])
        stamp = self.stamp - self.delay
        take(self.stream, 'odom', odometry(stamp, state.H[:3, 3], turn, state.v, model.base_link))
        joints = joint_state(self.stamp, model.joint_names, state.s, state.r, self.flight.tau)
        answer = take(self.stream, 'joint_states', joints)
        self.flight.advance(PERIOD * 1e-9)
        self.stamp += PERIOD
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
        settings, window = self.stream.settings, self.window()
        found = findings(window, self.stream.model, settings.twist_frame, settings.max_skew)
        return [warning.sentence for warning in found]


def test_window__holds_what_was_answered(quadruped):
    robot = Robot(quadruped)
    robot.delay = 1_000_000
    robot.step()  # not asked for yet
    robot.stream.watch.open()
    answer = robot.step()
    first = answer.state.copy(), answer.tau.copy(), answer.nu_dot.copy()
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
    np.testing.assert_array_equal(window.rates[-1], answer.state.r)
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
    window = robot.window()
    assert np.diff(window.times).max() < 0.01


def test_fast_joint_states__are_thinned(quadruped, monkeypatch):
    monkeypatch.setitem(globals(), 'PERIOD', 250_000)
    window = Robot(quadruped).window()
    assert 200 < len(window.times) < 400


def test_right_inputs__raise_no_warning(quadruped):
    assert Robot(quadruped).warnings() == []


def test_given_accelerations__are_not_compared(quadruped):
    assert Robot(quadruped, nu_dot='zero').window().accelerations.shape[1] == 0
    assert Robot(quadruped, nu_dot='zero').warnings() == []


def test_wrong_gravity__is_said(quadruped):
    """A robot that floats, and is predicted to fall."""
    robot = Robot(quadruped)
    lighter = quadruped.with_gravity((0.0, 0.0, 0.0))
    robot.flight = Flight(lighter)
    assert any('is predicted to accelerate at' in s for s in robot.warnings())


def test_throw__is_no_warning(quadruped):
    """The simulated robot is thrown up anew every 1.5 s: its velocity jumps."""
    robot, throws = Robot(quadruped), 0
    for _ in range(6):
        before = robot.flight.time // 1.5
        assert robot.warnings() == []
        throws += robot.flight.time // 1.5 > before
    assert throws >= 1


@pytest.mark.parametrize('kept', [0.5, 0.1])
def test_lost_messages__are_no_warning(quadruped, kept):
    """Whatever share of the odometry and joint states arrives."""
    rng = np.random.default_rng(1)
    robot = Robot(quadruped)

    def step():
        lost = int(rng.geometric(kept)) - 1
        robot.flight.advance(PERIOD * 1e-9 * max(lost, 1e-6))
        robot.stamp += PERIOD * lost
        return Robot.step(robot)

    robot.step = step
    for _ in range(4):
        assert robot.warnings() == []
