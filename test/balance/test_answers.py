# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Waiting for answers: in lock step and against the clock, on a graph with another controller.

Clocks are compared one way only: what must not be over before is not, however slow the machine.
"""

import time

import numpy as np
import pytest

pytest.importorskip('mujoco')
pytest.importorskip('geolin_msgs.msg')
rclpy = pytest.importorskip('rclpy')

from geolin_demos.balance.answers import Answers  # noqa: E402
from geolin_demos.balance.graph import COMMANDS, STAMPED_COMMANDS, RobotGraph  # noqa: E402
from rclpy.context import Context  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402

from geolin_msgs.msg import ContactState, FeedbackGains  # noqa: E402
from geolin_ros import TreeModel, robots  # noqa: E402
from geolin_ros.control.support import Support  # noqa: E402
from geolin_ros.stream.geometry import write_stamp  # noqa: E402

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


def test_old_answer__is_none_to_a_new_state(table):
    graph, answer = table
    answers = Answers(graph, PERIOD, 2 * PERIOD, is_realtime=False)
    answer(1)
    assert graph.spin_until(time.monotonic() + PLENTY, 1)
    answers.wait(time.monotonic(), 2)
    assert answers.missed == 1


def test_realtime__takes_a_period_with_an_answer_and_without(table):
    graph, answer = table
    answer(1)
    assert graph.spin_until(time.monotonic() + PLENTY, 1)  # it is there before it is waited for
    answers = Answers(graph, PERIOD, PLENTY, is_realtime=True)
    start = time.monotonic()
    answers.wait(start, 1)
    assert (len(answers.latencies), answers.missed) == (1, 0)
    assert time.monotonic() >= start + 0.8 * PERIOD
    for count, stamp in enumerate((2, 3), start=1):
        answers.wait(time.monotonic(), stamp)
        assert (len(answers.latencies), answers.missed) == (1, count)
    assert time.monotonic() >= start + 2.6 * PERIOD
    assert time.monotonic() < start + PLENTY  # its time-out is that of lock step


def test_late_robot__leaves_its_controller_a_period(table):
    graph, _ = table
    answers = Answers(graph, PERIOD, PLENTY, is_realtime=True)
    late = time.monotonic() + 5 * PERIOD
    while time.monotonic() < late:
        graph.spin_until(late)
    sent = time.monotonic()
    answers.wait(sent, 1)
    assert time.monotonic() >= sent + PERIOD
    assert answers.missed == 1


def test_feet_that_the_controller_does_not_stand_on__are_named(table):
    graph, answer = table
    supports = [Support('FL_foot'), Support('FR_foot')]
    deadline = time.monotonic() + PLENTY
    while graph.waits_for(supports[:1]).startswith('a publisher'):
        assert time.monotonic() < deadline  # by then the graph knows it
        time.sleep(PERIOD)
    assert graph.waits_for(supports[:1]).startswith('efforts from the controller')
    answer(1)
    graph.spin_until(time.monotonic() + PLENTY, 1)
    graph.gains = FeedbackGains(contacts=[ContactState(frame='FL_foot')])
    assert graph.waits_for(supports) == (
        'gains for FL_foot, FR_foot, on which the robot stands; those that came are for FL_foot: '
        'set parameter supports of lqr_node, or --feet'
    )
    graph.gains.source = FeedbackGains.SOURCE_MODEL
    assert 'start linearizer' in graph.waits_for(supports[:1])
