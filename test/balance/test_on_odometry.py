# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots that stand on the odometry of the state estimator, without and with sensors at feet."""

from copy import deepcopy

import numpy as np
import pytest
from support.standing import simulator_of

pytest.importorskip('mujoco')
pytest.importorskip('rosbags')

from geolin_demos.balance.baseline import ScheduledLqr
from geolin_demos.balance.cases import stand
from geolin_demos.sim.simulator import push_of, simulate
from geolin_estimation.base_stream import BaseWriter

from benchmarks.simulated_odometry import TRUSTED, Odometry
from geolin_ros.offline.bags import empty_message
from geolin_ros.spatial import se3
from geolin_ros.stream.inputs.plausibility import OdometryCheck
from geolin_ros.stream.message_fields import write_pose, write_twist


class Watched:
    """Odometry, with the truth beside it."""

    def __init__(self, simulator, **options):
        self.odometry, self.simulator = Odometry(simulator, **options), simulator
        self.errors, self.messages, self.poses, self.twists = [], [], [], []
        self.writer = BaseWriter(empty_message, self.odometry.stream)

    def __call__(self, state):
        known = self.odometry(state)
        if self.simulator.time > TRUSTED + 1e-9:
            n = state.r.size
            miss = state.difference(known)
            self.errors.append(np.concatenate((miss[:6], miss[6 + n : 12 + n])))
            estimate = self.odometry.answer.estimate
            self.poses.append(estimate.H)
            self.twists.append(estimate.v)
            written = self.writer.write(self.odometry.answer)
            self.messages.append(deepcopy(written['odometry']))
        return known


def run(robot, motion, push=None, **options):
    simulator = simulator_of(robot)
    simulator.pushes = [] if push is None else [push]
    watched = Watched(simulator, **options)
    law = ScheduledLqr(simulator.model, motion)
    recording = simulate(simulator, law, motion.reference, motion.duration, sensors=watched)
    return recording, watched


@pytest.mark.parametrize(
    ('robot', 'lifted', 'impulse', 'source'),
    [
        ('quadruped', (), 0.06, 'forces'),
        ('humanoid', ('left_foot',), 0.024, 'efforts'),  # then that foot scuffs
    ],
)
def test_pushed_robot__stands_on_its_odometry(robot, lifted, impulse, source):
    simulator = simulator_of(robot)
    push = push_of(impulse, 2.0, 0.5, simulator.model.total_mass)
    recording, watched = run(robot, stand(simulator, 2.0, lifted), push, source=source)
    assert recording.stands
    assert watched.odometry.stream.counts.dropped == 0
    errors = np.abs(watched.errors).max(axis=0)
    height = watched.odometry.answer.estimate.H[2, 3]
    assert abs(height - simulator.state.H[2, 3]) < 0.02, 'height above the ground [m]'
    assert errors[:3].max() < 0.02, 'place [m]'
    assert errors[3:5].max() < 0.03, 'tilt [rad]'
    assert errors[6:9].max() < 0.08, 'velocity [m/s]'
    assert np.any(errors > 1e-4), 'it is not the truth'


def problems(messages, length=300, step=50):
    """Return the problem, if any, of each stretch of odometry."""
    for first in range(0, len(messages) - length, step):
        check = OdometryCheck()
        for message in messages[first : first + length]:
            check.add(message)
        yield check.report('child').get('problem')


def test_odometry_that_follows_a_push__is_no_problem_unless_in_wrong_axes():
    """Poses are corrected by more than the robot moves: joint efforts tell late what stands."""
    simulator = simulator_of('quadruped')
    hard, push = (push_of(J, 2.0, 0.5, simulator.model.total_mass) for J in (0.1, 0.06))
    messages = run('quadruped', stand(simulator, 1.5), hard, source='efforts')[1].messages
    assert set(problems(messages)) == {None}
    for message in messages:
        message.twist.covariance[:] = 0.0  # which says how far off a twist may be
    assert any('agrees with the motion of the pose in no' in str(p) for p in problems(messages))

    watched = run('quadruped', stand(simulator, 1.5), push)[1]
    assert set(problems(watched.messages)) == {None}
    heading = se3.exp(np.array((0.0, 0.0, 0.0, 0.0, 0.0, 1.0)))
    for message, H, v in zip(watched.messages, watched.poses, watched.twists, strict=True):
        write_pose(message.pose.pose, heading @ H)
        write_twist(message.twist.twist, np.kron(np.eye(2), (heading @ H)[:3, :3]) @ v)
    assert any('is in world axes, not in child axes' in str(p) for p in problems(watched.messages))
