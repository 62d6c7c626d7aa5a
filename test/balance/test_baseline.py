# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The processes that compare with PD: killed, and left alone."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread, Timer

import psutil
import pytest
from support.processes import Program

pytest.importorskip('mujoco')

from geolin_demos.balance.__main__ import parse, robots
from geolin_demos.balance.baseline import Job, WorkerError, compare

ASKED = '--robot=quadruped', '--cases=4 feet'
PROGRAM = f"""
import sys
from pathlib import Path
from threading import Event
from geolin_demos.balance.__main__ import parse, robots
from geolin_demos.balance.baseline import Job, compare
if __name__ == '__main__':
    compare([Job(robots(parse({list(ASKED)}))[0], Path(), 0)], Event())
"""


def wait_until_at_work(pids):
    """Wait until processes have begun: they have loaded MuJoCo, and then some time went by."""
    for pid in pids:
        while 'mujoco' not in Path(f'/proc/{pid}/maps').read_text():
            time.sleep(0.1)
    time.sleep(2.0)


def test_comparison__ends_if_a_process_is_killed(tmp_path):
    stop = Event()
    rescue = Timer(90.0, stop.set)

    def kill():
        while not (workers := multiprocessing.active_children()):
            time.sleep(0.1)
        wait_until_at_work([worker.pid for worker in workers])
        os.kill(workers[0].pid, signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    rescue.start()
    try:
        with pytest.raises(WorkerError, match='was killed, perhaps for lack of memory'):
            compare([Job(robots(parse(ASKED))[0], tmp_path, 0)], stop)
    finally:
        rescue.cancel()
        killer.join()
    assert not stop.is_set()


def test_comparison_that_is_killed__takes_its_processes_along(tmp_path):
    program = tmp_path / 'program.py'
    program.write_text(PROGRAM)
    with Program([sys.executable, program], stdout=subprocess.DEVNULL) as process:
        below = []
        while not any('spawn_main' in ' '.join(child.cmdline()) for child in below):
            assert process.poll() is None
            time.sleep(0.1)
            below = psutil.Process(process.pid).children()
        process.kill()
    _, left = psutil.wait_procs(below, timeout=60)
    for worker in left:
        worker.kill()
    assert left == []
