# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Signals end the node with status 0 and without a traceback, whatever it does."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.processes import Program, is_over
from support.ros_graph import START, Process, left_behind

from geolin_ros import robots

PATIENT = {'description_timeout': 1000.0}
MIDDLEWARE = 'RTPS_TRANSPORT_SHM'
"""Of its complaint where another process ends, or begins, at the same port at the same time."""


@pytest.mark.parametrize('stays', [True, False])
def test_node__stays_with_nohup_where_its_terminal_goes_and_ends_without(graph, tmp_path, stays):
    wrapper = ('nohup',) if stays else ('env', '--default-signal=HUP')
    process = Process(tmp_path, PATIENT, f'/hangs{os.getpid()}_{stays}', wrapper=wrapper)
    try:
        graph.wait_for(lambda: 'kernels are ready' in process.log, START, process)
        process.process.send_signal(signal.SIGHUP)
        if stays:
            before = time.monotonic()
            graph.wait_for(lambda: time.monotonic() > before + 2.0, process=process)
            process.stop()
        assert_calm_end(process, process.wait())
    finally:
        process.end()


PARENT = """
import subprocess, sys
node = [sys.executable, '-m', 'geolin_ros.ros.linearizer']
child = subprocess.Popen([*node, *sys.argv[1:]])
print('child', child.pid, flush=True)
child.wait()
"""


@pytest.mark.parametrize('is_up', [True, False])
def test_node__ends_with_its_parent_if_it_is_asked_to(graph, tmp_path, is_up):
    """A parent that is killed, also while the node imports, says nothing to its children."""
    program = tmp_path / 'parent.py'
    program.write_text(PARENT)
    place = f'/orphan{os.getpid()}_{is_up}'
    parent = Process(tmp_path, PATIENT, place, ['--', '--end-with-parent'], module=str(program))
    found = graph.wait_for(lambda: re.search(r'^child (\d+)$', parent.log, re.M), START, parent)
    child = int(found[1])
    if is_up:
        graph.wait_for(lambda: graph.listed(f'{place}/linearizer'), START, parent)
    else:
        graph.wait_for(lambda: masked(child, 'SigCgt', signal.SIGTERM), START, parent)
    parent.kill()
    assert is_up or 'kernels are ready' not in parent.log
    graph.wait_for(lambda: is_over(child))
    assert is_up or 'kernels are ready' not in parent.log
    assert 'Traceback' not in parent.log


def test_compiling_node__answers_stops_at_once_and_leaves_nothing(client, tmp_path):
    """With an empty cache the node compiles for many seconds."""
    others, took = set(os.listdir('/dev/shm')), []
    client.environment = client.environment | {'NUMBA_CACHE_DIR': str(tmp_path / 'cache')}
    client.start(robot_description_file=str(robots.path('quadruped')))
    client.wait_for(lambda: 'compiles kernels for this machine' in client.process.log, START)
    for k in range(10):
        for call in (
            client.state,
            lambda: client.get_parameters('max_skew'),
            lambda k=k: client.set_parameters(max_skew=0.03 + 0.001 * k) == (True, ''),
        ):
            begin = time.monotonic()
            assert call()
            took.append(time.monotonic() - begin)
    used = client.process.shared_memory() - others
    assert used
    client.process.stop(signal.SIGTERM)
    assert 'kernels are ready' not in client.process.log
    client.graph.wait_for(lambda: not client.graph.listed(client.node_name))
    client.graph.wait_for(lambda: not left_behind(used))
    assert max(took[3:]) < 1.0, took  # in the first round the clients meet the node


LONGER = ('linearizer', 9), ('lqr_node', 2), ('state_estimator', 5), ('torque_estimator', 5)


@pytest.mark.parametrize(
    ('module', 'moments'),
    [('linearizer', 3), *(pytest.param(*of, marks=pytest.mark.soak) for of in LONGER)],
)
def test_signals_at_any_time__end_the_node_with_status_0(graph, tmp_path, module, moments):
    """From the first line of the program to the end of the interpreter, over and over again.

    Peers may list such a node further: rmw adds one whose last message comes after its goodbye.
    """

    def start(index):
        folder = tmp_path / str(index)
        folder.mkdir()
        return Process(folder, PATIENT, f'/signals{os.getpid()}_{index}', module=module)

    processes = [start('up')]
    try:
        (process,) = processes
        graph.wait_for(process.takes_signals, START, process)
        began = time.monotonic()
        graph.wait_for(lambda: 'kernels are ready' in process.log, START, process)
        took = time.monotonic() - began
        for share in range(moments):
            assert_calm_end(process, process.interrupt_again_and_again())
            process = start(share)
            processes.append(process)
            graph.wait_for(process.takes_signals, START, process)
            end = time.monotonic() + took * share / (moments - 1)
            graph.wait_for(lambda end=end: time.monotonic() > end, START)
        assert_calm_end(process, process.interrupt_again_and_again())
    finally:
        for process in processes:
            process.end()


@pytest.mark.parametrize(
    ('words', 'status', 'says'),
    [
        (['linearizer'], 0, 'linearizer: SIGINT before it was up\n'),
        (['geolin', 'info'], 130, '(geolin: interrupted|geolin: SIGINT before it was up)\n'),
    ],
)
def test_two_ctrl_c_while_python_starts__end_as_at_any_time(words, status, says):
    """From the first hook of the environment on: before it, Python itself ends by the signal."""
    program = [Path(sys.executable).with_name(words[0]), *words[1:]]
    for pause in (0.0, 0.01, 0.1):
        process = Program(program, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while not masked(process.pid, 'SigBlk'):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        time.sleep(pause)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=START)
        assert process.returncode == status, said
        assert re.fullmatch(says, said)


def masked(pid, mask, number=signal.SIGINT):
    """Whether a signal is in a mask of a process."""
    status = Path(f'/proc/{pid}/status').read_text()
    (bits,) = (line.split()[1] for line in status.splitlines() if line.startswith(mask))
    return bool(int(bits, 16) >> (number - 1) & 1)


def test_signals_on_end__do_not_disturb_a_busy_node(client):
    """Joint states come while it ends, and more signals before the interpreter has."""
    client.serve()
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        client.process.process.send_signal(number)
        for _ in range(4):
            client.send(client.make_joint_state(client.tick(5)), client.make_odometry(client.time))
            client.graph.executor.spin_once(timeout_sec=0.005)
    said_of_random_joint_states = '[WARN]'
    assert_calm_end(client.process, client.process.wait(), said_of_random_joint_states)


DEADLOCK = """
import sys
from threading import Lock
from geolin_ros.ros import linearizer, programs, running
def deadlock(node):
    lock = Lock()
    lock.acquire() and lock.acquire()
running.LAST, linearizer.LinearizerNode.destroy_node = 0.5, deadlock
sys.stderr = None  # as where it is closed
sys.exit(programs.linearizer())
"""


def test_node_that_cannot_end__says_where_it_waits_and_is_gone(graph, tmp_path):
    program = tmp_path / 'deadlock.py'
    program.write_text(DEADLOCK)
    process = Process(tmp_path, PATIENT, f'/stuck{os.getpid()}', module=str(program))
    graph.wait_for(lambda: 'kernels are ready' in process.log, START, process)
    process.process.send_signal(signal.SIGINT)
    assert process.wait() == 1, process.log
    assert re.search(r'Timeout.*!\n.* in deadlock\n', process.log, re.DOTALL), process.log


def assert_calm_end(process, status, *allowed):
    """Nothing but what a node says of its start, or the sentence of one that had none."""
    assert status == 0, process.log
    expected = '[INFO]', *allowed
    lines = [x for x in process.log.splitlines() if not x.startswith(expected)]
    lines = [x for x in lines if MIDDLEWARE not in x]
    assert len(lines) <= 1, process.log
    assert all(line.endswith('before it was up') for line in lines), process.log
