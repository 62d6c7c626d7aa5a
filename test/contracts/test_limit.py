# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What hangs fails, and nothing that a test has started outlives it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.processes import is_over

WAITS = """
import ctypes
import time
from support import limit
from support.processes import Program

limit.STUCK = 3.0
mutex = ctypes.create_string_buffer(64)

def start():
    return Program(['bash', '-c', 'sleep 1000 & echo $!; wait'], stdout=-1, text=True)

def test_program():
    {start}
        open({pids!r}, 'w').write(f'{{process.pid}} {{process.stdout.readline()}}')
        {body}
"""
START, LEFT = 'with start() as process:', 'process = start()\n    if True:'
STUCK = 'for _ in range(2): ctypes.PyDLL(None).pthread_mutex_lock(mutex)'  # and keeps the GIL
FORKS = """
import os, time
from support.processes import Program, watch

watch()
program = Program(['sleep', '1000'])
child = os.fork() or time.sleep(1000)
print(program.pid, child, flush=True)
os._exit(0)
"""
PYTEST = sys.executable, '-m', 'pytest', '-p', 'support.limit', '-c', os.devnull
ENVIRONMENT = os.environ | {
    'PYTHONPATH': str(Path(__file__).resolve().parents[1]),
    'GEOLIN_TEST_LIMIT': '3',
    'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1',
}


def are_over(pids):
    """Whether processes are over, once all are or after a while."""
    deadline = time.monotonic() + 60.0
    while not all(map(is_over, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return [is_over(pid) for pid in pids]


@pytest.mark.parametrize(
    ('start', 'body', 'reason'),
    [
        (START, 'assert process.poll() == 0', 'assert None == 0'),
        (START, 'time.sleep(1000)', 'takes longer than 3 s'),
        (LEFT, 'assert process.poll() == 0', 'assert None == 0'),
        (START, STUCK, 'in test_program'),
    ],
    ids=['fails', 'hangs', 'leaves', 'is stuck'],
)
def test_failing_test__takes_its_processes_along(start, body, reason, tmp_path):
    test, pids = tmp_path / 'test_waits.py', tmp_path / 'pids'
    test.write_text(WAITS.format(start=start, pids=str(pids), body=body))
    done = subprocess.run([*PYTEST, tmp_path], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    assert reason in done.stdout + done.stderr
    assert are_over(pids.read_text().split()) == [True, True]


def test_programs__end_before_a_fork_of_what_started_them():
    command = [sys.executable, '-c', FORKS]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=-1, text=True) as process:
        program, child = map(int, process.stdout.readline().split())
    found = are_over([program]), is_over(child)
    os.kill(child, signal.SIGKILL)
    assert found == ([True], False)
