# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inputs that cannot be used: counted by cause, logged once, dropped; the next is answered."""

import contextlib
from math import nan

import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped

from geolin_ros import robots
from geolin_ros.stream.drops import Cause


def ignored(robot, joints):
    """Whether the next good message is answered while ``joints`` never is."""
    robot.ask()
    return robot.answer_to(joints) is None


def joint_state(robot, **changes):
    return robot.make_joint_state(robot.tick(), **changes)


def test_bytes_that_are_no_joint_state__are_said_and_dropped(robot):
    robot.ask()
    robot.joint_states.publish(b'\x00\x01\x00\x00' + bytes(8))
    robot.wait_for(lambda: '12 bytes are no JointState' in robot.process.log)
    robot.ask()


def test_bad_joint_state__is_counted_said_once_and_dropped(robot):
    """By one cause; test_drills.py counts others, test/stream all of them."""
    robot.ask()
    sent = [joint_state(robot, velocity=[0.0] * 11 + [nan]) for _ in range(4)]
    for joints in sent:
        robot.send(joints)
    assert all(ignored(robot, joints) for joints in sent)
    assert robot.new_drops() == {Cause.NOT_FINITE.value: 4}
    assert robot.process.log.count("joint 'RR_calf_joint' has velocity nan") == 1


def test_diagnostics__judge_the_last_second(robot):
    def is_said(level, text, good, bad):
        """Whether that is said of so many messages; a report may come in between."""
        robot.next_diagnostics()
        for _ in range(good):
            robot.ask()
        for _ in range(bad):
            robot.send(joint_state(robot, velocity=[]))
        return robot.next_diagnostics()[:2] == (level, text)

    for expected in (
        (DiagnosticStatus.STALE, 'no joint states', 0, 0),
        (DiagnosticStatus.ERROR, 'none of 3 joint states could be used', 0, 3),
        (DiagnosticStatus.WARN, '1 of 2 joint states dropped', 1, 1),
    ):
        robot.wait_for(lambda expected=expected: is_said(*expected))
    robot.new_drops()


def test_topic_of_another_type__is_named_with_both_types(client):
    client.start(robot_description_file=str(robots.path('quadruped')))
    client.wait_until_active()
    with contextlib.ExitStack() as stranger:
        context = rclpy.Context()  # a participant of its own: one knows a topic by one type
        rclpy.init(context=context)
        stranger.callback(context.shutdown)
        node = rclpy.create_node('stranger', context=context)
        stranger.callback(node.destroy_node)
        node.create_publisher(PoseStamped, client.topic('odom'), 10)
        expected = (
            f'topic {client.topic("odom")} is published as geometry_msgs/msg/PoseStamped by node '
            'stranger, expected nav_msgs/msg/Odometry'
        )
        client.wait_for(lambda: expected in client.process.log)
    assert 'set parameter base_source' in client.process.log
