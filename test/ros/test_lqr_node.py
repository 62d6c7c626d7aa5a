# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The LQR node keeps MuJoCo's quadruped standing over DDS, and lets it go safely."""

import signal

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geolin_control.feedback_messages import read_gains
from support.ros_graph import LATCHED
from support.standing import SUPPORTS
from support.standing_graph import PERIOD, StandingRobot, Transition

from geolin_msgs.msg import ContactState, ContactStates, FeedbackGains
from geolin_ros.control.lqr import design
from geolin_ros.model.labels import state_labels


@pytest.fixture
def robot(graph, tmp_path):
    robot = StandingRobot(graph, tmp_path)
    yield robot
    if robot.process is not None:
        robot.process.end()


def test_quadruped__stands_and_its_gains_are_those_of_the_library(robot):
    robot.start()
    robot.begin()
    assert robot.live(1.0) < 0.01
    robot.check_efforts()
    robot.wait_for(lambda: robot.gains and robot.efforts)
    message, latched = robot.gains[0], []
    node, topic = robot.graph.node, f'{robot.namespace}/lqr_node/gains'
    late = node.create_subscription(FeedbackGains, topic, latched.append, LATCHED)
    robot.wait_for(lambda: latched)
    assert latched[0] == robot.gains[-1]
    node.destroy_subscription(late)
    expected = design(robot.model, robot.point)
    state, feedforward, K, columns = read_gains(message)
    np.testing.assert_allclose(K, expected.K + expected.K_complement, rtol=1e-6, atol=1e-3)
    np.testing.assert_allclose(feedforward, robot.point.tau, atol=1e-6)
    np.testing.assert_allclose(state.data, robot.posture.data, atol=1e-9)
    assert message.model_hash == robot.model.hash
    assert columns == tuple(label.name for label in state_labels(robot.model))
    assert [contact.frame for contact in message.contacts] == list(expected.contacts)
    assert message.solved == message.SOLVED_COLD
    assert 0.9 < message.margin < 1.0
    robot.diagnostics.clear()
    for _ in range(100):  # once a second by the clock, while states come
        robot.live(0.1)
        if 'feedback' in (report.message for report in robot.diagnostics):
            break
    else:
        pytest.fail(f'{[report.message for report in robot.diagnostics]}')
    robot.transition(Transition.TRANSITION_DEACTIVATE)
    robot.transition(Transition.TRANSITION_ACTIVATE)
    known = len(robot.gains)

    def are_new():
        robot.publish()
        robot.simulator.data.time += PERIOD
        return len(robot.gains) > known

    robot.wait_for(are_new)  # else nobody would ever have heard of some that were made meanwhile
    robot.process.stop()


def test_silence__of_the_robot_lets_its_joints_go(robot):
    robot.start()
    robot.begin()
    robot.live(0.1)
    robot.efforts.clear()
    done = robot.set_parameters(input_timeout=0.05)  # not before: this side may be late too
    robot.wait_for(done.done)
    assert done.result().result.successful
    robot.wait_for(lambda: robot.efforts and not robot.efforts[-1].any())
    steps = np.abs(np.diff([robot.history[-1], *robot.efforts], axis=0))
    assert np.all(steps <= 2.0 * np.array(robot.model.limits.effort))
    robot.wait_for(lambda: robot.diagnostics and 'no state' in robot.diagnostics[-1].message)
    assert 'release: no state for' in robot.process.log


@pytest.mark.parametrize(
    'end',
    [
        signal.SIGTERM,
        Transition.TRANSITION_ACTIVE_SHUTDOWN,
        *(pytest.param(end, marks=pytest.mark.soak) for end in (signal.SIGINT, signal.SIGHUP)),
    ],
)
def test_end_of_the_node__lets_the_joints_go_as_slowly_as_ever(robot, end):
    """Effort controllers keep the last effort they were sent: it has to be zero."""
    full_swing_time, period = 2.0, 0.005
    robot.start(full_swing_time=full_swing_time)
    robot.begin()
    since, limits = len(robot.given) - 1, np.array(robot.model.limits.effort)
    if end == Transition.TRANSITION_ACTIVE_SHUTDOWN:
        robot.transition(end)
    else:
        robot.process.stop(end)
    robot.graph.wait_for(lambda: not robot.given[-1][1].any())
    efforts = np.array([efforts for _, efforts in robot.given[since:]]) / limits
    steps = np.abs(np.diff(efforts, axis=0)).max(axis=1)
    assert np.abs(efforts[0]).max() > 0.08
    assert len(steps) >= 0.06 / (2.0 * period / full_swing_time)
    assert steps.max() <= 2.0 * 0.02 / full_swing_time + 1e-9
    assert 'release: the node' in robot.process.log


def test_contacts_without_gains__are_damped_and_the_old_ones_fed_back_again(robot):
    def stand_on(*frames):
        contacts = [ContactState(frame=frame, active=True) for frame in frames]
        robot.contacts.publish(ContactStates(contacts=contacts))

    robot.start()
    frames = [text.split(':')[0] for text in SUPPORTS['quadruped']]
    for feet in (frames[:2], []):  # two in front, and none
        robot.begin()
        since = len(robot.process.log)
        stand_on(*feet)
        said = f'damping: no gains for {", ".join(feet) or "no contacts"}: '
        reached = [robot.live(0.1), robot.live(0.5)]
        robot.wait_for(lambda since=since, said=said: said in robot.process.log[since:])
        assert reached[0] < 0.01  # on the gains in use
        robot.check_efforts()
        robot.wait_for(
            lambda: robot.diagnostics and 'no gains for' in robot.diagnostics[-1].message
        )
        assert robot.diagnostics[-1].level == DiagnosticStatus.WARN
        stand_on(*frames)
        robot.simulator.state = robot.posture


def test_node_that_waits_for_a_robot__may_be_cleaned_up(new_client, quadruped):
    client = new_client(quadruped, module='lqr_node')
    client.start()
    client.wait_for(lambda: client.state() == 'inactive')
    assert client.change_state('cleanup')
    assert not client.change_state('activate')
    assert 'Unable to start transition' not in client.process.log  # by itself
