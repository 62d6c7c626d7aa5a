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
import time
import urllib.request

import numpy as np
import pytest
from support.processes import Program
from support.set_up import ROOT, environment_of
from support.strangers import BIPED

pytest.importorskip('rclpy')
pytest.importorskip('geolin_msgs')

from geolin_tools.view.live import Live, Watcher

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures('ros_domain')]
PATIENCE = 300.0
BUSY = r'is the machine too busy|none came|0 samples and 0|[\d.]+%, limit 95%'
"""What fails where other tests want the processor: answers come late, samples are left out."""
OVERLAY = '{joints: {"*": {rotor_inertia: 0.01, gear_ratio: 1.0}}}'
PARTS = {
    'demo': 'demo robots',
    'balance': 'simulation',
    'walk': 'simulation',
    'mpc': 'simulation',
    'view': 'view',
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
    assert set(re.findall(r'^    make (\w+)', text, re.M)) == {*PARTS, 'test'}


def test_demo__passes_for_a_robot_by_its_name_and_saves_a_picture(make, folder_of):
    process = make('demo', 'ROBOT=panda --duration 2')
    said = process.communicate(timeout=PATIENCE)[0]
    failed = [line for line in said.splitlines() if line.startswith('FAIL')]
    assert all(re.search(BUSY, line) for line in failed), said
    assert (said.count('PASS'), process.returncode != 0) == (3 - len(failed), bool(failed)), said
    assert re.search('^PASS .* A and B', said, re.MULTILINE)
    assert 'Traceback' not in said
    assert (folder_of('demo') / 'geolin_demo.png').read_bytes().startswith(b'\x89PNG')


def test_walk__keeps_its_commands_pushed_and_its_plan_is_drawn(make, ros_domain, tmp_path):
    """The plan as the page draws it: lines of base and feet, half a second ahead."""
    (tmp_path / 'rotors.yaml').write_text(OVERLAY)
    process = make('walk', 'ROBOT=quadruped --legs=2')
    watcher, end = Watcher('/linearizer'), time.monotonic() + PATIENCE
    ahead, carried = [], []

    def is_over():
        return process.poll() is not None or time.monotonic() > end

    try:
        live = Live.wait_for(watcher, None, tmp_path / 'rotors.yaml', print, is_over)
        while live is not None and not is_over():
            time.sleep(0.01)
            instant = live.newest()
            if instant is None or not instant.paths:
                continue
            base, *feet = instant.paths
            assert [path.shape for path in (base, *feet)] == [(26, 3)] * 5
            assert np.linalg.norm(base[0] - instant.state.H[:3, 3]) < 0.1
            lowest = min(path[:, 2].min() for path in feet)
            assert -0.02 < lowest < 0.04  # balls of 0.02 m; swings aim 0.015 m below the floor
            ahead.append(base[-1, 0] - base[0, 0])
            contacts = [one.force[2] for one in instant.forces if one.is_contact]
            carried.append(sum(contacts) / (9.81 * live.model.total_mass))
    finally:
        watcher.close()
    said = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, said
    assert re.search(rf'^walk of quadruped on ROS_DOMAIN_ID {ros_domain}$', said, re.M), said
    assert re.search('^PASS  goes forward: ', said, re.M), said
    assert re.search(r'^PASS  4 pushes of J 0.06 s: walks for 5 s', said, re.M), said
    assert 0.8 < np.median(carried) < 1.2
    assert min(ahead) < 0.05  # while it stands
    assert 0.15 < np.median(ahead) < 0.3  # 0.5 m/s for half a second


def test_balance__of_a_robot_of_mjcf_squatting(make, folder_of, tmp_path):
    robot = tmp_path / 'biped.xml'
    robot.write_text(BIPED)
    options = "--skip-largest --pushes=1 --cases 'squat 0.35 Hz'"
    process = make('balance', f'ROBOT={robot} {options}', 'FEET=l_foot,r_foot')
    said = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, said
    assert 'serve stranger: floating base' in said
    (row,) = re.findall(r'^\| stranger, 0 +\| squat 0.35 Hz .*$', said, re.MULTILINE)
    assert 'stands' in row
    missed, periods = map(int, re.search(r' ms +\| (\d+) of (\d+) ', row).groups())
    assert missed <= 0.01 * periods
    assert periods >= 1250
    assert re.search(r'^\[simulator\] PASS  squat 0.35 Hz, J', said, re.MULTILINE)
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
