# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A push that comes over DDS, as from the button of `geolin view`."""

import time

import numpy as np
import pytest
from support.standing import standing_robot, urdf_of

pytest.importorskip('mujoco')
pytest.importorskip('rclpy')
pytest.importorskip('geolin_msgs.msg')

import rclpy
from geolin_demos.balance.graph import RobotGraph
from geolin_demos.balance.run import Run
from geolin_demos.sim.simulator import Simulator
from geolin_tools.view.live import PUSH_TIME, Live
from geolin_tools.view.watcher import Watcher

from geolin_ros.control.posture import standing_posture


@pytest.mark.ros
@pytest.mark.usefixtures('ros_domain')
def test_button__pushes_the_simulated_robot_for_a_tenth_of_a_second():
    model, supports = standing_robot('quadruped')
    watcher = Watcher('/linearizer')  # it starts rclpy for both
    node = rclpy.create_node('simulator')
    try:
        text = urdf_of('quadruped').read_text()
        graph = RobotGraph(node, model, text, [])
        simulator = Simulator(urdf_of('quadruped'), model, supports)
        simulator.reset(standing_posture(model, supports))
        live, run = Live(watcher, model, text), Run(simulator, graph)
        live._pushing = type('Words', (), {})()
        deadline = time.monotonic() + 60.0
        while not watcher.has_listeners and time.monotonic() < deadline:
            graph.spin_until(time.monotonic() + 0.05)
        live.push('left', 0.05)
        while not graph.pushes and time.monotonic() < deadline:
            graph.spin_until(time.monotonic() + 0.05, -2)
        run._take_pushes()
        (push,) = simulator.pushes
        impulse = 0.05 * model.total_mass * 9.81
        np.testing.assert_allclose(push.force, (0.0, impulse / PUSH_TIME, 0.0), atol=1e-9)
        assert push.duration == PUSH_TIME
        before = simulator.state.v[1]
        simulator.advance(np.zeros(model.n), 0.1)
        assert simulator.state.v[1] - before > 0.1, 'it moves to its left'
        assert live._pushing.content == f'{impulse / PUSH_TIME:.0f} N for 0.1 s, left'
        graph.close()
    finally:
        node.destroy_node()  # or its description stays on the graph as long as this process
        watcher.close()
