# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator on a graph with another controller: answers that it waits for, and pushes.

Clocks are compared one way only: what must not be over before is not, however slow the machine.
"""

import time

import numpy as np
import pytest
from support.standing import standing_robot, urdf_of

pytest.importorskip('mujoco')
pytest.importorskip('geolin_msgs.msg')
rclpy = pytest.importorskip('rclpy')

from geolin_demos.balance.graph import (  # noqa: E402
    COMMANDS,
    STAMPED_COMMANDS,
    Answers,
    RobotGraph,
    Run,
)
from geolin_demos.sim.simulator import Simulator  # noqa: E402
from geolin_tools.view.live import PUSH_TIME, Live, Watcher  # noqa: E402
from rclpy.context import Context  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402

from geolin_ros import TreeModel, robots  # noqa: E402
from geolin_ros.control.posture import standing_posture  # noqa: E402
from geolin_ros.stream.message_fields import write_stamp  # noqa: E402

PERIOD, PLENTY = 0.02, 20.0
MODEL = TreeModel.from_urdf(robots.path('quadruped'))
EFFORTS = np.arange(12.0)


@pytest.fixture
def table(ros_domain):
    """Return the robot's graph, and what sends an answer to a stamp and waits for its way."""
    rclpy.init()
    robot = rclpy.create_node('robot')
    graph = RobotGraph(robot, MODEL, '<robot/>', ['FL_foot'])
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node('controller', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    speakers = [
        node.create_publisher(Float64MultiArray, COMMANDS, 1),
        node.create_publisher(JointState, STAMPED_COMMANDS, 1),
    ]

    def answer(stamp):
        while not all(speaker.get_subscription_count() for speaker in speakers):
            executor.spin_once(timeout_sec=0.05)
        stamped = JointState(effort=EFFORTS.tolist())
        write_stamp(stamped.header.stamp, stamp)
        speakers[0].publish(Float64MultiArray(data=EFFORTS.tolist()))
        speakers[1].publish(stamped)

    yield graph, answer
    graph.close()
    robot.destroy_node()
    executor.shutdown()
    node.destroy_node()
    context.try_shutdown()
    rclpy.try_shutdown()


def test_lock_step__goes_on_with_the_answer_and_counts_what_never_comes(table):
    graph, answer = table
    answers = Answers(graph, PERIOD, PLENTY, is_realtime=False)
    sent = time.monotonic()
    answer(1)
    answers.wait(sent, 1)
    assert (len(answers.latencies), answers.missed) == (1, 0)
    assert 0.0 < answers.latencies[0] < PLENTY
    assert time.monotonic() < sent + PLENTY  # it did not wait for more
    np.testing.assert_array_equal(graph.efforts, EFFORTS)
    impatient = Answers(graph, PERIOD, 2 * PERIOD, is_realtime=False)
    sent = time.monotonic()
    impatient.wait(sent, 2)
    assert (len(impatient.latencies), impatient.missed) == (0, 1)
    assert time.monotonic() >= sent + 2 * PERIOD
    assert np.isnan(impatient.percentiles()).all()


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
