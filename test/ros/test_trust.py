# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node says of its own numbers and of its inputs, over DDS."""

from pathlib import Path

import pytest
from support import wrong_node
from support.messages import SECOND
from support.ros_graph import DiagnosticStatus

from geolin_ros import robots
from geolin_ros.cli import main

QUADRUPED = str(robots.path('quadruped'))
EVERY = 40


def test_one_wrong_entry_of_a__is_reported_within_two_rounds(client, capsys):
    """The entry is off by 1e-3 of its block; message, log, diagnostics and a file tell of it."""
    client.module = wrong_node.__file__
    client.start(
        robot_description_file=QUADRUPED, certificate__every=EVERY, certificate__budget=1.0
    )
    client.wait_until_active()
    client.wait_until_serving()
    client.shake_hands()
    answers = len(client.linearizations)

    while not (message := client.ask()).trust.breached:
        assert message.trust.breaches == 0
        answers += 1
        assert answers <= wrong_node.RIGHT + 2 * EVERY + 10  # those of the handshake it lost
    assert answers > wrong_node.RIGHT
    trust = message.trust
    assert trust.checked
    assert trust.limit == pytest.approx(1e-6)
    assert 1e-4 < trust.deviation < 1e-2
    assert trust.mass_matrix_condition > 1.0
    checked = trust.stamp.sec * SECOND + trust.stamp.nanosec
    assert checked < message.header.stamp.sec * SECOND + message.header.stamp.nanosec
    client.wait_for(lambda: client.summaries[-1].trust_deviation == trust.deviation)

    level, text, values = client.next_diagnostics()
    assert level == DiagnosticStatus.ERROR
    assert text.startswith('A and B are wrong: ')
    assert 'in v by s' in text
    assert int(values['checks breached']) >= 1

    line = next(line for line in client.process.log.splitlines() if 'A and B are wrong' in line)
    assert '[ERROR]' in line
    assert 's = [' in line  # the state
    path = line.partition('geolin recheck ')[2].rstrip('`')
    assert Path(path).parent == client.folder
    assert main(['recheck', path]) == 0
    said = capsys.readouterr().out
    assert said.count('breached, ') == 2
    assert 'computed anew:   passed' in said


def test_right_linearizations__are_certified_and_counted(client):
    client.start(robot_description_file=QUADRUPED, certificate__every=5, certificate__budget=1.0)
    client.wait_until_active()
    client.wait_until_serving()
    client.shake_hands()

    def certified():
        return client.ask().trust.checks >= 3

    client.wait_for(certified, 20.0)
    trust = client.linearizations[-1].trust
    assert (trust.checked, trust.breached, trust.breaches) == (True, False, 0)
    assert trust.deviation < 1e-7
    _, _, values = client.next_diagnostics()
    assert int(values['checks of A and B']) >= 3
    assert 'skipped' not in client.process.log
