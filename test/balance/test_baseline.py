# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The processes that compare with PD: killed, and left alone."""

import multiprocessing
import os
import signal
import time
from pathlib import Path
from threading import Event, Thread, Timer

import pytest

pytest.importorskip('mujoco')

from geolin_demos.balance.__main__ import parse, robots
from geolin_demos.balance.baseline import Job, WorkerError, compare

ASKED = '--robot=quadruped', '--cases=4 feet'


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
