# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What hangs fails, and nothing that a test has started outlives it."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

SUPPORT = Path(__file__).resolve().parents[1]
WAITS = """
import subprocess, time

def test_popen(tmp_path):
    with subprocess.Popen(['sleep', '1000']) as process:
        open({pid!r}, 'w').write(str(process.pid))
        {body}
"""


@pytest.mark.parametrize('body', ['assert process.poll() == 0', 'time.sleep(1000)'])
def test_hanging_test__fails_and_takes_its_processes_along(body: str, tmp_path: Path) -> None:
    pid = tmp_path / 'pid'
    (tmp_path / 'test_waits.py').write_text(WAITS.format(pid=str(pid), body=body))
    done = subprocess.run(
        [
            *(sys.executable, '-m', 'pytest', '-p', 'support.limit'),
            '-c',
            os.devnull,
            str(tmp_path),
        ],
        env=os.environ | {'PYTHONPATH': str(SUPPORT), 'GEOLIN_TEST_LIMIT': '1'},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1, done.stdout
    assert 'takes longer than 1 s' in done.stdout
    assert not psutil.pid_exists(int(pid.read_text()))
