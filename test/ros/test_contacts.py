# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Contacts from parameters, a topic and foot forces, over DDS."""

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import qos_profile_sensor_data
from support.close import assert_close
from support.messages import fill, wrench_stamped
from support.ros_graph import set_and_wait

from geolin_ros.linearization.contacts import Contact
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.stream.outputs.contact_messages import read_contact_dynamics
from geolin_ros.stream.outputs.reading import read_linearization

FEET = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]


def assert_held(robot, message, contacts, source):
    """Compare a message with the library about the message's own state."""
    received, said = read_linearization(message), read_contact_dynamics(message.contact_dynamics)
    assert (said.source, said.active) == (source, tuple(contact.frame for contact in contacts))
    C = Linearizer(robot.model, contacts)(received.state, received.tau)
    assert_close(received.A, C.A, 1e-10)
    assert_close(received.nu_dot, C.nu_dot, 1e-10)
    assert_close(said.wrenches, C.wrenches, 1e-10)
    assert_close(said.wrench_by_state, C.wrench_by_state, 1e-10)
    return said


def test_contacts_of_a_parameter__hold_and_are_said(robot):
    set_and_wait(
        robot,
        {'contacts': [f'{foot} point 0.0 5.0' for foot in FEET], 'admissible_basis': True},
    )
    message = robot.ask()
    said = assert_held(robot, message, [Contact(foot, kd=5.0) for foot in FEET], 'parameter')
    assert message.contact_dynamics.source == message.contact_dynamics.SOURCE_PARAMETER
    assert said.basis.shape == (36, 12)
    assert_close(said.basis.T @ said.basis, np.eye(12), 1e-12)
    robot.wait_for(lambda: robot.summaries[-1].header.stamp == message.header.stamp)
    assert (robot.summaries[-1].active_contacts, robot.summaries[-1].contact_rank) == (4, 12)
    set_and_wait(robot, {'contacts': ['']})
    assert read_contact_dynamics(robot.ask().contact_dynamics) is None


def test_foot_forces__switch_contacts(robot):
    topics = {foot: f'{foot}/force' for foot in FEET[:2]}
    accepted, reason = robot.set_parameters(contacts=['FL_foot point'], contact_source='forces')
    assert not accepted
    assert 'expected the same frames: one topic each' in reason
    set_and_wait(
        robot,
        {
            'contacts': [f'{foot} point' for foot in topics],
            'foot_force_topics': [f'{topic} {foot}' for foot, topic in topics.items()],
            'contact_source': 'forces',
        },
    )
    made = {
        foot: robot.graph.node.create_publisher(
            WrenchStamped, robot.topic(topic), qos_profile_sensor_data
        )
        for foot, topic in topics.items()
    }
    robot.wait_for(lambda: all(p.get_subscription_count() for p in made.values()))
    for forces, held in (
        ((50.0, 0.0), ['FL_foot']),
        ((12.0, 15.0), ['FL_foot']),
        ((9.0, 21.0), ['FR_foot']),
    ):

        def answered(forces=forces):
            stamp = robot.tick()
            for publisher, force in zip(made.values(), forces, strict=True):
                value = np.array((0.0, 0.0, force, 0.0, 0.0, 0.0))
                publisher.publish(fill(WrenchStamped(), wrench_stamped(stamp, value, 'foot')))
            joints = robot.make_joint_state(stamp)
            robot.send(joints, robot.make_odometry(stamp))
            return robot.answer_soon(joints)

        robot.wait_for(answered)
        message = robot.wait_for(answered)
        assert_held(robot, message, [Contact(foot) for foot in held], 'forces')
        assert len(message.contact_dynamics.contacts) == 2
    set_and_wait(robot, {'contact_source': 'parameter', 'contacts': ['']})


def test_unreadable_contacts__are_refused(robot):
    for name, entry, words in (
        ('contacts', 'FL_foot line', "'FL_foot line', expected a frame, point or surface"),
        ('contacts', 'FL_foot point 1.0 soft', 'the gains kp and kd'),
        ('foot_force_topics', 'FL_foot', 'expected a topic and a frame'),
    ):
        accepted, reason = robot.set_parameters(**{name: [entry]})
        assert not accepted
        assert words in reason
