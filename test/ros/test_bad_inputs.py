# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inputs that cannot be used: counted by cause, logged once, dropped; the next is answered."""

import contextlib
from math import nan

import pytest
import rclpy
from geometry_msgs.msg import PoseStamped
from support.messages import SECOND
from support.ros_graph import DiagnosticStatus

from geolin_ros import robots
from geolin_ros.stream.drops import Cause


def ignored(robot, joints):
    """Whether the next good message is answered while ``joints`` never is."""
    robot.ask()
    return robot.answer_to(joints) is None


def joint_state(robot, **changes):
    return robot.make_joint_state(robot.tick(), **changes)


JOINT_STATES = {
    Cause.MISSING_JOINT: lambda robot: joint_state(robot, name=['knee'] * 12),
    Cause.LENGTH: lambda robot: joint_state(robot, position=[0.0] * 11),
    Cause.MISSING_VELOCITY: lambda robot: joint_state(robot, velocity=[]),
    Cause.MISSING_EFFORT: lambda robot: joint_state(robot, effort=[]),
    Cause.NOT_FINITE: lambda robot: joint_state(robot, velocity=[0.0] * 11 + [nan]),
    Cause.BACKWARDS: lambda robot: robot.make_joint_state(robot.time - SECOND // 2 - 7),
    Cause.SKEW: lambda robot: robot.make_joint_state(robot.tick(51)),
}
SAYS = {
    Cause.MISSING_JOINT: "no joint 'FL_hip_joint' of robot 'quadruped'; it has 'knee'",
    Cause.LENGTH: '11 entries in position, expected 12',
    Cause.MISSING_VELOCITY: '0 entries in velocity, expected 12',
    Cause.MISSING_EFFORT: '0 entries in effort, expected 12',
    Cause.NOT_FINITE: "joint 'RR_calf_joint' has velocity nan",
    Cause.BACKWARDS: 'expected a later stamp',
    Cause.SKEW: 'expected at most 0.05 s; raise max_skew',
}


def test_bytes_that_are_no_joint_state__are_said_and_dropped(robot):
    robot.ask()
    robot.joint_states.publish(b'\x00\x01\x00\x00' + bytes(8))
    robot.wait_for(lambda: '12 bytes are no JointState' in robot.process.log)
    robot.ask()


@pytest.mark.parametrize('cause', JOINT_STATES, ids=lambda cause: cause.name.lower())
def test_bad_joint_state__is_counted_said_once_and_dropped(robot, cause):
    robot.ask()
    sent = []
    for _ in range(4):
        sent.append(JOINT_STATES[cause](robot))
        robot.send(sent[-1])
    assert all(ignored(robot, joints) for joints in sent)
    assert robot.new_drops() == {cause.value: 4}
    assert robot.process.log.count(SAYS[cause]) == 1


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
