# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot stands on the efforts of the LQR node while others die or lie.

Whatever happens, efforts stay within the limits of the URDF and change no faster than
full_swing_time allows; what is fallen back to is said.
"""

import contextlib
import copy
import os
import signal

import numpy as np
import pytest
from std_msgs.msg import String
from support.ros_graph import RELIABLE, START, Process
from support.standing import urdf_of
from support.standing_graph import PERIOD, SLOWLY, StandingRobot

from geolin_msgs.msg import ContactState, ContactStates, LinearizedDynamics
from geolin_ros.stream.message_fields import write_pose, write_stamp

FULL_SWING = 0.2
"""Ten times slower than by default: a tenth of a limit in a period would be seen."""
GAINS_TIMEOUT = 0.2
STANDS = 0.05
"""[m]: it falls by far more; a busy machine loses states, and motors hold what they have."""


class Bench:
    """Robot, LQR node and linearizer, and between these two a hand that may spoil messages."""

    def __init__(self, graph, folder):
        self.robot = robot = StandingRobot(graph, folder)
        self.linearizer, self.spoil, self.passed = None, copy.deepcopy, 0
        node = graph.node
        topic = f'{robot.namespace}/linearization'
        self.publisher = node.create_publisher(LinearizedDynamics, topic, RELIABLE)
        node.create_subscription(
            LinearizedDynamics,
            f'{robot.namespace}/linearizer/linearization',
            self._pass_on,
            RELIABLE,
        )
        self.number = 0

    def start_regulator(self):
        """Start one, or another one."""
        self.robot.start(
            *('-r', 'linearizer/linearization:=linearization'),
            full_swing_time=FULL_SWING,
            gains_timeout=GAINS_TIMEOUT,
        )

    def start_linearizer(self):
        """Start one, or another one."""
        robot, self.number = self.robot, self.number + 1
        folder = robot.folder / f'linearizer{self.number}'
        folder.mkdir()
        self.linearizer = Process(
            folder,
            {
                'overlay_file': str(robot.folder / 'overlay.yaml'),
                'contact_source': 'topic',
                'max_rate': 50.0,
            },
            robot.namespace,
            environment=robot.graph.environment,
            forked=True,
        )

    def end(self):
        """End the processes that run."""
        for process in (self.robot.process, self.linearizer):
            if process is not None:
                process.end()

    def _pass_on(self, message):
        message = self.spoil(message)
        if message is not None:
            self.passed += 1
            self.publisher.publish(message)

    def publish(self):
        """Say contacts too, now and then."""
        robot = self.robot
        if round(robot.simulator.time / PERIOD) % 20 == 0:
            message = ContactStates()
            message.header.frame_id = 'odom'
            write_stamp(message.header.stamp, 10**12 + round(robot.simulator.time * 1e9))
            for support in robot.point.supports:
                entry = ContactState(frame=support.frame, kind=1, active=True)
                entry.reference.orientation.w = 0.0
                write_pose(entry.placement, np.array(support.placement, dtype=float))
                message.contacts.append(entry)
            robot.contacts.publish(message)
        return robot.publish()

    def live(self, duration, patience=0.1, publish=None):
        """As `StandingRobot.live`."""
        return self.robot.live(duration, patience, publish or self.publish)

    def stand(self):
        """Hold the robot where it should be until it is fed back on fresh linearizations."""
        robot = self.robot
        robot.process.check_runs()
        if self.linearizer is None or self.linearizer.process.poll() is not None:
            self.start_linearizer()
        self.spoil = copy.deepcopy
        robot.wait_for(self.publisher.get_subscription_count, START)
        for _ in range(5):  # a busy machine loses states
            robot.simulator.state = robot.posture
            passed = self.passed
            robot.wait_for(
                lambda passed=passed: self._is_led() and self.passed > passed + 3, START, SLOWLY
            )
            robot.history = [robot.given[-1][1]]
            if self.live(0.1) < STANDS:
                return
        pytest.fail(f'the robot does not stand:\n{robot.process.log}')

    def _is_led(self):
        """Send a state of the robot held still; return whether it was answered by feedback."""
        robot = self.robot
        robot.history = [robot.point.tau]
        self.publish()
        robot.simulator.data.time += PERIOD
        last = robot.given[-1][1] if robot.given else np.full(12, np.inf)
        return np.allclose(last, robot.point.tau, atol=0.5)

    @property
    def said(self):
        """Mode and reason in the newest diagnostics."""
        robot = self.robot
        count = len(robot.diagnostics)
        while len(robot.diagnostics) < count + 2:  # the first may be of before
            self.live(0.02)
        return robot.diagnostics[-1].message

    def values(self):
        """Return what the newest diagnostics hold."""
        return {value.key: value.value for value in self.robot.diagnostics[-1].values}


@contextlib.contextmanager
def regulated(graph, folder):
    """Give a bench with an LQR node."""
    bench = Bench(graph, folder)
    try:
        bench.start_regulator()
        yield bench
    finally:
        bench.end()


@contextlib.contextmanager
def standing(bench, accounts, test):
    """Let the robot stand, and check and note all efforts since."""
    bench.stand()
    before = len(bench.robot.given)
    yield bench
    efforts = bench.robot.check_efforts(FULL_SWING, before)
    fault, _, given = test.removeprefix('test_').partition('__')
    _, _, values = given.partition('[')
    words = ': '.join(filter(None, (fault, values.removesuffix(']'))))
    accounts.append((words.replace('_', ' '), *efforts))


@pytest.fixture(scope='module')
def served(graph, tmp_path_factory):
    with regulated(graph, tmp_path_factory.mktemp('standing')) as bench:
        yield bench


@pytest.fixture
def bench(served, command_accounts, request):
    with standing(served, command_accounts, request.node.name) as bench:
        yield bench


@pytest.fixture
def own_bench(own_graph, tmp_path, command_accounts, request):
    """For one test that kills."""
    with (
        regulated(own_graph, tmp_path) as bench,
        standing(bench, command_accounts, request.node.name),
    ):
        yield bench


def says(bench, text, since):
    """Whether the LQR node has logged a text since."""
    return text in bench.robot.process.log[since:]


def test_killed_linearizer__is_followed_by_damping(own_bench):
    since = len(own_bench.robot.process.log)
    own_bench.linearizer.kill()
    assert own_bench.live(0.5 * GAINS_TIMEOUT) < STANDS  # for as long as gains are trusted
    own_bench.live(GAINS_TIMEOUT)
    assert says(own_bench, 'damping: no linearization for 0.2', since)
    assert own_bench.said.startswith('damping no linearization for')


def test_stopped_linearizer__is_followed_by_damping_until_it_goes_on(bench):
    since, pid = len(bench.robot.process.log), bench.linearizer.process.pid
    os.kill(pid, signal.SIGSTOP)
    bench.live(1.5 * GAINS_TIMEOUT)
    assert says(bench, 'damping: no linearization', since)
    os.kill(pid, signal.SIGCONT)
    since = len(bench.robot.process.log)
    bench.live(0.3)
    assert says(bench, ': feedback', since)


def spoiled(message):
    """Return a copy of a message with NaN in A."""
    message = copy.deepcopy(message)
    message.a.data[7] = np.nan
    return message


def test_linearizations_with_nan__are_none(bench):
    since = len(bench.robot.process.log)
    bench.spoil = spoiled
    bench.live(2.0 * GAINS_TIMEOUT)
    assert says(bench, 'damping: no linearization for', since)
    before = int(bench.values().get('dropped: NaN or inf', 0))
    assert bench.said.startswith('damping')
    assert int(bench.values()['dropped: NaN or inf']) > before


def test_stopped_lqr_node__goes_on_within_limits(bench):
    robot = bench.robot
    pid = robot.process.process.pid
    os.kill(pid, signal.SIGSTOP)
    bench.live(0.1, 0.005)
    os.kill(pid, signal.SIGCONT)
    bench.live(0.1)


def served_again(bench, change):
    """Let the node be changed as the robot stands; check that it is fed back all the while."""
    robot = bench.robot
    since, served = len(robot.process.log), robot.process.log.count('serve quadruped')
    robot.gains.clear()
    change()
    for _ in range(100):
        assert bench.live(0.02) < STANDS
        if robot.process.log.count('serve quadruped') > served and robot.gains:
            break
    else:
        pytest.fail(f'nothing has changed:\n{robot.process.log}')
    assert bench.live(0.2) < STANDS
    assert not says(bench, 'no gains yet', since)


def test_parameters_that_change__leave_the_feedback_alone(bench):
    """Until there are gains of other weights, while the robot stands."""
    robot = bench.robot
    served_again(bench, lambda: robot.set_parameters(ramp_time=0.3))
    served_again(bench, lambda: robot.set_parameters(weights=['joint_rates=2.5']))
    heavy = np.array(robot.gains[-1].k.data)
    served_again(bench, lambda: robot.set_parameters(weights=['joint_rates=5.0']))
    change = np.abs(np.array(robot.gains[-1].k.data) - heavy).max()
    assert change > 0.01 * np.abs(heavy).max()


def test_description_of_another_load__leaves_the_feedback_alone_until_there_are_gains(bench):
    robot, text = bench.robot, urdf_of('quadruped').read_text()
    hashes = []
    for description in (text.replace('value="6.96"', 'value="7.06"'), text):
        served_again(bench, lambda text=description: robot.description.publish(String(data=text)))
        hashes.append(robot.gains[-1].model_hash)
    assert hashes[0] != hashes[1] == robot.model.hash


def test_efforts_that_are_wanted_no_more__go_to_zero_and_come_from_what_is_there(bench):
    robot = bench.robot
    for _ in range(5):  # a busy node may still take a state of before, when there was no effort
        robot.set_parameters(publish_efforts=False)
        robot.wait_for(lambda: bench.live(0.02, 0.005) and not robot.given[-1][1].any())
        count = len(robot.given)
        bench.live(0.1, 0.0)
        assert len(robot.given) <= count + 3
        robot.simulator.state, robot.history = robot.posture, [0.5 * robot.point.tau]
        robot.set_parameters(publish_efforts=True)
        count = len(robot.given)
        robot.wait_for(lambda count=count: bench.publish() and len(robot.given) > count)
        first = robot.given[count][1]
        if first.any():
            break
    np.testing.assert_allclose(first, robot.history[-1], atol=1e-12)


def test_killed_lqr_node__leaves_the_last_efforts_and_goes_on_from_them(own_bench):
    robot = own_bench.robot
    robot.process.kill()
    assert own_bench.live(0.02, 0.0) < STANDS
    np.testing.assert_array_equal(robot.history[-1], robot.given[-1][1])
    robot.simulator.state, count = robot.posture, len(robot.given)
    assert np.abs(robot.history[-1]).max() > 1.0
    own_bench.start_regulator()
    robot.wait_for(lambda: own_bench.publish() and len(robot.given) > count, START, SLOWLY)
    np.testing.assert_allclose(robot.given[count][1], robot.history[-1], atol=1e-12)
    own_bench.stand()
    assert own_bench.live(0.2) < STANDS
