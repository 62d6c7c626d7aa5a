# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Transforms without their package, and clocks that jump, over DDS."""

from rosgraph_msgs.msg import Clock
from support.built_messages import INSTALLED, TF2
from support.messages import SECOND
from support.ros_graph import set_and_wait

from geolin_ros import robots


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
    client.new_drops()
    client.wait_for(has_heard_it)
    client.time -= SECOND // 2
    client.wait_for(lambda: (set_clock(), 'clock jumped by -0.' in client.process.log)[1])
    assert client.ask().header.stamp.nanosec == client.time % SECOND
    assert client.new_drops() == {}
