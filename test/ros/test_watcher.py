# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `geolin view` hears of a running node."""

import time

import numpy as np
import pytest
import viser
from geolin_tools.view.live import PUSH_TIME, Live
from geometry_msgs.msg import WrenchStamped
from support.view import free_port

from geolin_ros import robots
from geolin_ros.ros.watcher import Watcher
from geolin_ros.stream.outputs.reading import read_linearization


@pytest.fixture
def watcher(robot):
    topics = ('joint_states', 'odom', 'robot_description', 'push')
    found = Watcher(robot.node_name, [f'{name}:={robot.topic(name)}' for name in topics])
    yield found
    found.close()


def live_of(robot, watcher):
    """Return the source as soon as it has heard the node, which is asked meanwhile."""
    path, deadline = robots.path('quadruped'), time.monotonic() + 60.0

    def ask():
        robot.ask()
        return time.monotonic() > deadline

    found = Live.wait_for(watcher, path, None, lambda words: None, ask)
    assert found is not None
    return found


def test_newest_linearization__is_what_is_shown(robot, watcher):
    live = live_of(robot, watcher)
    assert live.model.joint_names == robot.model.joint_names
    message = robot.ask()
    expected = read_linearization(message)

    def shown():
        instant = live.newest()
        is_whole = instant is not None and instant.A is not None  # A and B come 10 times a second
        return is_whole and np.array_equal(instant.A, expected.A) and instant

    found = []
    robot.wait_for(lambda: found.append(shown()) or found[-1])
    assert found[-1].time == expected.stamp * 1e-9
    np.testing.assert_array_equal(found[-1].B, expected.B)
    np.testing.assert_array_equal(found[-1].state.data, expected.state.data)


def test_latency_and_drops__are_those_of_the_node(robot, watcher):
    live = live_of(robot, watcher)
    robot.send(robot.make_joint_state(robot.tick(), position=[float('nan')] * robot.model.n))
    robot.ask()

    def heard():
        live.newest()
        health = live.health()
        return health is not None and health.dropped and 'latency p50 [us]' in health.values

    robot.wait_for(heard)
    health = live.health()
    assert health.dropped >= 1
    assert 0.0 < health.latency < 10.0
    assert int(health.values['joint states']) >= 1


def test_push__is_said_to_reach_nobody_until_somebody_takes_it(robot, watcher):
    live, pushes = live_of(robot, watcher), []
    server = viser.ViserServer('127.0.0.1', free_port(), verbose=False)
    try:
        live.add_controls(server.gui)
        live.push('left', 0.04)
        assert 'nobody takes pushes' in live._pushing.content
        node = robot.graph.node
        taker = node.create_subscription(WrenchStamped, robot.topic('push'), pushes.append, 10)
        robot.wait_for(lambda: watcher.is_heard)
        live.push('left', 0.04)
        robot.wait_for(lambda: pushes)
        node.destroy_subscription(taker)
        robot.wait_for(lambda: not watcher.is_heard)
        live.push('left', 0.04)
        assert 'nobody takes pushes' in live._pushing.content
    finally:
        server.stop()
    force = pushes[-1].wrench.force
    expected = 0.04 * live.model.total_mass * 9.81 / PUSH_TIME
    np.testing.assert_allclose((force.x, force.y, force.z), (0.0, expected, 0.0), atol=1e-9)
