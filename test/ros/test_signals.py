# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM end the node with status 0 and without a traceback, whatever it does."""

import signal

import pytest

from geolin_ros import robots

SIGNALS = pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)


@SIGNALS
def test_node_that_waits_for_a_description__stops(client, number):
    client.start()
    client.wait_until_active()
    client.process.stop(number)


@SIGNALS
def test_busy_node__stops(client, number):
    client.start(robot_description_file=str(robots.path('quadruped')))
    client.wait_until_active()
    client.wait_until_serving()
    client.shake_hands()
    for _ in range(50):
        client.send(client.make_joint_state(client.tick(1)), client.make_odometry(client.time))
    client.process.stop(number)


@SIGNALS
def test_unconfigured_node__stops(client, number):
    client.start(autostart=False)
    client.wait_for(lambda: client.state() == 'unconfigured')
    client.process.stop(number)


@SIGNALS
def test_compiling_node__stops_at_once(client, number, tmp_path, monkeypatch):
    """With an empty cache the node compiles for many seconds."""
    monkeypatch.setenv('NUMBA_CACHE_DIR', str(tmp_path / 'cache'))
    client.start(robot_description_file=str(robots.path('quadruped')))
    client.wait_for(client.is_reachable, 60.0)
    assert 'kernels are ready' not in client.process.log
    client.process.stop(number, timeout=5.0)
    assert 'kernels are ready' not in client.process.log


def test_two_signals__are_one(client):
    client.start(robot_description_file=str(robots.path('quadruped')))
    client.wait_until_active()
    client.process.process.send_signal(signal.SIGINT)
    client.process.process.send_signal(signal.SIGTERM)
    assert client.process.wait() == 0
    assert 'Traceback' not in client.process.log
