# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node says of its own numbers and of its inputs, over DDS."""

import time
from pathlib import Path

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from support import wrong_node
from support.finite_difference import exp
from support.ros_graph import START

from geolin_ros import robots
from geolin_ros.cli import main
from geolin_ros.spatial.se3 import quaternion_from_rotation
from geolin_ros.stream.parameters.linearizer import BY_NAME
from geolin_ros.stream.topic_stream import nanoseconds

QUADRUPED = str(robots.path('quadruped'))


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
    trust = message.trust
    number = [one.header.stamp for one in client.linearizations].index(trust.stamp)
    assert number <= wrong_node.RIGHT + 2 * every
    assert trust.checked
    assert trust.limit == pytest.approx(1e-8)
    assert trust.limit < trust.deviation < 1e-2
    assert trust.mass_matrix_condition > 1.0
    assert nanoseconds(trust.stamp) < nanoseconds(message.header.stamp)
    client.wait_for(lambda: client.summaries[-1].trust_deviation == trust.deviation)

    level, text, values = client.next_diagnostics()
    assert level == DiagnosticStatus.ERROR
    assert text.startswith('A and B are wrong: ')
    assert 'in v by s' in text
    assert int(values['failed checks']) >= 1

    client.wait_for(lambda: 'geolin recheck ' in client.process.log)
    line = next(line for line in client.process.log.splitlines() if 'A and B are wrong' in line)
    assert '[ERROR]' in line
    path = line.partition('geolin recheck ')[2].rstrip('`')
    assert Path(path).parent == client.folder
    assert main(['recheck', path]) == 0
    said = capsys.readouterr().out
    assert said.count('failed, ') == 2
    assert 'computed anew:   passed' in said


def test_warning__is_said_until_what_it_asks_for_is_done(client):
    """Of a base that turns and moves, its twist in the wrong axes."""
    client.serve()
    client.next_diagnostics()
    words = (
        'the odometry twist is in world axes, not in child axes: set parameter '
        'odometry.twist_frame to world'
    )
    start, V = client.time, np.array((0.4, -0.3, 0.2, 0.5, 1.0, -0.7))
    first = exp(np.array((0.0, 0.0, 0.0, 2.0, 0.0, 0.0)))  # or V's axis of turning is no other

    def warnings():
        """Send; return warnings of the newest diagnostics, if its message has them all."""
        for _ in range(40):
            stamp = client.tick(2)
            H = first @ exp((stamp - start) * 1e-9 * V)
            twist = np.kron(np.eye(2), H[:3, :3]) @ V
            turn = quaternion_from_rotation(H[:3, :3])
            odometry = client.make_odometry(stamp, place=H[:3, 3], turn=turn, twist_values=twist)
            joints = client.make_joint_state(stamp)
            client.send(joints, odometry)
            client.answer_soon(joints)  # neither side runs ahead of the other
        _, message, values = client.diagnostics[-1]
        found = [value for key, value in values.items() if key.startswith('warning ')]
        return found if message == '; '.join(found) else []

    client.wait_for(lambda: words in warnings(), START)
    assert client.diagnostics[-1][0] == DiagnosticStatus.WARN
    client.wait_for(lambda: words in client.process.log)
    log = client.process.log
    assert log.count(words) == 1  # and not once a second
    assert '[WARN]' in next(line for line in log.splitlines() if words in line)
    assert client.set_parameters(odometry__twist_frame='world')[0]
    client.wait_for(lambda: (found := warnings()) and words not in found, START)
