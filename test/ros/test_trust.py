# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node says of its own numbers and of its inputs, over DDS."""

import re
import time
from pathlib import Path

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geolin_demos.demo.flight import Flight
from support import wrong_node
from support.messages import SECOND
from support.ros_graph import START

from geolin_ros import robots
from geolin_ros.cli import main
from geolin_ros.spatial.se3 import quaternion_from_rotation
from geolin_ros.stream.failed_check import load_failed_check
from geolin_ros.stream.parameters.linearizer import BY_NAME

QUADRUPED = str(robots.path('quadruped'))
EVERY = 40


def test_one_wrong_entry_of_a__is_reported_within_two_rounds(client, capsys):
    """The entry is off by 1e-3 of its block; message, log, diagnostics and a file tell of it.

    At 500 Hz at most; test_self_check.py has it of discrete forms too.
    """
    client.module = wrong_node.__file__
    client.serve()

    every = BY_NAME['certificate.every'].default
    due = time.perf_counter()
    deadline = due + START  # for a thread that a busy machine may let wait
    while not (message := client.ask()).trust.failed:
        assert message.trust.failures == 0
        assert time.perf_counter() < deadline
        due = max(due + 0.002, time.perf_counter())
        client.wait_for(lambda due=due: time.perf_counter() >= due)
    assert len(client.linearizations) > wrong_node.RIGHT
    trust = message.trust
    number = [one.header.stamp for one in client.linearizations].index(trust.stamp)
    assert number <= wrong_node.RIGHT + 2 * every
    assert trust.checked
    assert trust.limit == pytest.approx(1e-8)
    assert trust.limit < trust.deviation < 1e-2
    assert trust.mass_matrix_condition > 1.0
    checked = trust.stamp.sec * SECOND + trust.stamp.nanosec
    assert checked < message.header.stamp.sec * SECOND + message.header.stamp.nanosec
    client.wait_for(lambda: client.summaries[-1].trust_deviation == trust.deviation)

    level, text, values = client.next_diagnostics()
    assert level == DiagnosticStatus.ERROR
    assert text.startswith('A and B are wrong: ')
    assert 'in v by s' in text
    assert int(values['failed checks']) >= 1

    client.wait_for(lambda: 'geolin recheck ' in client.process.log)
    line = next(line for line in client.process.log.splitlines() if 'A and B are wrong' in line)
    assert '[ERROR]' in line
    assert 's = [' in line  # the state
    path = line.partition('geolin recheck ')[2].rstrip('`')
    assert Path(path).parent == client.folder
    assert main(['recheck', path]) == 0
    said = capsys.readouterr().out
    assert said.count('failed, ') == 2
    assert 'computed anew:   passed' in said


def test_failed_check_of_a_robot_that_was_described_anew__is_about_that_robot(client):
    """The newest description cannot be used: the robot of the one before is served, and kept."""
    text = robots.path('quadruped').read_text().replace('"quadruped"', '"../../a/robot"')
    client.module = wrong_node.__file__
    client.describe(text)
    client.start(certificate__every=EVERY, certificate__budget=1.0)
    client.wait_until_active()
    client.wait_until_serving('../../a/robot')
    client.describe('<robot name="quadruped"/>')
    client.wait_for(lambda: 'keep the model' in client.process.log)
    client.shake_hands()
    client.wait_for(lambda: client.ask().trust.failed, START)
    client.wait_for(lambda: 'geolin recheck ' in client.process.log)
    path = Path(re.search('geolin recheck (.*)`', client.process.log)[1])
    assert path.name.startswith('failed-check-.._.._a_robot-')
    assert load_failed_check(path).model.hash == client.linearizations[-1].model_hash
    assert main(['recheck', str(path)]) == 0


def test_failed_check_that_cannot_be_kept__is_said_all_the_same(client):
    client.module = wrong_node.__file__
    checks = {'every': EVERY, 'budget': 1.0, 'folder': '/proc/failed_checks'}
    client.serve(**{f'certificate.{name}': value for name, value in checks.items()})
    client.wait_for(lambda: client.ask().trust.failures >= 2, START)
    said = client.process.log.splitlines()
    line = next(line for line in said if 'A and B are wrong' in line)  # then again after 5 s
    assert '; not kept: ' in line
    assert '/proc/failed_checks' in line


class Flying:
    """A client whose robot flies, and whose sensors a test spoils."""

    def __init__(self, client):
        self.client, self.flight = client, Flight(client.model)
        self.frozen_joint, self.world_twist = None, False

    def send(self, count=40):
        """Send so many states, 2 ms apart by their stamps."""
        client, flight = self.client, self.flight
        for _ in range(count):
            stamp, state = client.tick(2), flight.state
            s, v = state.s.copy(), state.v.copy()
            if self.frozen_joint is not None:
                s[self.frozen_joint] = 0.5
            if self.world_twist:
                R = state.H[:3, :3]
                v = np.concatenate((R @ v[:3], R @ v[3:]))
            joints = client.make_joint_state(
                stamp,
                position=s.tolist(),
                velocity=state.r.tolist(),
                effort=flight.tau.tolist(),
            )
            turn = quaternion_from_rotation(state.H[:3, :3])
            odometry = client.make_odometry(stamp, place=state.H[:3, 3], turn=turn, twist_values=v)
            client.send(joints, odometry)
            client.answer_soon(joints)  # neither side runs ahead of the other
            flight.advance(0.002)


@pytest.fixture
def flying(client):
    client.start(robot_description_file=QUADRUPED)
    client.wait_until_active()
    client.wait_until_serving()
    client.next_diagnostics()
    return Flying(client)


def test_warnings__arrive_whole_until_what_they_ask_for_is_done(flying):
    """Longer than what `ros2 topic echo` shows of a text, unless it is asked for all."""
    flying.world_twist, flying.frozen_joint = True, 4
    words = (
        'the odometry twist is in world axes, not in child axes: set parameter '
        'odometry.twist_frame to world'
    )

    def warnings():
        """Return those of the newest diagnostics, if its message has them all and no more."""
        flying.send()
        level, message, values = flying.client.diagnostics[-1]
        found = [value for key, value in values.items() if key.startswith('warning ')]
        return found if (level, message) == (DiagnosticStatus.WARN, '; '.join(found)) else []

    flying.client.wait_for(lambda: len(found := warnings()) > 1 and words in found, START)
    assert len(flying.client.diagnostics[-1][1]) > 130
    flying.client.wait_for(lambda: words in flying.client.process.log)
    log = flying.client.process.log
    assert log.count(words) == 1  # and not once a second
    assert '[WARN]' in next(line for line in log.splitlines() if words in line)
    assert flying.client.set_parameters(odometry__twist_frame='world')[0]
    flying.client.wait_for(lambda: (found := warnings()) and words not in found, START)
