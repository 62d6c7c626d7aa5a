# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The README's commands, each alone in what its own part of the set-up installs."""

import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import urllib.request

import pytest
from support.processes import Program
from support.set_up import ROOT, environment_of

pytest.importorskip('rclpy')
pytest.importorskip('geolin_msgs')

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures('ros_domain')]
PATIENCE = 300.0
PARTS = {
    'demo': 'demo robots',
    'balance': 'simulation',
    'walk': 'simulation',
    'mpc': 'simulation',
    'view': 'view',
    'docs': 'documentation',
}
"""What the targets set up."""


@pytest.fixture(scope='module')
def folder_of(tmp_path_factory):
    """Give the folder of a target, with no other packages than the target sets up.

    A sourced ROS 2 is visible to every environment: there they see all packages.
    """
    is_alone = (ROOT / '.venv/ros_distribution').read_text().strip() == 'wheels'

    @functools.cache
    def made(parts):
        folder = tmp_path_factory.mktemp('clone')
        if is_alone:
            environment_of(folder, *parts.split())
        else:
            (folder / '.venv').symlink_to(ROOT / '.venv')
        shutil.copy(ROOT / 'Makefile', folder)
        (folder / 'examples').symlink_to(ROOT / 'examples')
        (folder / 'tools').mkdir()
        (folder / 'tools/setup.sh').write_text('#!/bin/sh\n')
        (folder / 'tools/setup.sh').chmod(0o755)
        return folder

    return lambda target: made(PARTS[target])


@pytest.fixture
def make(folder_of):
    """Run a target in a folder that has what it sets up; it ends with the test."""
    processes = []

    def run(target, *variables):
        process = Program(
            ['make', target, *variables],
            cwd=folder_of(target),
            env={**os.environ, 'PYTHONUNBUFFERED': '1'},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            lasts=True,
        )
        processes.append(process)
        return process

    yield run
    for process in processes:
        with process:
            with contextlib.suppress(ProcessLookupError):
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
    assert set(re.findall(r'^    make (\w+)', text, re.M)) | {'docs'} == {*PARTS, 'test'}


def test_demo__passes_for_a_robot_by_its_name(make):
    wait_for('PASS .* A and B', make('demo', 'ROBOT=panda').stdout)


def test_walk__begins(make):
    """`test/walk` has it go on."""
    wait_for('PASS  stands', make('walk', 'ROBOT=quadruped --legs=1').stdout)


def test_balance__lifts_a_foot_and_puts_it_down(make, folder_of):
    case = '4 - 3 - 4 feet'
    process = make('balance', f'ROBOT=quadruped --skip-largest --pushes=1 --cases {case!r}')
    said = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, said
    (row,) = re.findall(rf'^quadruped, 0  {case}  .*$', said, re.MULTILINE)
    assert 'stands' in row
    missed, periods, made_of_messages = map(int, re.findall(r'\d+', row.split(' ms ')[1])[:3])
    assert missed <= 0.01 * periods
    assert periods > 1250
    assert f'{500 * (1 - missed / periods):.0f} Hz' in row
    assert made_of_messages > 0
    assert re.search(rf'^\[simulator\] PASS  {case}, J', said, re.MULTILINE)
    assert 'PASS  1 of 1 cases stand' in said
    assert (folder_of('balance') / 'geolin_balance.png').read_bytes().startswith(b'\x89PNG')


def test_mpc__shifts_the_base_and_bears_a_push(make):
    process = make('mpc', 'ROBOT=quadruped --pushes=1')
    said = process.communicate(timeout=PATIENCE)[0]
    for passed in (
        'base 0.05 m forward and back',
        '1 pushes of J 0.04 s: stands',
        'periods of 10 ms',
    ):
        assert re.search(rf'PASS  .*{passed}', said), said
    assert re.search(r'(PASS|FAIL)  solve time p50 [\d.]+ ms, p99 [\d.]+ ms of a period', said)
    assert bool(process.returncode) == ('FAIL' in said), said  # on a machine that is too slow
    (away,) = re.findall(r'at most ([\d.]+) mm from its reference', said)
    assert 0.0 < float(away) < 10.0
    (displaced,) = re.findall(r'displaced by at most ([\d.]+) mm', said)
    assert 3.0 < float(displaced) < 50.0


def test_view__serves_its_page(make):
    process = make('view', 'ROBOT=quadruped --port 0')
    found = wait_for(r'(http://127\.0\.0\.1:\d+)', process.stdout)
    with urllib.request.urlopen(found[1], timeout=60.0) as page:
        assert b'<html' in page.read().lower()


def test_docs__are_built_without_a_warning(make, folder_of):
    """The theme, which is there, would compute the same navigation for each page."""
    pytest.importorskip('sphinx', reason='`tools/setup.sh documentation` installs it')
    docs = folder_of('docs') / 'docs'
    shutil.copytree(ROOT / 'docs', docs, ignore=shutil.ignore_patterns('api'))
    (theme,) = re.findall(r"^html_theme = '(\w+)'$", (docs / 'conf.py').read_text(), re.MULTILINE)
    assert any(folder_of('docs').glob(f'.venv/lib/python*/site-packages/{theme}/theme'))
    wait_for('build succeeded', make('docs', 'SPHINXOPTS=-D html_theme=basic').stdout)
