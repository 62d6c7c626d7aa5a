# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks run, README states their stored figures only, and what is too slow fails."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
from support.kernel_cache import copy_cache

pytest.importorskip('pinocchio')
from benchmarks import (
    balance_odometry,
    base_state,
    c_library,
    clang_peer,
    constraints,
    contacts,
    first_second,
    gate,
    growth,
    offline,
    physical_limit,
    report,
    results,
    riccati,
    tables,
)
from geolin_ros import TreeModel, robots

ROOT = tables.README.parent
OVER_DDS = ('node_latency', 'relay', 'silent_node', 'timed_node', 'watcher')


@pytest.mark.parametrize('path', [tables.README, tables.SPEED], ids=lambda path: path.name)
def test_tables__are_those_of_the_stored_results(path):
    text = path.read_text(encoding='utf-8')
    assert tables.renewed(text, results.read()) == text
    assert 'make bench -->' in text


def test_stored_results__are_complete_and_within_their_limits():
    stored = results.read()
    assert [report.line(beyond) for beyond in stored.exceeded] == []
    whats = [figure.what for figure in stored.figures]
    assert {'Linearizer adds to its kernel', 'import geolin_ros', 'first A and B'} <= set(whats)
    assert any(what.startswith('second thread') for what in whats)
    assert sum('exponent' in what for what in whats) == 2 * len(growth.SHAPES)
    assert {work.robot for work in stored.core} == set(physical_limit.ROBOTS)


@pytest.mark.parametrize('name', sorted(file.stem for file in ROOT.glob('benchmarks/[a-z]*.py')))
def test_benchmark__is_of_the_names_that_there_are(name):
    if name in OVER_DDS:
        pytest.importorskip('rclpy')
    importlib.import_module(f'benchmarks.{name}')


SMALLEST = {
    'along': {'ROBOTS': {'go2': (0.02, 12)}, 'N': 3},
    'batch': {'ROBOTS': ['go2'], 'STATES': 40, 'BLOCK': 1e-4, 'REGISTERS': 1000},
    'contacts': {'STANDING': {'go2': contacts.STANDING['go2']}},
    'discretization': {'ROBOTS': ['go2'], 'STANDING': ['humanoid, 1 sole']},
    'dynamics': {'ROBOTS': ['go2']},
    'growth': {'SIZES': (5, 10)},
    'physical_limit': {'ROBOTS': ['go2']},
    'riccati': {'CASES': {'quadruped, 4 feet': riccati.CASES['quadruped, 4 feet']}},
    'single_state': {},
    'torso': {},
}
"""Of each benchmark the constants with which a round is short."""


@pytest.mark.parametrize('name', SMALLEST)
def test_benchmark__measures_in_one_round(name, monkeypatch):
    made = importlib.import_module(f'benchmarks.{name}')
    for constant, value in SMALLEST[name].items():
        monkeypatch.setattr(made, constant, value)
    arguments = {
        'contacts': (1, True),
        'riccati': (1, True, made.CASES) if name == 'riccati' else (),
        'single_state': (['go2'], 1),
    }
    rows = made.measure(*arguments.get(name, (1,)))
    assert rows
    if name != 'physical_limit':
        assert all(row.ours_us > 0.0 < row.peer_us for row in rows)
    if name == 'batch':
        assert made.second_thread(1)[0].value > 0.0
    if name == 'growth':
        assert len(made.exponents(rows)) == 2 * len(made.SHAPES)


def test_benchmarks_of_other_kinds__measure_little(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(constraints, 'JOINTS', (6, 12))
    monkeypatch.setattr(constraints, 'ROWS', (3, 6))
    constraints.main()
    assert capsys.readouterr().out.count('order at the end') == 2
    assert 0.0 < base_state.share_of_a_core('quadruped', 'efforts', 2000.0, 500.0, 0.1) < 100.0
    pytest.importorskip('zarr')
    assert offline.write_long_bag(tmp_path / 'bag', 'quadruped', 2.0, 100) == 200
    taken = offline.stages(tmp_path / 'bag')
    assert 0.0 < taken['read and decode'] < taken['all']


@pytest.mark.skipif(shutil.which('cmake') is None, reason='needs cmake')
def test_c_library__linearizes_as_linearizer_does():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    call = c_library.linearize_repeatedly(model, model.neutral_state(), np.zeros(model.n), 3)
    assert call() == 0


def test_first_second__measures_import_and_first_result(tmp_path, monkeypatch):
    warm = copy_cache(tmp_path)
    monkeypatch.setattr(first_second.tempfile, 'TemporaryDirectory', lambda: nullcontext(warm))
    monkeypatch.setattr(first_second, 'COLD', 1)
    monkeypatch.setattr(first_second, 'WARM', 1)
    imported, _, first = (figure.value for figure in first_second.measure())
    assert min(imported, first) > 0.0


@pytest.mark.soak  # compiles the peer for a minute or two, once
@pytest.mark.skipif(clang_peer.missing() is not None, reason=str(clang_peer.missing()))
def test_strongest_peer__is_as_right_as_ours_and_timed():
    rows = clang_peer.measure(['go2'], 1)  # with contacts too; asserts that both say the same
    assert len(rows) == 4
    assert all(row.ours_us > 0.0 < row.peer_us for row in rows)


def test_balance__is_that_on_odometry_too(tmp_path, monkeypatch):
    monkeypatch.setattr(balance_odometry, 'largest_borne', lambda _, case, *__: case.impulse)
    table = tmp_path / 'table.md'
    words = *('--robot', 'quadruped', '--cases', '4 feet', '--pushes', '1'), '--table', str(table)
    assert balance_odometry.main(list(words)) == 0
    assert '| quadruped | 4 feet | 0.060 | 0.060 | 0.060 | 1.00 |' in table.read_text()


def run_briefly(name, *arguments):
    """Return how a benchmark with processes ends; the limits are none of so short a run."""
    command = [sys.executable, '-m', f'benchmarks.{name}', *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode in (0, 1), done.stderr
    return done


def test_peer_in_jax__is_timed_or_says_what_is_missing():
    words = str(robots.path('quadruped')), '--peers', 'frax', '--states', '2', '--runs', '1'
    done = run_briefly('jax_peers', *words)
    row = r"(?m)^\| frax \| (\d+ \| \d+ \| | \|  \| \w+: No module named '\w+') \|$"
    assert re.search(row, done.stdout), done


@pytest.mark.ros
@pytest.mark.parametrize(
    ('words', 'program', 'printed'),
    [
        ('node_latency quadruped --rates 100 --seconds 0.5', 'true', r'node / relay \d.*kernel'),
        pytest.param(
            'controller_latency --rates --pushes 1',
            'cmake',
            r'(?s)(lock step .*\d+ periods.*){2}',
            marks=pytest.mark.soak,
        ),
        pytest.param(
            'watcher --robot quadruped --rate 100 --seconds 1 --turns 1',
            'chromium',
            r'(?s)watched [1-9][\d.]* Hz.*page [1-9][\d.]* frames/s',
            marks=pytest.mark.soak,
        ),
    ],
)
def test_benchmark_with_processes__measures_briefly(words, program, printed):
    if shutil.which(program) is None:
        pytest.skip(f'needs {program}')
    pytest.importorskip('geolin_msgs.msg')
    done = run_briefly(*words.split())
    assert re.search(printed, done.stdout), done.stderr


def test_gate__fails_on_slow_unknown_and_missing_rows():
    stored = {'avx2': {'a': 0.2, 'b': 0.3}, 'avx512f': {'a': 0.1, 'b': 0.4}}
    limits = gate.allowed(stored, 'avx512f')
    assert limits == pytest.approx({'a': 0.15, 'b': 0.6})
    assert gate.allowed(stored, 'neon') == pytest.approx({'a': 0.3, 'b': 0.6})
    assert gate.slower({'a': 0.149, 'b': 0.59}, limits) == []
    for measured in (
        {'a': 0.151, 'b': 0.1},
        {'a': float('nan'), 'b': 0.1},
        {'a': 0.1},
        {'a': 0.1, 'b': 0.1, 'c': 0.1},
    ):
        assert len(gate.slower(measured, limits)) == 1
    known = json.loads(gate.STORED.read_text(encoding='utf-8'))
    assert all(ratios.keys() == known['avx512f'].keys() for ratios in known.values())
