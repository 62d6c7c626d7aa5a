# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters changed while the node runs: one process, each test puts back what it changed."""

import contextlib
import math
import time

import pytest
from support.ros_graph import set_and_wait

from geolin_ros.stream.drops import Cause
from geolin_ros.stream.parameters.linearizer import BY_NAME


@pytest.fixture
def changed(robot):
    """Set parameters, wait until the node serves with them, and put the defaults back."""

    @contextlib.contextmanager
    def change(**values):
        set_and_wait(robot, values)
        try:
            yield
        finally:
            defaults = {name: BY_NAME[name.replace('__', '.')].default for name in values}
            set_and_wait(robot, defaults)

    return change


def test_efforts_of_a_topic__are_waited_for_and_kept_when_parameters_change(robot, changed):
    with changed(torque_source='topic'):
        joints = robot.make_joint_state(robot.tick())
        robot.send(joints, robot.make_odometry(robot.time))
        assert robot.new_drops() == {Cause.NO_EFFORT.value: 1}
        assert robot.answer_to(joints) is None
        efforts = robot.make_joint_state(robot.tick(), position=[], velocity=[])
        robot.efforts.publish(efforts)
        message = robot.ask()
        assert message.joint_efforts == efforts.effort
        assert message.effort_source == message.EFFORT_TOPIC
        with changed(reference='frozen'):
            assert robot.ask().joint_efforts == efforts.effort


def test_newest_odometry__is_kept_when_parameters_change(robot, changed):
    first = robot.ask()
    with changed(reference='frozen'):
        joints = robot.make_joint_state(robot.tick())
        message = robot.send_until_answered(joints)
    assert message.odometry_stamp == first.odometry_stamp


def test_timer__takes_the_newest_joint_state(robot, changed):
    with changed(trigger='timer', timer_rate=2.0):
        robot.ask()  # right after a tick of the timer
        sent, start = [], time.monotonic()
        for _ in range(5):
            sent.append(robot.make_joint_state(robot.tick()))
            robot.send(sent[-1], robot.make_odometry(robot.time))
        robot.wait_for(lambda: robot.answer_to(sent[-1]))
        ticks = math.ceil((time.monotonic() - start) / 0.5)  # one, on a machine that is not busy
    answered = [robot.answer_to(joints) is not None for joints in sent]
    assert answered[-1]
    assert sum(answered) <= ticks
    robot.ask()


def test_misspelled_parameters__are_said_with_what_was_meant(client, tmp_path):
    """On the command line and in a file; those of other nodes and of ROS are not."""
    file = tmp_path / 'more.yaml'
    file.write_text(
        '/**: {ros__parameters: {odometry.twist_frme: world, use_sim_time: false, zzz: 1}}\n'
        'other_node: {ros__parameters: {max_rte: 3.0}}\n'
    )
    client.start('-p', 'max_rat:=100.0', '--params-file', str(file))
    client.wait_until_active()
    said = [line for line in client.process.log.splitlines() if 'is unknown and ignored' in line]
    assert len(said) == 3, said
    assert all(line.startswith('[WARN]') for line in said)
    log = '\n'.join(said)
    assert "parameter max_rat is unknown and ignored: did you mean 'max_rate'?" in log
    assert (
        "odometry.twist_frme is unknown and ignored: did you mean 'odometry.twist_frame'?" in log
    )
    assert 'parameter zzz is unknown and ignored: `geolin parameters` prints all' in log
