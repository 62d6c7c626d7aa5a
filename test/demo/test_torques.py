# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The torque estimator as its users run it: real processes, real DDS, torques that are known."""

import os
import re
import subprocess
import sys

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('geolin_msgs')
pytest.importorskip('mujoco')

from torque_check import __main__ as torques

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures('ros_domain')]


@pytest.mark.shows('Nori: - live')
def test_estimator__finds_torques_and_a_push():
    done = subprocess.run(
        [sys.executable, '-m', 'torque_check', '--duration', '3.6'],
        env={**os.environ, 'PYTHONUNBUFFERED': '1', 'PYTHONPATH': os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=400,
    )
    output = done.stdout + done.stderr
    found = re.search(r'(\d+) of (\d+) joint states answered', output)
    assert found, output
    count, asked = map(int, found.groups())
    lost = count <= torques.ANSWERED * asked  # where other tests want the processor
    assert count > 0.5 * asked, output
    assert done.returncode == int(lost), output
    assert (output.count('PASS'), output.count('FAIL')) == (5 - lost, int(lost)), output
    assert 'estimates a second by the clock' in output
    assert 'Traceback' not in output


def test_duration__too_short_for_a_push__is_refused(capsys):
    with pytest.raises(SystemExit, match='2'):
        torques.main(['--duration', '1.5'])
    assert '--duration 1.5: expected 1.6 s or more (one push)' in capsys.readouterr().err
