# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Wrenches, accelerations that are given, and efforts by inverse dynamics, in the stream."""

import numpy as np
import pytest
from support.close import assert_close
from support.dense_reference import DenseReference
from support.finite_difference import linearization
from support.messages import SECOND, joint_state, odometry, random_quaternion, wrench_stamped
from support.pinocchio_oracle import PinocchioOracle
from support.taking import dropped, take

from geolin_ros import TreeModel, robots, urdf
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.wrench_input import WrenchTopic
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.outputs.messages import LinearizationWriter, SummaryWriter
from geolin_ros.stream.topics import Counts

messages = pytest.importorskip('geolin_msgs.msg')
T0 = 50 * SECOND
MS = 1_000_000
FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')


@pytest.fixture(scope='module')
def dense(quadruped):
    return DenseReference(urdf.read(robots.path('quadruped')), quadruped)


@pytest.fixture(scope='module')
def oracle(quadruped):
    return PinocchioOracle.read_urdf(robots.path('quadruped'), quadruped)


class Robot:
    """A quadruped that moves smoothly, and what its sensors say."""

    def __init__(self, model, seed=0):
        self.model, self.rng = model, np.random.default_rng(seed)
        self.s, self.r, self.tau = self.rng.uniform(-1.0, 1.0, (3, model.n))
        self.r_dot = self.rng.uniform(-5.0, 5.0, model.n)
        self.v, self.v_dot = self.rng.uniform(-1.0, 1.0, (2, 6))
        self.place, self.turn = self.rng.normal(size=3), random_quaternion(self.rng)

    def tell(self, stream, stamp=T0, base=True):
        """Send odometry and joint state; return the answer."""
        t = (stamp - T0) * 1e-9
        if base:
            twist = self.v + t * self.v_dot
            take(stream, 'odom', odometry(stamp, self.place, self.turn, twist))
        r = self.r + t * self.r_dot
        return take(
            stream, 'joint_states', joint_state(stamp, self.model.joint_names, self.s, r, self.tau)
        )


def make_stream(model, **settings):
    return LinearizationStream(model, StreamSettings(**settings))


def written(stream, answer):
    """Return the message of an answer, and its base wrench (6,)."""
    message = messages.LinearizedDynamics()
    message.external_wrenches = [messages.ExternalWrench() for _ in answer.wrenches]
    LinearizationWriter(message, stream.model, stream.settings).write(answer)
    left = message.base_wrench_residual
    return message, [getattr(part, x) for part in (left.force, left.torque) for x in 'xyz']


# ---- Wrenches


@pytest.mark.parametrize('kind', ['body', 'world', 'world_oriented'])
def test_wrench_topics__enter_a_as_differences_say(quadruped, dense, kind):
    topics = tuple(WrenchTopic(f'{foot}/wrench', foot, kind) for foot in FEET)
    stream = make_stream(quadruped, wrench_topics=topics)
    robot = Robot(quadruped)
    for topic in topics:
        frame = topic.link if kind == 'body' else 'odom'
        take(stream, topic.topic, wrench_stamped(T0, 20 * robot.rng.normal(size=6), frame))
    answer = robot.tell(stream)
    wrenches = answer.wrenches
    assert [wrench.link for wrench in wrenches] == list(FEET)
    state, tau = answer.state.copy(), answer.tau.copy()
    A, B = linearization(
        lambda at, u: dense.forward_dynamics(at, u, wrenches), quadruped, state, tau
    )
    assert_close(answer.A, A, 1e-10)
    assert_close(answer.B, B, 1e-8)
    assert_close(answer.nu_dot, dense.forward_dynamics(state, tau, wrenches), 1e-11)
    code = {'body': 1, 'world': 2, 'world_oriented': 3}[kind]
    for found, wrench in zip(written(stream, answer)[0].external_wrenches, wrenches, strict=True):
        assert (found.link, found.kind) == (wrench.link, code)
        assert (found.wrench.force.y, found.wrench.torque.x) == (wrench.force[1], wrench.moment[0])


def test_missing_wrench__is_a_drop_or_a_finding(quadruped):
    topics = (WrenchTopic('foot', 'FL_foot', 'body'),)
    stream, robot = make_stream(quadruped, wrench_topics=topics), Robot(quadruped)
    with pytest.raises(DroppedInput, match='no wrench on foot yet'):
        robot.tell(stream)
    assert stream.counts.drops == {Cause.NO_WRENCH: 1}
    lenient = make_stream(quadruped, wrench_topics=topics, missing_wrench='zero')
    answer = robot.tell(lenient)
    assert answer.findings == ['no wrench on foot yet: taken as zero']
    np.testing.assert_array_equal(answer.A, robot.tell(make_stream(quadruped)).A)


# ---- Accelerations that are given


def about(oracle, model, state, nu_dot):
    """Return the lower rows of A at a given acceleration: -M^-1 of the derivatives of RNEA."""
    by_q, by_v = oracle.inverse_dynamics_derivatives(state, nu_dot)
    return -np.linalg.solve(oracle.mass_matrix(state), np.hstack((by_q, by_v)))


def test_zero__is_the_linearization_at_zero_acceleration(quadruped, oracle):
    stream, robot = make_stream(quadruped, nu_dot='zero'), Robot(quadruped)
    answer = robot.tell(stream)
    nothing = np.zeros(quadruped.m)
    assert_close(answer.A[18:], about(oracle, quadruped, answer.state, nothing), 1e-11)
    needed = oracle.inverse_dynamics(answer.state, nothing)
    assert_close(answer.base_wrench, needed[:6], 1e-12)
    assert np.abs(answer.nu_dot).max() < 1e-9
    np.testing.assert_array_equal(answer.tau, robot.tau)
    message, left = written(stream, answer)
    assert message.nu_dot_source == message.NU_DOT_ZERO
    assert_close(left, needed[:6], 1e-12)
    summary = SummaryWriter(messages.LinearizationSummary(), quadruped)
    summary = summary.write(answer, Counts(), 0.0)
    assert summary.base_force_residual == pytest.approx(np.linalg.norm(needed[:3]))
    assert summary.base_torque_residual == pytest.approx(np.linalg.norm(needed[3:6]))


def test_measured__is_the_linearization_at_the_measured_acceleration(quadruped, oracle):
    stream, robot = make_stream(quadruped, nu_dot='measured'), Robot(quadruped)
    with dropped(Cause.NO_ACCELERATION, 'no accelerations yet'):
        robot.tell(stream)
    for k in range(1, 4):
        answer = robot.tell(stream, T0 + 2 * k * MS)
    nu_dot = np.concatenate((robot.v_dot, robot.r_dot))
    assert_close(answer.nu_dot, nu_dot, 1e-9)
    assert_close(answer.A[18:], about(oracle, quadruped, answer.state, nu_dot), 1e-8)
    assert_close(answer.base_wrench, oracle.inverse_dynamics(answer.state, nu_dot)[:6], 1e-8)
    message, _ = written(stream, answer)
    assert message.nu_dot_source == message.NU_DOT_MEASURED
    assert 'delay of measured accelerations [ms]' in stream.details


def test_predicted__leaves_nothing_over(quadruped):
    answer = Robot(quadruped).tell(make_stream(quadruped))
    np.testing.assert_array_equal(answer.base_wrench, np.zeros(6))


def test_wrenches__are_not_left_over(quadruped, dense):
    topics = (WrenchTopic('foot', 'FL_foot', 'world'),)
    stream = make_stream(quadruped, wrench_topics=topics, nu_dot='zero')
    robot = Robot(quadruped)
    take(stream, 'foot', wrench_stamped(T0, 30 * robot.rng.normal(size=6), 'odom'))
    answer = robot.tell(stream)
    needed = dense.inverse_dynamics(answer.state, np.zeros(quadruped.m), answer.wrenches)
    assert_close(answer.base_wrench, needed[:6], 1e-12)


def test_discrete_form__steps_under_the_held_forces(quadruped):
    """At nu_dot = 0 and at rest the step goes nowhere."""
    stream = make_stream(quadruped, nu_dot='zero', form='discrete')
    robot = Robot(quadruped)
    robot.v[:], robot.r[:] = 0.0, 0.0
    answer = robot.tell(stream)
    assert_close(answer.next_state.data, answer.state.data, 1e-12)


# ---- Efforts by inverse dynamics


def test_inverse_dynamics__gives_the_efforts_and_reports_the_base(quadruped, oracle):
    stream, robot = make_stream(quadruped, torque_source='inverse_dynamics'), Robot(quadruped)
    answer = robot.tell(stream)
    needed = oracle.inverse_dynamics(answer.state, np.zeros(quadruped.m))
    assert_close(answer.base_wrench, needed[:6], 1e-12)
    assert_close(answer.tau, needed[6:], 1e-12)
    A, _, nu_dot = oracle.linearization(answer.state, needed[6:])
    assert_close(answer.A, A, 1e-10)
    assert_close(answer.nu_dot, nu_dot, 1e-10)
    message, _ = written(stream, answer)
    assert message.effort_source == message.EFFORT_INVERSE_DYNAMICS


def test_inverse_dynamics__on_a_fixed_base_holds_the_robot():
    model = TreeModel.from_urdf(robots.path('quadruped'), base='fixed')
    stream = make_stream(model, torque_source='inverse_dynamics')
    answer = Robot(model).tell(stream, base=False)
    assert np.abs(answer.nu_dot).max() < 1e-9
    np.testing.assert_array_equal(answer.base_wrench, np.zeros(6))


def test_inverse_dynamics__leaves_passive_joints_alone():
    names = TreeModel.from_urdf(robots.path('quadruped')).joint_names
    model = TreeModel.from_urdf(robots.path('quadruped'), actuated_joints=names[1:])
    answer = Robot(model).tell(make_stream(model, torque_source='inverse_dynamics'))
    assert answer.tau[0] == 0.0
    assert np.all(answer.tau[1:] != 0.0)


@pytest.mark.parametrize('nu_dot', ['measured', 'zero'])
def test_fixed_base__has_no_wrench_left_over(nu_dot):
    model = TreeModel.from_urdf(robots.path('quadruped'), base='fixed')
    oracle = PinocchioOracle.read_urdf(robots.path('quadruped'), model)
    stream, robot = make_stream(model, nu_dot=nu_dot), Robot(model)
    given = robot.r_dot if nu_dot == 'measured' else np.zeros(model.n)
    if nu_dot == 'measured':
        with pytest.raises(DroppedInput):
            robot.tell(stream, base=False)
    answer = robot.tell(stream, T0 + MS, base=False)
    np.testing.assert_array_equal(answer.base_wrench, np.zeros(6))
    assert_close(answer.A[12:], about(oracle, model, answer.state, given), 1e-8)
