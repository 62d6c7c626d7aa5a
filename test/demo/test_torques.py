# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The torque estimator as its users run it: real processes, real DDS, torques that are known."""

import os
import subprocess
import sys

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('geolin_msgs')
pytest.importorskip('mujoco')

pytestmark = pytest.mark.ros


def test_estimator__finds_torques_and_a_push():
    done = subprocess.run(
        [sys.executable, '-m', 'geolin_ros.demo.torques', '--duration', '3'],
        env={**os.environ, 'PYTHONUNBUFFERED': '1'},
        capture_output=True,
        text=True,
        timeout=400,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert output.count('PASS') == 5, output
    assert 'estimates a second by the clock' in output
    assert 'Traceback' not in output
