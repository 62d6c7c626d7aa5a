# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What hangs fails, and nothing that a test has started outlives it."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

WAITS = """
import time
from support.processes import Program

def test_program():
    {start}
        open({pid!r}, 'w').write(str(process.pid))
        {body}
"""
START = "with Program(['sleep', '1000']) as process:"
LEFT = "process = Program(['sleep', '1000'])\n    if True:"


@pytest.mark.parametrize(
    ('start', 'body', 'reason'),
    [
        (START, 'assert process.poll() == 0', 'assert None == 0'),
        (START, 'time.sleep(1000)', 'takes longer than 3 s'),
        (LEFT, 'assert process.poll() == 0', 'assert None == 0'),
    ],
    ids=['fails', 'hangs', 'leaves'],
)
def test_failing_test__takes_its_processes_along(start, body, reason, tmp_path):
    pid = tmp_path / 'pid'
    (tmp_path / 'test_waits.py').write_text(WAITS.format(start=start, pid=str(pid), body=body))
    environment = {
        'PYTHONPATH': str(Path(__file__).resolve().parents[1]),
        'GEOLIN_TEST_LIMIT': '3',
        'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1',
    }
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '-p', 'support.limit', '-c', os.devnull, str(tmp_path)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout
    assert reason in done.stdout
    assert not psutil.pid_exists(int(pid.read_text()))
