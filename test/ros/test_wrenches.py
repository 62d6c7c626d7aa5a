# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""External wrenches from topics, given accelerations and inverse dynamics, over DDS."""

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import qos_profile_sensor_data
from support.close import assert_close
from support.messages import fill, wrench_stamped
from support.ros_graph import set_and_wait

from geolin_ros import Linearizer
from geolin_ros.dynamics.functions import inverse_dynamics
from geolin_ros.model.wrenches import Wrench
from geolin_ros.stream.drops import Cause
from geolin_ros.stream.outputs.reading import read_linearization

KINDS = {'FL_foot': 'body', 'FR_foot': 'world', 'RL_foot': 'world_oriented'}
TOPICS = {link: f'{link}/wrench' for link in KINDS}


@pytest.fixture(scope='module')
def publishers(robot):
    """One publisher a foot; the node hears them in the module's tests."""
    made = {
        link: robot.graph.node.create_publisher(
            WrenchStamped, robot.topic(topic), qos_profile_sensor_data
        )
        for link, topic in TOPICS.items()
    }
    entries = [f'{TOPICS[link]} {link} {kind}' for link, kind in KINDS.items()]
    set_and_wait(robot, {'wrench_topics': entries})
    robot.wait_for(lambda: all(p.get_subscription_count() for p in made.values()))
    return made


def ask_under(robot, publishers, values):
    """Send wrenches, then odometry and joint state; return the answer, asked until it comes."""

    def answered():
        stamp = robot.tick()
        for link, value in values.items():
            frame = link if KINDS[link] == 'body' else 'odom'
            publishers[link].publish(fill(WrenchStamped(), wrench_stamped(stamp, value, frame)))
        joints = robot.make_joint_state(stamp)
        robot.send(joints, robot.make_odometry(stamp))
        return robot.answer_soon(joints)

    return robot.wait_for(answered)


def test_wrenches__are_in_a_and_in_the_message(robot, publishers):
    rng = np.random.default_rng(0)
    values = {link: 20.0 * rng.normal(size=6) for link in KINDS}
    message = ask_under(robot, publishers, values)
    wrenches = [Wrench(link, values[link][:3], values[link][3:], KINDS[link]) for link in KINDS]
    received = read_linearization(message)
    expected = Linearizer(robot.model)(received.state, received.tau, wrenches=wrenches)
    assert_close(received.A, expected.A, 1e-12)
    assert_close(received.nu_dot, expected.nu_dot, 1e-12)
    codes = {'body': 1, 'world': 2, 'world_oriented': 3}
    assert [(w.link, w.kind) for w in message.external_wrenches] == [
        (link, codes[kind]) for link, kind in KINDS.items()
    ]
    assert message.external_wrenches[1].wrench.force.y == values['FR_foot'][1]


def test_missing_wrench__drops_or_is_said(robot, publishers):
    ask_under(robot, publishers, {link: np.ones(6) for link in KINDS})
    robot.new_drops()
    robot.tick(1000)
    robot.send(robot.make_joint_state(robot.time), robot.make_odometry(robot.time))
    assert robot.new_drops() == {Cause.NO_WRENCH.value: 1}
    assert 'the newest wrench on FL_foot/wrench is +1.0' in robot.process.log
    set_and_wait(robot, {'missing_wrench': 'zero'})
    findings = robot.ask().trust.findings
    assert len(findings) == 3
    assert all(finding.endswith(': taken as zero') for finding in findings)
    set_and_wait(robot, {'missing_wrench': 'drop', 'wrench_topics': ['']})
    assert not robot.ask().external_wrenches


def test_unreadable_topic__is_refused(robot):
    accepted, reason = robot.set_parameters(wrench_topics=['foot FL_foot push'])
    assert not accepted
    assert "'foot FL_foot push', expected a topic, a link and one of body" in reason


def test_zero_acceleration__comes_with_the_base_wrench_left_over(robot):
    set_and_wait(robot, {'nu_dot': 'zero'})
    message = robot.ask()
    received = read_linearization(message)
    assert message.nu_dot_source == message.NU_DOT_ZERO
    needed = inverse_dynamics(robot.model, received.state, np.zeros(robot.model.m))
    force, torque = message.base_wrench_residual.force, message.base_wrench_residual.torque
    residual = [force.x, force.y, force.z, torque.x, torque.y, torque.z]
    assert_close(np.array(residual), needed[:6], 1e-12)
    assert np.abs(received.nu_dot).max() < 1e-9
    robot.wait_for(lambda: robot.summaries[-1].header.stamp == message.header.stamp)
    summary = robot.summaries[-1]
    assert summary.base_force_residual == pytest.approx(np.linalg.norm(needed[:3]))
    assert summary.base_torque_residual == pytest.approx(np.linalg.norm(needed[3:6]))
    set_and_wait(robot, {'nu_dot': 'predicted'})


def test_measured_acceleration__follows_the_twists(robot):
    set_and_wait(robot, {'nu_dot': 'measured'})
    rates = np.zeros(12)
    robot.tick(2000)  # the node starts with the last odometry
    for k in range(6):
        stamp = robot.tick(4)
        joints = robot.make_joint_state(stamp, velocity=(rates + 0.004 * k).tolist())
        base = robot.make_odometry(stamp, twist_values=np.full(6, 0.008 * k))
        robot.send(joints, base)
    message = robot.wait_for(lambda: robot.answer_to(joints))
    assert message.nu_dot_source == message.NU_DOT_MEASURED
    assert_close(np.array(message.nu_dot), np.repeat((2.0, 1.0), (6, 12)), 1e-6)
    _, _, values = robot.next_diagnostics()
    assert float(values['delay of measured accelerations [ms]']) == pytest.approx(10.0, abs=0.1)
    set_and_wait(robot, {'nu_dot': 'predicted'})


def test_inverse_dynamics__gives_the_efforts(robot):
    set_and_wait(robot, {'torque_source': 'inverse_dynamics'})
    message = robot.ask()
    received = read_linearization(message)
    assert message.effort_source == message.EFFORT_INVERSE_DYNAMICS
    needed = inverse_dynamics(robot.model, received.state, np.zeros(robot.model.m))
    assert_close(received.tau, needed[6:], 1e-12)
    assert message.base_wrench_residual.force.z == pytest.approx(needed[2])
    set_and_wait(robot, {'torque_source': 'effort'})
