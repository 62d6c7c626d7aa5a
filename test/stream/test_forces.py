# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Wrenches, accelerations that are given, and efforts by inverse dynamics, in the stream."""

import numpy as np
import pytest
from support.close import assert_close
from support.dense_reference import DenseReference
from support.finite_difference import linearization
from support.messages import SECOND, joint_state, odometry, random_quaternion, wrench_stamped
from support.pinocchio_oracle import PinocchioOracle, pin
from support.taking import dropped, take

from geolin_ros import TreeModel, robots, urdf
from geolin_ros.errors import ConfigurationError, UnknownNameError
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.wrench_input import WrenchInput, WrenchTopic
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.outputs.messages import LinearizationWriter, SummaryWriter
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.parameters.linearizer import stream_settings
from geolin_ros.stream.topic_stream import Cause, Counts

messages = pytest.importorskip('geolin_msgs.msg')
QUADRUPED = robots.path('quadruped')
T0, MS = 50 * SECOND, 1_000_000
FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')
VALUE = np.array((1.0, -2.0, 3.0, 0.4, 0.5, -0.6))
CODES = {'body': 1, 'world': 2, 'world_oriented': 3}


@pytest.fixture(scope='module')
def dense(quadruped):
    return DenseReference(urdf.read(QUADRUPED), quadruped)


@pytest.fixture(scope='module')
def oracle(quadruped):
    return PinocchioOracle.read_urdf(QUADRUPED, quadruped)


class Robot:
    """A quadruped that moves smoothly, and what its sensors say."""

    def __init__(self, model, seed=0):
        self.model, self.rng = model, np.random.default_rng(seed)
        self.s, self.r, self.tau = self.rng.uniform(-1.0, 1.0, (3, model.n))
        self.r_dot = self.rng.uniform(-5.0, 5.0, model.n)
        self.v, self.v_dot = self.rng.uniform(-1.0, 1.0, (2, 6))
        self.place, self.turn = self.rng.normal(size=3), random_quaternion(self.rng)

    def tell(self, stream, stamp=T0):
        """Send odometry and joint state; return the answer."""
        t = (stamp - T0) * 1e-9
        twist, r = self.v + t * self.v_dot, self.r + t * self.r_dot
        if self.model.base == 'floating':
            take(stream, 'odom', odometry(stamp, self.place, self.turn, twist))
        message = joint_state(stamp, self.model.joint_names, self.s, r, self.tau)
        return take(stream, 'joint_states', message)


def make_stream(model, **settings):
    return LinearizationStream(model, StreamSettings(**settings))


def written(stream, answer):
    """Return the message of an answer, and its base wrench (6,)."""
    message = messages.LinearizedDynamics()
    message.external_wrenches = [messages.ExternalWrench() for _ in answer.point.external]
    LinearizationWriter(message, stream.model, stream.settings).write(answer)
    left = message.base_wrench_residual
    return message, [getattr(part, x) for part in (left.force, left.torque) for x in 'xyz']


# ---- Wrenches


@pytest.mark.parametrize('kind', CODES)
def test_wrench_topics__enter_a_as_differences_say(quadruped, dense, kind):
    topics = tuple(WrenchTopic(f'{foot}/wrench', foot, kind) for foot in FEET)
    stream = make_stream(quadruped, wrench_topics=topics)
    robot = Robot(quadruped)
    for topic in topics:
        frame = topic.link if kind == 'body' else 'odom'
        take(stream, topic.topic, wrench_stamped(T0, 20 * robot.rng.normal(size=6), frame))
    answer = robot.tell(stream)
    wrenches = answer.point.external
    assert [wrench.link for wrench in wrenches] == list(FEET)
    state, tau = answer.point.state.copy(), answer.point.tau.copy()
    A, B = linearization(
        lambda at, u: dense.forward_dynamics(at, u, wrenches), quadruped, state, tau
    )
    assert_close(answer.A, A, 1e-10)
    assert_close(answer.B, B, 1e-8)
    assert_close(answer.nu_dot, dense.forward_dynamics(state, tau, wrenches), 1e-11)
    for found, wrench in zip(written(stream, answer)[0].external_wrenches, wrenches, strict=True):
        assert (found.link, found.kind) == (wrench.link, CODES[kind])
        assert (found.wrench.force.y, found.wrench.torque.x) == (wrench.force[1], wrench.moment[0])


@pytest.mark.parametrize(
    ('link', 'frame'), [('base', 'camera'), ('camera', 'base'), ('camera',) * 2]
)
@pytest.mark.parametrize('prefix', ['', 'robot1/'])
def test_body_wrench__may_be_in_a_frame_fixed_to_the_link(sensor_robot, link, frame, prefix):
    wrenches = WrenchInput(sensor_robot, [WrenchTopic('ft', link, 'body')], frame_prefix=prefix)
    wrenches.take('ft', wrench_stamped(T0, VALUE, prefix + frame))
    (wrench,), findings = wrenches.at(T0, 'odom')
    on_base = {name: pin.SE3(sensor_robot.frame(name).placement) for name in (link, frame)}
    expected = on_base[link].actInv(on_base[frame]).act(pin.Force(VALUE)).vector
    assert_close(np.concatenate((wrench.force, wrench.moment)), expected, 1e-14)
    assert (wrench.link, wrench.kind, findings) == (link, 'body', [])


@pytest.mark.parametrize('kind', ['world', 'world_oriented'])
def test_world_wrench__has_to_be_in_the_world_frame(sensor_robot, kind):
    wrenches = WrenchInput(sensor_robot, [WrenchTopic('ft', 'camera', kind)])
    wrenches.take('ft', wrench_stamped(T0, VALUE, 'odom'))
    (wrench,), _ = wrenches.at(T0, 'odom')
    np.testing.assert_array_equal(np.concatenate((wrench.force, wrench.moment)), VALUE)
    with dropped(Cause.WRENCH_FRAME, "frame_id 'odom', expected the world frame 'map'"):
        wrenches.at(T0, 'map')


def test_missing_wrench__can_be_taken_as_zero_with_a_finding(quadruped):
    topics = (WrenchTopic('foot', 'FL_foot', 'body'),)
    robot = Robot(quadruped)
    answer = robot.tell(make_stream(quadruped, wrench_topics=topics, missing_wrench='zero'))
    assert answer.point.findings == ['no wrench on foot yet: taken as zero']
    np.testing.assert_array_equal(answer.A, robot.tell(make_stream(quadruped)).A)


def test_wrench_on_no_link__is_refused(sensor_robot):
    with pytest.raises(UnknownNameError, match="link 'foot' is not part of"):
        WrenchInput(sensor_robot, [WrenchTopic('ft', 'foot', 'body')])


FORCES = {'contact_source': 'forces', 'contacts': ['FL_foot point']}


@pytest.mark.parametrize(
    ('values', 'says'),
    [
        ({'wrench_topics': ['f FL_foot push']}, "'f FL_foot push', expected a topic, a link"),
        ({'contacts': ['FL_foot line']}, "'FL_foot line', expected a frame, point or surface"),
        ({'contacts': ['FL_foot point 1.0 soft']}, 'the gains kp and kd'),
        ({'foot_force_topics': ['FL_foot']}, 'expected a topic and a frame'),
        (FORCES, 'expected the same frames: one topic each'),
        (
            FORCES | {'foot_force_topics': ['f FL_foot'], 'wrench_topics': ['f base body']},
            "'f' stands in wrench_topics and in foot_",
        ),
        (
            {'contacts': ['FL_foot point'], 'wrench_topics': ['f FL_foot body']},
            'its force would count twice',
        ),
        ({'contact_source': 'efforts', 'contacts': ['FL_foot point']}, 'only the state est'),
        ({'contact_on_force': 5.0}, 'expected at most contact_on_force, 5 N'),
    ],
)
def test_topics_and_contacts_that_cannot_be__are_refused(values, says):
    with pytest.raises(ConfigurationError, match=says):
        stream_settings(default_values() | values)


# ---- Accelerations that are given


def about(oracle, model, state, nu_dot):
    """Return the lower rows of A at a given acceleration: -M^-1 of the derivatives of RNEA."""
    by_q, by_v = oracle.inverse_dynamics_derivatives(state, nu_dot)
    return -np.linalg.solve(oracle.mass_matrix(state), np.hstack((by_q, by_v)))


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('nu_dot', ['zero', 'measured'])
def test_given_acceleration__is_linearized_about_and_its_wrench_is_left_over(base, nu_dot):
    model = TreeModel.from_urdf(QUADRUPED, base=base)
    oracle = PinocchioOracle.read_urdf(QUADRUPED, model)
    stream, robot = make_stream(model, nu_dot=nu_dot), Robot(model)
    given, first = np.zeros(model.m), model.m - model.n
    if nu_dot == 'measured':
        given = np.concatenate((robot.v_dot[:first], robot.r_dot))
        with dropped(Cause.NO_ACCELERATION, 'no accelerations yet'):
            robot.tell(stream)
    for k in range(1, 4):
        answer = robot.tell(stream, T0 + 2 * k * MS)
    assert_close(answer.nu_dot, given, 1e-9, scale=1.0)
    assert_close(answer.A[model.m :], about(oracle, model, answer.point.state, given), 1e-8)
    needed = oracle.inverse_dynamics(answer.point.state, given)[:first]
    assert_close(answer.point.base_wrench, needed if first else np.zeros(6), 1e-8)
    np.testing.assert_array_equal(answer.point.tau, robot.tau)
    message, left = written(stream, answer)
    assert message.nu_dot_source == getattr(message, f'NU_DOT_{nu_dot.upper()}')
    assert_close(left, answer.point.base_wrench, 0.0)
    summary = SummaryWriter(messages.LinearizationSummary(), model)
    summary = summary.write(answer, Counts(), 0.0)
    assert summary.base_force_residual == pytest.approx(np.linalg.norm(left[:3]))
    assert summary.base_torque_residual == pytest.approx(np.linalg.norm(left[3:]))
    assert ('delay of measured accelerations [ms]' in stream.details) == (nu_dot == 'measured')


def test_wrenches__are_not_left_over(quadruped, dense):
    topics = (WrenchTopic('foot', 'FL_foot', 'world'),)
    stream = make_stream(quadruped, wrench_topics=topics, nu_dot='zero')
    robot = Robot(quadruped)
    take(stream, 'foot', wrench_stamped(T0, 30 * robot.rng.normal(size=6), 'odom'))
    answer = robot.tell(stream)
    point = answer.point
    needed = dense.inverse_dynamics(point.state, np.zeros(quadruped.m), point.external)
    assert_close(point.base_wrench, needed[:6], 1e-12)
    point = robot.tell(make_stream(quadruped)).point
    np.testing.assert_array_equal(point.base_wrench, np.zeros(6))


def test_discrete_form__steps_under_the_held_forces(quadruped):
    """At nu_dot = 0 and at rest the step goes nowhere."""
    stream = make_stream(quadruped, nu_dot='zero', form='discrete')
    robot = Robot(quadruped)
    robot.v[:], robot.r[:] = 0.0, 0.0
    answer = robot.tell(stream)
    assert_close(answer.next_state.data, answer.point.state.data, 1e-12)


# ---- Efforts by inverse dynamics


def test_inverse_dynamics__gives_the_efforts_and_reports_the_base(quadruped, oracle):
    stream, robot = make_stream(quadruped, torque_source='inverse_dynamics'), Robot(quadruped)
    answer = robot.tell(stream)
    needed = oracle.inverse_dynamics(answer.point.state, np.zeros(quadruped.m))
    assert_close(answer.point.base_wrench, needed[:6], 1e-12)
    assert_close(answer.point.tau, needed[6:], 1e-12)
    A, _, nu_dot = oracle.linearization(answer.point.state, needed[6:])
    assert_close(answer.A, A, 1e-10)
    assert_close(answer.nu_dot, nu_dot, 1e-10)
    message, _ = written(stream, answer)
    assert message.effort_source == message.EFFORT_INVERSE_DYNAMICS


@pytest.mark.parametrize('passive', [0, 1])
def test_inverse_dynamics__holds_a_fixed_base_robot_but_its_passive_joints(quadruped, passive):
    names = quadruped.joint_names
    model = TreeModel.from_urdf(QUADRUPED, base='fixed', actuated_joints=names[passive:])
    answer = Robot(model).tell(make_stream(model, torque_source='inverse_dynamics'))
    assert not answer.point.tau[:passive].any()
    assert np.all(answer.point.tau[passive:] != 0.0)
    assert passive or np.abs(answer.nu_dot).max() < 1e-9
    np.testing.assert_array_equal(answer.point.base_wrench, np.zeros(6))
