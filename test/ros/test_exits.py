# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that ends leaves the graph at once and nothing in shared memory."""

import os
import signal
import statistics
import subprocess
import sys
import time

import pytest
from geolin_demos.demo.__main__ import INTERRUPTED
from support.environment import with_checkout
from support.processes import Program
from support.ros_graph import START, Process, left_behind, shared_memory

from geolin_ros import robots

QUADRUPED = {'robot_description_file': str(robots.path('quadruped'))}
NODES = {
    'linearizer': QUADRUPED,
    'lqr_node': {**QUADRUPED, 'supports': ['FL_foot:0.02', 'FR_foot:0.02']},
    'state_estimator': {**QUADRUPED, 'contacts': ['FL_foot point']},
    'torque_estimator': {**QUADRUPED, 'imu_topics': ['imu base']},
}
LEAVING = 10.0
"""Deadline [s]; a participant that was never destroyed stays for 20 s."""


@pytest.fixture
def processes(tmp_path):
    """Four nodes that serve a robot, as users start them; what was in /dev/shm before them."""
    others, started = set(os.listdir('/dev/shm')), {}
    for module, parameters in NODES.items():
        folder = tmp_path / module
        folder.mkdir()
        place = f'/exits{os.getpid()}'
        started[f'{place}/{module}'] = Process(folder, parameters, place, module=module)
    yield started, others
    for process in started.values():
        process.end()


def test_ended_nodes__are_not_listed_and_leave_no_file(graph, processes):
    processes, others = processes
    for name, process in processes.items():
        graph.wait_for(lambda p=process: 'serve quadruped' in p.log, START, process)
        graph.wait_for(lambda n=name: graph.listed(n), START, process)
    own = {name: process.shared_memory() for name, process in processes.items()}
    times = []
    for name, process in processes.items():
        assert own[name] - others, 'no shared memory is used: nothing could be left'
        process.stop()
        end = time.monotonic()
        graph.wait_for(lambda n=name: not graph.listed(n), LEAVING)
        times.append(time.monotonic() - end)
    assert statistics.median(times) < 1.0
    used = set.union(*own.values()) - others
    graph.wait_for(lambda: not left_behind(used), LEAVING)  # the test's own node closes ports too


IN_A_CALLBACK = """
import os, runpy, signal, sys, weakref
import rclpy.node

class Thing:
    pass

class Interrupted(rclpy.node.Node):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        thing = Thing()
        self._ref = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGINT))
        del thing

rclpy.node.Node = Interrupted
sys.argv[1:] = ['--robot=quadruped']
runpy.run_module('geolin_demos.balance.robot', run_name='__main__', alter_sys=True)
"""


def test_simulator_that_is_interrupted_in_a_callback__ends_all_the_same():
    """What a handler raises there is printed, and forgotten."""
    pytest.importorskip('mujoco')
    done = subprocess.run(
        [sys.executable, '-c', IN_A_CALLBACK],
        capture_output=True,
        text=True,
        env=with_checkout(),
        timeout=START,
    )
    assert (done.returncode, done.stderr) == (INTERRUPTED, '')


def test_interrupted_simulator__leaves_no_file(graph, tmp_path):
    """Its heap is frozen as well."""
    pytest.importorskip('mujoco')
    others, log = set(os.listdir('/dev/shm')), tmp_path / 'log.txt'
    with log.open('w') as out:
        simulator = Program(
            [sys.executable, '-m', 'geolin_demos.balance.robot', '--robot=quadruped'],
            stdout=out,
            stderr=subprocess.STDOUT,
            env=with_checkout(),
        )
    try:
        deadline = time.monotonic() + START
        while 'waits for' not in log.read_text():
            assert simulator.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        own = shared_memory(simulator.pid) - others
        assert own
        for number in (signal.SIGINT, signal.SIGTERM):
            simulator.send_signal(number)
        assert simulator.wait(30) == INTERRUPTED
        assert 'Traceback' not in log.read_text()
        graph.wait_for(lambda: not left_behind(own), LEAVING)
    finally:
        simulator.kill()
