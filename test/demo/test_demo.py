# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo as its users run it: real processes, real DDS."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from support.environment import ROOT
from support.processes import Program, is_over

pytest.importorskip('rclpy')
pytest.importorskip('geolin_msgs')

from geolin_demos.demo.__main__ import RANGE, discovery

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures('ros_domain')]


def start(module, *arguments):
    return Program(
        [sys.executable, '-m', module, *map(str, arguments)],
        env={**os.environ, 'PYTHONUNBUFFERED': '1'},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def run(module, *arguments, timeout=200):
    process = start(module, *arguments)
    try:
        output, _ = process.communicate(timeout=timeout)
    finally:
        end(process)
    return process.returncode, output


def children_of(demo):
    """Return the process ids of what the demo has started; wait until linearizations come."""
    while len(children := [child.pid for child in psutil.Process(demo.pid).children()]) < 3:
        assert demo.poll() is None
        time.sleep(0.05)
    lines = iter(demo.stdout.readline, '')
    assert any('listening' in line for line in lines), 'no linearization within the time limit'
    for child in children:
        variables = Path(f'/proc/{child}/environ').read_text().split('\0')
        assert f'{RANGE}=LOCALHOST' in variables
    return children


def end(process):
    """End a process as users do, so that it ends what it has started; kill it if it does not."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=60)
    finally:
        process.kill()


def test_demo__ends_on_ctrl_c_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.delenv(RANGE)  # which its processes get nevertheless
    process = start('geolin_demos.demo', '--output', tmp_path / 'picture.png')
    try:
        children = children_of(process)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 130
    finally:
        end(process)
    assert 'interrupted' in output
    assert 'Traceback' not in output
    assert not [child for child in children if Path(f'/proc/{child}').exists()]


def wait_until_over(children, patience=30.0):
    """Return those of the processes that have not ended by themselves, which are killed."""
    deadline = time.monotonic() + patience
    while not all(map(is_over, children)) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = [child for child in children if not is_over(child)]
    for child in left:
        os.kill(child, signal.SIGKILL)
    return left


def test_demo__that_is_killed_takes_its_processes_along(tmp_path):
    """As by a test that took too long."""
    process = start('geolin_demos.demo', '--output', tmp_path / 'picture.png')
    try:
        children = children_of(process)
        process.kill()
        process.communicate(timeout=60)
    finally:
        end(process)
    assert wait_until_over(children) == []


def test_demo__ends_with_the_message_of_a_robot_that_cannot_start(tmp_path):
    urdf = tmp_path / 'broken.urdf'
    urdf.write_text('<robot name="broken"><link name="a"/><link name="b"/></robot>')
    begin = time.monotonic()
    status, output = run('geolin_demos.demo', '--robot', urdf)
    assert status == 1
    assert time.monotonic() - begin < 110.0, 'it waited for linearizations'
    assert '[robot] robot: ' in output
    assert 'demo: robot ended early' in output
    assert 'Traceback' not in output


def test_consumer__tells_a_robot_without_linearizer(tmp_path):
    robot = start('geolin_demos.demo.robot')
    try:
        picture, missing = tmp_path / 'picture.png', '/joint_states'
        theirs = '/joint_states', '/odom', '/robot_description'
        deadline = time.monotonic() + 120.0
        while any(topic in missing for topic in theirs) and time.monotonic() < deadline:
            options = '--patience', 2, '--output', picture
            status, output = run('geolin_demos.demo.consumer', *options)
            missing = output.partition('FAIL')[2]
        assert status == 1
        assert '/linearizer/linearization: no publisher' in missing
        assert not any(topic in missing for topic in theirs)
        robot.send_signal(signal.SIGINT)
        output, _ = robot.communicate(timeout=60)
        assert (robot.returncode, output) == (0, '')
    finally:
        end(robot)


@pytest.mark.parametrize(('of_user', 'expected'), [(None, 'LOCALHOST'), ('SUBNET', 'SUBNET')])
def test_discovery__is_of_this_machine_unless_its_user_says_otherwise(
    of_user, expected, monkeypatch
):
    monkeypatch.delenv(RANGE) if of_user is None else monkeypatch.setenv(RANGE, of_user)
    assert discovery()[RANGE] == expected
    text = (ROOT / 'geolin_demos' / 'launch' / 'standing.launch.py').read_text()
    assert 'SetEnvironmentVariable(RANGE, discovery()[RANGE])' in text


def test_domain__is_one_that_no_process_of_this_machine_has(monkeypatch):
    monkeypatch.delenv('ROS_DOMAIN_ID', raising=False)
    monkeypatch.setattr(random, 'sample', lambda *_: [230, 231])  # above those of other tests
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as participant:
        participant.bind(('', 7410 + 250 * 230 + 2))
        assert discovery()['ROS_DOMAIN_ID'] == '231'
    assert discovery()['ROS_DOMAIN_ID'] == '230'
