# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md: every command in it, in order, in one folder."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.environment import ROOT, with_checkout
from support.processes import Program

pytest.importorskip('mujoco')
pytest.importorskip('geolin_msgs.msg')

TEXT = (ROOT / 'docs' / 'tutorial.md').read_text()
BLOCKS = re.findall(r'^```bash\n(.*?)^```', TEXT, re.DOTALL | re.MULTILINE)
SETUP, *STEPS = BLOCKS
SAID = (
    '0 errors, 0 warnings',
    "floating base 'base', 12 joint coordinates",
    '12 of 12 states controllable, stabilizable',
    '(36, 36) (36, 12) at rest',
    'PASS  1 of 1 cases stand',
    'FL_foot+FR_foot+RL_foot: 1 posture',
    'PASS  4 feet, J 0.06 s: stands',
)
"""What the commands print, in order."""
MADE = ('my_robot.urdf', 'modes.png', 'geolin_balance.png', 'gains.yaml')


def are_nodes(block):
    """Whether the commands of a block run until they are asked to end."""
    return '--ros-args' in block


def environment():
    programs = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'
    return with_checkout() | {'PATH': programs}


def run(block, folder):
    """Return what a block prints; its last command and all before have to succeed."""
    found = subprocess.run(
        ['bash', '-euo', 'pipefail', '-c', block],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert found.returncode == 0, f'{block}{found.stdout}{found.stderr}'
    return found.stdout


def test_all_code__is_bash():
    assert len(re.findall(r'^```', TEXT, re.MULTILINE)) == 2 * len(BLOCKS)
    assert SETUP == 'make setup\n. .venv/bin/activate\n'
    assert sum(are_nodes(block) for block in STEPS) == 1


def test_setup__leaves_a_checkout_ready():
    if not (ROOT / '.venv').is_dir() or (ROOT / '.venv').is_symlink():
        pytest.skip('this checkout has no .venv of its own, whose setup takes minutes')
    run(SETUP, ROOT)


@pytest.mark.usefixtures('ros_domain')
def test_commands__lead_to_a_robot_that_stands(tmp_path):
    nodes, printed = [], ''
    try:
        for block in STEPS:
            if are_nodes(block):
                nodes += [
                    Program(['bash', '-c', f'exec {command}'], cwd=tmp_path, env=environment())
                    for command in block.replace('\\\n', ' ').strip().splitlines()
                ]
            else:
                printed += '\n' + run(block, tmp_path)
        assert [node.poll() for node in nodes] == [None, None]
    finally:
        for node in nodes:
            node.send_signal(signal.SIGINT)
        try:
            statuses = [node.wait(30) for node in nodes]
        finally:
            for node in nodes:
                node.kill()
    assert statuses == [0, 0]
    at = 0
    for words in SAID:
        assert words in printed[at:], f'{words!r} is not in {printed[at:]}'
        at = printed.index(words, at)
    for name in MADE:
        assert (tmp_path / name).stat().st_size > 100, name
