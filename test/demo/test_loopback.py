# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Demos look for each other on this machine alone, unless their user says otherwise."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from geolin_demos.demo.__main__ import RANGE, discovery
from support.environment import ROOT, with_checkout
from support.processes import Program


def test_discovery__is_of_this_machine(monkeypatch):
    monkeypatch.delenv(RANGE)
    assert discovery()[RANGE] == 'LOCALHOST'


def test_discovery__is_the_users_if_there_is_one(monkeypatch):
    monkeypatch.setenv(RANGE, 'SUBNET')
    assert discovery()[RANGE] == 'SUBNET'


@pytest.mark.parametrize('launch', ['demo', 'standing'])
def test_launch_files__say_so_too(launch):
    text = (ROOT / 'geolin_demos' / 'launch' / f'{launch}.launch.py').read_text()
    assert 'SetEnvironmentVariable(RANGE, discovery()[RANGE])' in text


def environments(pid):
    """Return the environments of the children of a process."""
    children = Path(f'/proc/{pid}/task/{pid}/children').read_text().split()
    return [Path(f'/proc/{child}/environ').read_text().split('\0') for child in children]


@pytest.mark.usefixtures('ros_domain')
def test_processes_of_the_demo__are_told(tmp_path):
    pytest.importorskip('rclpy')
    environment = {name: value for name, value in os.environ.items() if name != RANGE}
    demo = Program(
        [sys.executable, '-m', 'geolin_demos.demo', '--output', str(tmp_path / 'demo.png')],
        env=with_checkout(environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60.0
        told = []
        # Between fork and exec a child still has its parent's environment.
        while told.count(True) < 3 and time.monotonic() < deadline:
            told = [f'{RANGE}=LOCALHOST' in variables for variables in environments(demo.pid)]
            time.sleep(0.02)
        assert told == [True] * 3
    finally:
        demo.send_signal(signal.SIGINT)
        try:
            demo.wait(60.0)
        finally:
            demo.kill()
