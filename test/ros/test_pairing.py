# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Transforms without their package, and clocks that jump, over DDS."""

from rosgraph_msgs.msg import Clock
from support.built_messages import INSTALLED, TF2
from support.messages import SECOND
from support.ros_graph import set_and_wait


def test_transforms__without_their_messages_are_refused(robot):
    accepted, reason = robot.set_parameters(base_source='tf')
    assert accepted is INSTALLED[TF2]
    if INSTALLED[TF2]:
        set_and_wait(robot, {'base_source': 'odometry'})
    else:
        assert 'base_source is tf, which needs the package tf2_msgs' in reason


def test_clock__is_waited_for_and_starts_the_pairing_anew_when_it_jumps_back(graph, client):
    """By half a second: too little to be seen from stamps alone."""
    client.serve(use_sim_time=True)
    _, _, values = client.next_diagnostics()
    unknown = 'unknown: use_sim_time is set, but nothing came on /clock yet'
    ages = [value for key, value in values.items() if key.startswith('age of the newest')]
    assert ages == [unknown] * 2
    clock = graph.node.create_publisher(Clock, '/clock', 10)
    client.wait_for(clock.get_subscription_count)

    def set_clock():
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(client.time, SECOND)
        clock.publish(message)

    def has_heard_it():
        set_clock()
        _, _, values = client.next_diagnostics()
        return abs(float(values['age of the newest joint state [s]'])) < 10.0

    client.new_drops()
    client.wait_for(has_heard_it)
    client.time -= SECOND // 2
    client.wait_for(lambda: (set_clock(), 'clock jumped by -0.' in client.process.log)[1])
    assert client.ask().header.stamp.nanosec == client.time % SECOND
    assert client.new_drops() == {}
    graph.node.destroy_publisher(clock)
