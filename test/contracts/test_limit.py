# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What hangs fails, and nothing that a test has started outlives it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from support.processes import is_over

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
STUCK = """
import ctypes
from support import limit
from support.processes import Program

limit.STUCK = 0.5

def test_program():
    process = Program(['bash', '-c', 'sleep 1000 & echo $!; wait'], stdout=-1, text=True)
    open({pids!r}, 'w').write(f'{{process.pid}} {{process.stdout.readline()}}')
    mutex = ctypes.create_string_buffer(64)
    for _ in range(2):
        ctypes.PyDLL(None).pthread_mutex_lock(mutex)
"""
"""With C code that keeps the lock of the interpreter, and ends at no signal."""


def end_of(text, folder, limit):
    """Return how pytest ends with a file of this text."""
    (folder / 'test_waits.py').write_text(text)
    environment = {
        'PYTHONPATH': str(Path(__file__).resolve().parents[1]),
        'GEOLIN_TEST_LIMIT': str(limit),
        'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1',
    }
    return subprocess.run(
        [sys.executable, '-m', 'pytest', '-p', 'support.limit', '-c', os.devnull, str(folder)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


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
    done = end_of(WAITS.format(start=start, pid=str(pid), body=body), tmp_path, limit=3)
    assert done.returncode == 1, done.stdout
    assert reason in done.stdout
    assert not psutil.pid_exists(int(pid.read_text()))


def test_programs__end_with_a_process_that_is_stuck(tmp_path):
    written = tmp_path / 'pids'
    done = end_of(STUCK.format(pids=str(written)), tmp_path, limit=1)
    assert 'in test_program' in done.stderr, done.stdout
    pids = written.read_text().split()
    deadline = time.monotonic() + 30.0
    while not all(map(is_over, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [is_over(pid) for pid in pids] == [True, True]
