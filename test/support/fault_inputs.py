# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""NaN and inf in all that a linearizer can hear beside joint states and odometry.

One drill for contacts of a topic, one for those that feet feel.
"""

import contextlib
from collections import Counter
from math import inf, nan

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import qos_profile_sensor_data

from geolin_msgs.msg import ContactState, ContactStates
from geolin_ros.stream.drops import Cause
from support.fault_stage import Outcome
from support.messages import contact_state, fill, header, wrench_stamped
from support.ros_graph import START, set_and_wait

FOOT, WRENCH_LINK = 'FL_foot', 'imu'
POSE = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
EARLY = Cause.NO_WRENCH, Cause.NO_CONTACTS, Cause.NO_EFFORT
"""Drops of joint states that are heard before all else is."""


def spoil_contacts_of_a_topic(stage):
    """NaN and inf in efforts, wrenches and contacts, each field alone."""
    robot = stage.robot
    values = {
        'torque_source': 'topic',
        'wrench_topics': [f'wrench {WRENCH_LINK} body'],
        'wrench_timeout': 3600.0,
        'contact_source': 'topic',
    }
    restored = {
        'torque_source': 'effort',
        'wrench_topics': [''],
        'wrench_timeout': 0.1,
        'contact_source': 'parameter',
    }

    def contacts(**changes):
        message = ContactStates()
        fill(message.header, header(robot.tick()))
        message.contacts = [fill(ContactState(), contact_state(FOOT, **changes))]
        return message

    with _hearing(stage, values, restored, wrench=WrenchStamped, contact_states=ContactStates) as (
        wrench,
        contact_states,
    ):
        _shake_hands(
            stage,
            lambda: robot.efforts.publish(robot.make_joint_state(robot.tick())),
            lambda: wrench.publish(_wrench(robot, np.zeros(6))),
            lambda: contact_states.publish(contacts()),
        )
        drops = Counter()
        for number in (nan, inf, -inf):
            for joint in range(robot.model.n):
                efforts = robot.make_joint_state(robot.tick())
                efforts.effort[joint] = number
                _spoil(stage, robot.efforts, efforts)
            for k in range(6):
                _spoil(stage, wrench, _wrench(robot, np.where(np.arange(6) == k, number, 0.0)))
            drops[Cause.NOT_FINITE] += robot.model.n + 6
            for changes in _spoilt_contacts(number):
                _spoil(stage, contact_states, contacts(**changes))
                drops[Cause.CONTACT] += 1
    return Outcome(base_drops=drops, follows=EARLY)


def spoil_forces_of_feet(stage):
    """NaN and inf in what a foot feels."""
    robot = stage.robot
    values = {
        'contacts': [f'{FOOT} point'],
        'foot_force_topics': [f'force {FOOT}'],
        'wrench_timeout': 3600.0,
        'contact_source': 'forces',
    }
    restored = {
        'contacts': [''],
        'foot_force_topics': [''],
        'wrench_timeout': 0.1,
        'contact_source': 'parameter',
    }
    drops = Counter()
    with _hearing(stage, values, restored, force=WrenchStamped) as (force,):
        _shake_hands(stage, lambda: force.publish(_wrench(robot, np.full(6, 30.0), FOOT)))
        for number in (nan, inf, -inf):
            for k in range(3):  # torques are not read
                value = np.where(np.arange(6) == k, number, 0.0)
                _spoil(stage, force, _wrench(robot, value, FOOT))
                drops[Cause.NOT_FINITE] += 1
    return Outcome(base_drops=drops, follows=EARLY)


@contextlib.contextmanager
def _hearing(stage, values, restored, **kinds):
    """Let the node hear topics, with a publisher of each, for as long as this lasts."""
    robot = stage.robot
    publishers = [
        robot.graph.node.create_publisher(kind, robot.topic(name), qos_profile_sensor_data)
        for name, kind in kinds.items()
    ]
    set_and_wait(robot, values, START)
    robot.wait_for(lambda: all(p.get_subscription_count() for p in publishers))
    try:
        yield publishers
    finally:
        set_and_wait(robot, restored)
        for publisher in publishers:
            robot.graph.node.destroy_publisher(publisher)


def _shake_hands(stage, *sends):
    """Send all there is until the node answers: endpoints know of each other by then."""

    def answered():
        for send in sends:
            send()
        return stage.robot.answer_soon(stage.good(answer=False))

    stage.robot.wait_for(answered, START)


def _spoil(stage, publisher, message):
    """Publish what has to be dropped; go on once it must have been taken."""
    publisher.publish(message)
    for _ in range(2):
        stage.good()


def _wrench(robot, values, frame=WRENCH_LINK):
    return fill(WrenchStamped(), wrench_stamped(robot.tick(), values, frame))


def _spoilt_contacts(number):
    """Yield each field of a contact that is read, with a number in it."""
    yield from ({name: number} for name in ('stiffness', 'damping'))
    for k in range(7):
        values = np.concatenate(POSE)
        values[k] = number
        place, turn = values[:3].tolist(), values[3:].tolist()
        yield {'place': place, 'turn': turn}
        yield {'placement': (place, turn)}
