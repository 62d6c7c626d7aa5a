# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The README's commands, each alone in what its own part of the set-up installs."""

import os
import re
import shutil
import signal
import socket
import subprocess
import urllib.request

import pytest
from support.processes import Program
from support.set_up import ROOT, environment_of

pytest.importorskip('rclpy')
pytest.importorskip('geolin_msgs')

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures('ros_domain')]
PATIENCE = 300.0
ROBOTS = {'demo': 'panda', 'balance': "quadruped --skip-largest --cases '4 feet'"}
LINES = {
    'demo': ('demo robots', 'PASS .* A and B'),
    'balance': ('simulation', 'PASS  1 of 1 cases stand'),
    'walk': ('simulation', 'PASS'),
    'mpc': ('simulation', 'PASS  base .* from its reference'),
    'view': ('view', r'(http://127\.0\.0\.1:\d+)'),
    'docs': ('documentation', 'build succeeded'),
}
"""Parts of the set-up, and what is printed when the work is done."""


@pytest.fixture
def make(tmp_path):
    """Run a target in a folder with no other packages than the target sets up; give its lines."""
    if (ROOT / '.venv/ros_distribution').read_text().strip() != 'wheels':
        pytest.skip('a sourced ROS 2 is visible to every environment')
    processes = []

    def run(target, *variables):
        environment_of(tmp_path, *LINES[target][0].split())
        shutil.copy(ROOT / 'Makefile', tmp_path)
        if target == 'docs':
            shutil.copytree(ROOT / 'docs', tmp_path / 'docs', ignore=shutil.ignore_patterns('api'))
        (tmp_path / 'tools').mkdir()
        (tmp_path / 'tools/setup.sh').write_text('#!/bin/sh\n')
        (tmp_path / 'tools/setup.sh').chmod(0o755)
        process = Program(
            ['make', target, *variables],
            cwd=tmp_path,
            env={**os.environ, 'PYTHONUNBUFFERED': '1'},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            lasts=True,
        )
        processes.append(process)
        return process.stdout

    yield run
    for process in processes:
        with process:
            os.killpg(process.pid, signal.SIGINT)
            process.communicate(timeout=PATIENCE)


def wait_for(pattern, lines):
    """Return the match of the first line that has a pattern."""
    read = []
    for line in lines:
        read.append(line)
        if found := re.search(pattern, line):
            return found
    raise AssertionError(f'{pattern!r} is not in\n{"".join(read)}')


def test_commands_of_the_readme__are_those_run_here():
    text = (ROOT / 'README.md').read_text()
    assert set(re.findall(r'^    make (\w+)', text, re.M)) | {'docs'} == {*LINES, 'test'}


@pytest.mark.parametrize('target', ['demo', 'balance', 'walk', 'mpc', 'docs'])
def test_command__runs_in_what_it_sets_up(make, target):
    if target == 'docs':
        pytest.importorskip('sphinx', reason='`tools/setup.sh documentation` installs it')
    lines = make(target, *([f'ROBOT={ROBOTS[target]}'] if target in ROBOTS else []))
    wait_for(LINES[target][1], lines)


def test_view__serves_its_page_in_what_it_sets_up(make):
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    found = wait_for(LINES['view'][1], make('view', f'ROBOT=quadruped --port {port}'))
    with urllib.request.urlopen(found[1], timeout=60.0) as page:
        assert b'<html' in page.read().lower()
