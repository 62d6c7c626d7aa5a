# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Interpolation, joint states in parts, frame prefixes and clocks that jump, over DDS."""

import numpy as np
from rosgraph_msgs.msg import Clock
from support.built_messages import INSTALLED, TF2
from support.close import assert_close
from support.messages import SECOND
from support.ros_graph import set_and_wait

from geolin_ros import robots
from geolin_ros.stream.outputs.reading import read_linearization


def test_interpolation__waits_for_the_next_odometry(robot):
    set_and_wait(robot, {'pairing': 'interpolate'})
    robot.send(base=robot.make_odometry(robot.tick(), twist_values=np.zeros(6)))
    joints = robot.make_joint_state(robot.tick(5))
    taken = int(robot.next_diagnostics()[2]['joint states'])
    robot.send(joints)
    robot.wait_for(lambda: int(robot.next_diagnostics()[2]['joint states']) > taken)
    assert robot.answer_soon(joints, 0.1) is None
    robot.send(base=robot.make_odometry(robot.tick(5), twist_values=np.ones(6)))
    message = robot.wait_for(lambda: robot.answer_to(joints))
    assert_close(read_linearization(message).state.v, np.full(6, 0.5), 1e-12)
    robot.wait_for(lambda: robot.summaries[-1].header.stamp == joints.header.stamp)
    assert robot.summaries[-1].latency > 0.05  # of the 0.1 s that it has waited
    set_and_wait(robot, {'pairing': 'newest'})


def test_parts__from_two_publishers_are_merged(robot):
    other = robot._publisher(type(robot.make_joint_state(0)), 'joint_states', 10)
    robot.wait_for(other.get_subscription_count)
    set_and_wait(robot, {'joint_states_in_parts': True})
    names = robot.model.joint_names

    def answered():
        stamp = robot.tick()
        first, second = (robot.make_joint_state(stamp, half) for half in (names[:5], names[5:]))
        robot.send(base=robot.make_odometry(stamp))
        robot.joint_states.publish(first)
        other.publish(second)
        message = robot.answer_soon(first)
        if message is not None:
            expected = [*first.position, *second.position]
            np.testing.assert_array_equal(message.state.joint_positions, expected)
        return message

    robot.wait_for(answered)
    _, _, values = robot.next_diagnostics()
    assert int(values['merged into later ones']) > 0
    set_and_wait(robot, {'joint_states_in_parts': False})


def test_transforms__without_their_messages_are_refused(robot):
    accepted, reason = robot.set_parameters(base_source='tf')
    assert accepted is INSTALLED[TF2]
    if INSTALLED[TF2]:
        set_and_wait(robot, {'base_source': 'odometry'})
    else:
        assert 'base_source is tf, which needs the package tf2_msgs' in reason


def test_clock_that_jumps_back__starts_the_pairing_anew(graph, client):
    """By half a second: too little to be seen from stamps alone."""
    clock = graph.node.create_publisher(Clock, client.topic('clock'), 10)
    client.start(
        *('-r', f'/clock:={client.topic("clock")}'),
        robot_description_file=str(robots.path('quadruped')),
        use_sim_time=True,
    )
    client.wait_until_active()
    client.wait_until_serving()
    client.wait_for(clock.get_subscription_count)

    def set_clock():
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(client.time, SECOND)
        clock.publish(message)

    def has_heard_it():
        set_clock()
        _, _, values = client.next_diagnostics()
        return abs(float(values['age of the newest joint state [s]'])) < 10.0

    client.shake_hands()
    client.wait_for(has_heard_it)
    client.time -= SECOND // 2
    client.wait_for(lambda: (set_clock(), 'clock jumped by -0.' in client.process.log)[1])
    assert client.ask().header.stamp.nanosec == client.time % SECOND
    assert client.new_drops() == {}
