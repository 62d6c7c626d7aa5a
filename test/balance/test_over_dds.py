# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Simulator, linearizer and LQR node as processes: `make balance` with fewer pushes."""

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip('mujoco')
pytest.importorskip('geolin_msgs.msg')

from geolin_ros.balance.picture import draw
from geolin_ros.balance.report import Row, verdict

LQR = {
    'name': '4 feet',
    'impulse': 0.06,
    'stands': True,
    'fallen': None,
    'peak_error': 0.03,
    'drift': 0.01,
    'settling': 0.3,
    'rate': 500.0,
    'speed': 0.9,
    'latency': [0.001, 0.002],
    'missed': 0,
    'clipped': 0,
    'measured': 12,
}
LINE = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 0.3]]])
ROW = Row(
    'quadruped', 0, '4 feet', LQR, True, None, 0.05, 0.6, 0.07, 0.08, np.arange(3.0),
    np.arange(3.0),
    np.arange(3.0), np.arange(3.0), [1.0], [LINE, LINE],
)  # fmt: skip


def balance(*arguments):
    command = [sys.executable, '-m', 'geolin_ros.balance', *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=500)


def test_quadruped__balances_in_three_processes(tmp_path):
    picture = tmp_path / 'balance.png'
    found = balance('--robot=quadruped', '--pushes=1', '--only=4 feet', f'--output={picture}')
    assert found.returncode == 0, found.stdout + found.stderr
    (row,) = re.findall(r'^quadruped, 0  .*$', found.stdout, re.MULTILINE)
    assert row.count('stands') == 2
    assert '500 Hz' in row
    made_of_messages = re.findall(r'\d+', row.split(' ms ')[1])[1]
    assert int(made_of_messages) > 0
    assert 'PASS  1 of 1 cases stand' in found.stdout
    assert picture.read_bytes().startswith(b'\x89PNG')


def test_robot_without_known_feet__is_told_what_to_give():
    found = balance('--robot=quadruped', '--feet=FL_fot')
    assert found.returncode == 1
    assert 'FL_foot' in found.stderr


def test_verdict__fails_where_one_robot_falls(capsys):
    fallen = replace(ROW, lqr=LQR | {'stands': False, 'fallen': 1.7})
    assert verdict([ROW])
    assert not verdict([ROW, fallen])
    assert not verdict([])
    printed = capsys.readouterr().out
    assert 'falls 1.7 s' in printed
    assert 'FAIL  quadruped, seed 0: 4 feet at J 0.06 s' in printed


def test_picture__is_drawn_without_a_display(tmp_path):
    draw([ROW, ROW], tmp_path / 'rows.png')
    assert (tmp_path / 'rows.png').stat().st_size > 10_000
