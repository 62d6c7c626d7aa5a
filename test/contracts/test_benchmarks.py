# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""README states measured figures only, and what judges speed fails where it has to."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from importlib.util import find_spec

import numpy as np
import pytest
from support.kernel_cache import copy_cache

pytest.importorskip('pinocchio')
from benchmarks import (
    base_state,
    c_library,
    clang_peer,
    constraints,
    contacts,
    first_second,
    gate,
    growth,
    jax_peers,
    offline,
    physical_limit,
    report,
    results,
    riccati,
    tables,
)
from geolin_ros import TreeModel, robots


@pytest.mark.parametrize('path', [tables.README, tables.SPEED], ids=lambda path: path.name)
def test_tables__are_those_of_the_stored_results(path):
    text = path.read_text(encoding='utf-8')
    assert tables.renewed(text, results.read()) == text
    assert 'make bench -->' in text


def test_stored_results__hold_exponents_overhead_second_thread_first_second_and_core():
    stored = results.read()
    held = {(figure.what, figure.case) for figure in stored.figures}
    whats = {what for what, _ in held}
    assert {'Linearizer adds to its kernel', 'import geolin_ros', 'first A and B'} <= whats
    assert any(what.startswith('second thread') for what in whats)
    own = [figure for figure in stored.figures if 'exponent' in figure.what]
    assert len(own) == 2 * len(growth.SHAPES)
    assert all(figure.peer_value is not None for figure in own)
    sizes = [(row.what, row.case) for row in stored.growth]
    assert sizes == [(s, f'{n} joints') for s in growth.SHAPES for n in growth.SIZES]
    assert {work.robot for work in stored.core} == set(physical_limit.ROBOTS)


def test_stored_results__are_within_their_limits():
    assert [report.line(beyond) for beyond in results.read().exceeded] == []


@pytest.mark.parametrize(
    'name', sorted(file.stem for file in tables.README.parent.glob('benchmarks/[a-z]*.py'))
)
def test_benchmark__is_of_the_names_that_there_are(name):
    if name in ('node_latency', 'relay', 'silent_node', 'timed_node', 'watcher'):
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
        assert hasattr(made, constant)
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


def test_constraints__are_measured_in_a_few_sizes(monkeypatch, capsys):
    monkeypatch.setattr(constraints, 'JOINTS', (6, 12))
    monkeypatch.setattr(constraints, 'ROWS', (3, 6))
    constraints.main()
    assert capsys.readouterr().out.count('order at the end') == 2


def test_offline__says_what_each_stage_takes(tmp_path):
    pytest.importorskip('zarr')
    assert offline.write_long_bag(tmp_path / 'bag', 'quadruped', 2.0, 100) == 200
    taken = offline.stages(tmp_path / 'bag')
    assert 0.0 < taken['read and decode'] < taken['all']


def test_base_state__takes_a_share_of_a_core():
    assert 0.0 < base_state.share_of_a_core('quadruped', 'efforts', 2000.0, 500.0, 0.1) < 100.0


@pytest.mark.skipif(shutil.which('cmake') is None, reason='needs cmake')
def test_c_library__linearizes_as_linearizer_does():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    call = c_library.linearize_repeatedly(model, model.neutral_state(), np.zeros(model.n), 3)
    assert call() == 0


@pytest.mark.ros
@pytest.mark.soak
def test_node_latency__measures_node_relay_and_parts():
    done = run_briefly('node_latency', 'quadruped', '--rates', '100', '--seconds', '1')
    assert re.search(r'node / relay \d.*median parts.*kernel', done)


@pytest.mark.ros
@pytest.mark.soak
@pytest.mark.skipif(shutil.which('cmake') is None, reason='needs cmake')
def test_controller_latency__measures_program_and_nodes():
    done = run_briefly('controller_latency', '--rates', '--pushes', '1')
    assert len(re.findall(r'lock step .*\d+ states, \d+ periods', done)) == 2


@pytest.mark.ros
@pytest.mark.soak
@pytest.mark.skipif(shutil.which('chromium') is None, reason='needs chromium')
def test_watcher__measures_node_page_and_browser():
    pytest.importorskip('selenium')
    words = ('--robot', 'quadruped', '--rate', '100', '--seconds', '1', '--turns', '1')
    done = run_briefly('watcher', *words)
    assert re.search(r'watched [1-9][\d.]* Hz.*page [1-9][\d.]* frames/s', done, re.DOTALL)


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


@pytest.mark.parametrize('peer', jax_peers.PEERS)
def test_jax_peer__is_timed_or_says_why_not(peer):
    words = ('--peers', peer, '--states', '2', '--runs', '1', '--seconds', '120')
    done = run_briefly('jax_peers', str(robots.path('quadruped')), *words)
    table = re.findall(rf'\| {peer} \| (\d*) \| (\d*) \| (.*) \|', done)
    (taken, first, why), is_there = table[0], find_spec('jax') is not None
    assert (taken and first) if is_there and not why else why
    assert is_there or why == "ModuleNotFoundError: No module named 'jax'"


def run_briefly(name, *arguments):
    """Return what a benchmark with processes prints; the limits are none of so short a run."""
    pytest.importorskip('geolin_msgs.msg')
    command = [sys.executable, '-m', f'benchmarks.{name}', *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tables.README.parent)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_limits__are_of_the_ratio_or_of_the_time():
    limits = {'limit': 0.5, 'limit_us': 4e3}
    assert report.Row('gain', 'robot', 3e3, 'scipy', 8e3, **limits).passes
    assert not report.Row('gain', 'robot', 3e3, 'scipy', 5e3, **limits).passes
    slow = report.Row('gain', 'robot', 5e3, 'scipy', 2e4, **limits)
    assert not slow.passes
    assert 'limit 0.50, 4 ms  EXCEEDED' in report.line(slow)
    assert '| 0.50, 4 ms |' in tables.summary(results.Results([slow], [], [], []))


def test_results__are_read_as_written(tmp_path):
    row = report.Row('dynamics', 'go2', 1.0, 'pin.aba', 2.0, 0.4)
    figure = report.Figure('threads', 'go2', 1.7, 'x', 1.8, True, 'registers', 2.0)
    work = report.Work('go2', 50_504, 14_210, 0.5, 2.0)
    written = results.Results([row], [figure], [row], [work])
    results.write(written, tmp_path / 'results.json')
    assert results.read(tmp_path / 'results.json') == written
    assert written.exceeded == [row, figure]
    assert all('EXCEEDED' in report.line(beyond) for beyond in written.exceeded)
    assert '| threads | go2 | 1.7 x | registers: 2 | at least 1.8 |' in tables.summary(written)
    assert '| go2 | 50 504 | 14 210 | 0.50 | 2.0 | 25 % |' in tables.core(written)


def grown(slow_from: int) -> list[report.Row]:
    """Return times that grow as n^1.5, the peer's as n^2, four times as long from a size on."""
    return [
        report.Row(
            shape, '', joints**1.5 * (4.0 if joints >= slow_from else 1.0), '', float(joints**2)
        )
        for shape in growth.SHAPES
        for joints in growth.SIZES
    ]


def test_exponents__are_fitted_and_a_cliff_is_an_error(monkeypatch):
    monkeypatch.setattr(sys, 'argv', ['growth'])
    monkeypatch.setattr(growth, 'measure', lambda rounds: grown(1000))
    assert growth.main() == 0
    for figure in growth.exponents(grown(1000)):
        assert (figure.value, figure.peer_value) == pytest.approx((1.5, 2.0))
    monkeypatch.setattr(growth, 'measure', lambda rounds: grown(150))
    assert growth.main() == 1
    beyond = [figure for figure in growth.exponents(grown(150)) if not figure.passes]
    assert {figure.what for figure in beyond} >= {'largest exponent between sizes'}


def test_gate__fails_on_slow_unknown_and_missing_rows():
    stored = {'avx2': {'a': 0.2, 'b': 0.3}, 'avx512f': {'a': 0.1, 'b': 0.4}}
    limits = gate.allowed(stored, 'avx512f')
    assert limits == pytest.approx({'a': 0.15, 'b': 0.6})
    assert gate.slower({'a': 0.149, 'b': 0.59}, limits) == []
    assert 'a: ratio 0.151' in gate.slower({'a': 0.151, 'b': 0.1}, limits)[0]
    assert 'ratio nan' in gate.slower({'a': float('nan'), 'b': 0.1}, limits)[0]
    assert 'not measured' in gate.slower({'a': 0.1}, limits)[0]
    assert 'not stored' in gate.slower({'a': 0.1, 'b': 0.1, 'c': 0.1}, limits)[0]
    assert gate.allowed(stored, 'neon') == pytest.approx({'a': 0.3, 'b': 0.6})


def test_stored_ratios__are_those_that_the_gate_measures():
    stored = json.loads(gate.STORED.read_text(encoding='utf-8'))
    assert 'avx512f' in stored
    for ratios in stored.values():
        assert ratios.keys() == stored['avx512f'].keys()
        assert all(0.0 < ratio < 10.0 for ratio in ratios.values())
