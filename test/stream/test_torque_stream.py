# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Torques from what sensors read, against the motors of a robot simulated by MuJoCo."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from geolin_estimation.imu_input import ImuTopic
from geolin_estimation.torque_stream import TorqueSettings, TorqueStream, TorqueWriter
from support.messages import header, joint_state, vector, wrench_stamped
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot
from support.taking import dropped, take

from geolin_ros import TreeModel, inverse_dynamics, robots
from geolin_ros.errors import ConfigurationError, UnknownNameError
from geolin_ros.stream.inputs.wrench_input import WrenchTopic
from geolin_ros.stream.topic_stream import Cause

pytest.importorskip('mujoco')
from torque_check.standing import PUSH, SOLES, STEP, StandingRobot

STEP_NS = round(STEP * 1e9)
HEARD = {
    'imu_topics': (ImuTopic('imu', 'imu'),),
    'wrench_topics': tuple(WrenchTopic(f'{link}/wrench', link, 'body') for link in SOLES),
}


@pytest.fixture(scope='module')
def model():
    return TreeModel.from_urdf(robots.path('humanoid'))


@pytest.fixture(scope='module')
def motion(model):
    """What the robot felt for two seconds and the push that follows: one entry a sample."""
    robot, samples = StandingRobot(model, robots.path('humanoid')), []
    for k in range(round((PUSH.start + 0.1) / STEP)):
        robot.advance()
        acceleration, turning, wrenches = robot.measured()
        samples.append(
            SimpleNamespace(
                stamp=10**9 + k * STEP_NS,
                state=robot.state,
                tau=robot.tau,
                acceleration=acceleration.copy(),
                turning=turning.copy(),
                wrenches=wrenches,
            )
        )
    return samples


def imu(stamp, acceleration, turning, covariance=0.0, frame='imu'):
    return SimpleNamespace(
        header=header(stamp, frame),
        linear_acceleration=vector(acceleration),
        angular_velocity=vector(turning),
        linear_acceleration_covariance=covariance * np.eye(3).ravel(),
        angular_velocity_covariance=np.zeros(9),
    )


def joints(model, sample):
    return joint_state(sample.stamp, model.joint_names, sample.state.s, sample.state.r, sample.tau)


def hear(stream, sample, covariance=0.0):
    take(stream, 'imu', imu(sample.stamp, sample.acceleration, sample.turning, covariance))
    for link in SOLES:
        take(stream, f'{link}/wrench', wrench_stamped(sample.stamp, sample.wrenches[link], link))


def answers(stream, samples):
    """Feed the samples; return the answer to each but the first, which has no accelerations."""
    found = []
    for sample in samples:
        hear(stream, sample)
        found.append(take(stream, 'joint_states', joints(stream.model, sample)))
    assert found[0] is None
    return found[1:]


@pytest.mark.shows('Nori: - live')
def test_torques__are_those_of_the_motors(model, motion):
    """Without joint efforts, base pose and base velocity; MuJoCo knows the truth."""
    quiet = motion[: round(PUSH.start / STEP) - 1]
    found = answers(TorqueStream(model, TorqueSettings(**HEARD)), quiet)
    assert len(found) == len(quiet) - 1
    measured = TorqueStream(model, TorqueSettings(**HEARD, joint_effort=1e-6))
    assert answers(measured, quiet[:50])[-1].tau == pytest.approx(quiet[49].tau, abs=1e-5)
    moving = [(a, s) for a, s in zip(found, quiet[1:], strict=True)][100:]
    error = np.array([a.tau - s.tau for a, s in moving])
    largest = max(np.max(np.abs(s.tau)) for _, s in moving)
    assert largest > 15.0
    assert np.sqrt(np.mean(np.square(error))) < 1e-3 * largest
    for k, link in enumerate(SOLES):
        off = np.array([a.wrenches[k] - s.wrenches[link] for a, s in moving])
        assert np.abs(off).max() < 1.0
    assert np.median([a.chi_squared for a, _ in moving]) < found[0].degrees_of_freedom


@pytest.mark.shows('Nori: - live')
def test_push__that_no_sensor_feels__is_found_or_noticed(model, motion):
    """As an unknown wrench it is estimated; otherwise chi squared jumps, if that is trusted."""
    settings = TorqueSettings(**HEARD, unknown_wrenches=('pelvis',))
    pushed = answers(TorqueStream(model, settings), motion)[-20:]
    force = np.median([a.wrenches[2, :3] for a in pushed], axis=0)  # the pelvis stays upright
    assert np.linalg.norm(force - PUSH.force) < 0.1 * np.linalg.norm(PUSH.force)
    exact = TorqueSettings(
        **HEARD, force=0.2, moment=0.02, joint_acceleration=0.1, angular_acceleration=0.1
    )
    trusting = answers(TorqueStream(model, exact), motion)
    freedom = trusting[0].degrees_of_freedom
    assert np.median([a.chi_squared for a in trusting[500:-60]]) < 0.1 * freedom
    assert np.median([a.chi_squared for a in trusting[-20:]]) > 5.0 * freedom


def test_covariances__come_at_their_rate_and_shrink_with_better_sensors(model, motion):
    """Of the message where it says so, else of the settings."""
    settings = TorqueSettings(**HEARD, covariance_rate=50.0)
    found = answers(TorqueStream(model, settings), motion[:102])
    kept = [a.covariance for a in found if a.covariance is not None]
    assert len(kept) == 11
    assert kept[0].shape == (model.n + 12,) * 2
    assert np.linalg.eigvalsh(kept[0])[0] > -1e-9 * np.max(kept[0])
    better = TorqueStream(model, settings)
    for sample in motion[:2]:
        hear(better, sample, covariance=1e-6)
        answer = take(better, 'joint_states', joints(model, sample))
    assert np.trace(answer.covariance) < 0.95 * np.trace(kept[0])


def test_wrench_with_covariance__is_believed(model, motion):
    settings = TorqueSettings(**HEARD, wrench_messages='with_covariance', covariance_rate=1000.0)
    stream, deviations = TorqueStream(model, settings), []

    def feel(sample, variance, link):
        message = wrench_stamped(sample.stamp, sample.wrenches[link], link)
        covariance = (variance * np.eye(6)).ravel()
        message.covariance = SimpleNamespace(rows=6, cols=6, data=covariance)
        take(stream, f'{link}/wrench', message)

    for k, sample in enumerate(motion[:6]):
        take(stream, 'imu', imu(sample.stamp, sample.acceleration, sample.turning))
        for link in SOLES:
            feel(sample, 1.0 if k < 3 else 1e-4, link)
        answer = take(stream, 'joint_states', joints(model, sample))
        if answer is not None:
            deviations.append(np.sqrt(answer.covariance[model.n, model.n]))
    assert deviations[-1] < 0.1 * deviations[0]
    with dropped(Cause.COVARIANCE):
        feel(motion[6], -1.0, 'left_sole')


def test_message__carries_the_estimate(model, motion):
    messages = pytest.importorskip('geolin_msgs.msg')
    stream = TorqueStream(model, TorqueSettings(**HEARD))
    writer = TorqueWriter(messages.TorqueEstimate(), messages.WrenchWithCovariance, stream)
    found = answers(stream, motion[:4])
    message = writer.write(found[0])
    assert message.header.frame_id == 'pelvis'
    assert message.joint_torques.tolist() == found[0].tau.tolist()
    assert message.covariance.rows == model.n + 12
    assert message.wrenches[1].header.frame_id == 'right_sole'
    assert message.wrenches[1].wrench.torque.y == found[0].wrenches[1, 4]
    block = np.array(message.wrenches[1].covariance.data).reshape(6, 6)
    assert np.array_equal(block, found[0].covariance[model.n + 6 :, model.n + 6 :])
    assert writer.write(found[1]).covariance.rows == 0


def test_unusable_inputs__are_dropped_by_cause(model, motion):
    stream = TorqueStream(model, TorqueSettings(**HEARD))
    first, second, third = motion[:3]

    felt = first.acceleration, first.turning
    for topic, message, cause in (
        ('joint_states', joints(model, first), None),
        ('joint_states', joints(model, second), Cause.NO_IMU),
        ('imu', imu(1, *felt, frame='torso'), Cause.IMU_FRAME),
        ('imu', imu(1, *felt, covariance=-1.0), Cause.IMU_PART),
        ('imu', imu(first.stamp, *felt), None),
        ('imu', imu(second.stamp, *felt), None),
        ('imu', imu(first.stamp, *felt), Cause.BACKWARDS),
        ('joint_states', joints(model, third), Cause.NO_WRENCH),
    ):
        with nullcontext() if cause is None else dropped(cause):
            assert take(stream, topic, message) is None
    assert stream.counts.dropped == 5
    assert stream.counts.received == 3


def test_sensors_that_do_not_fit__are_named(model):
    with pytest.raises(ConfigurationError, match=r"no IMU that turns with it.*'pelvis'"):
        TorqueStream(model, TorqueSettings())
    with pytest.raises(ConfigurationError, match='each link once'):
        TorqueStream(model, TorqueSettings(**HEARD, unknown_wrenches=('left_sole',)))
    with pytest.raises(UnknownNameError, match="'tail'"):
        TorqueStream(model, TorqueSettings(**HEARD, unknown_wrenches=('tail',)))


def answer_on_fixed_base(model):
    """Return the second answer to a robot that accelerates, its state and acceleration."""
    stream = TorqueStream(model, TorqueSettings(acceleration_cutoff=1e4))
    rng = np.random.default_rng(1)
    s, r, qdd = rng.normal(size=(3, model.n))
    for k, stamp in enumerate((10**9, 10**9 + STEP_NS)):
        rates = r + k * STEP * qdd
        message = joint_state(stamp, model.joint_names, s, rates, np.zeros(model.n))
        answer = take(stream, 'joint_states', message)
    return answer, model.state(np.eye(4), s, np.zeros(6), rates), qdd


@pytest.mark.parametrize('name', ['quadruped', 'panda'])
def test_fixed_base__needs_no_imu(name):
    """Torques are those of inverse dynamics; of a finger that mimics another one, of both."""
    path = example_robot(name) if name == 'panda' else robots.path(name)
    model = TreeModel.from_urdf(path, base='fixed')
    answer, state, qdd = answer_on_fixed_base(model)
    if name == 'panda':
        assert [joint.name for joint in model.dependent_joints] == ['panda_finger_joint2']
        expected = inverse_dynamics(model, state, qdd)
    else:
        expected = PinocchioOracle.read_urdf(path, model).inverse_dynamics(state, qdd)
    assert answer.tau == pytest.approx(expected, rel=1e-9)
