# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""README states measured figures only, and what judges speed fails where it has to."""

import importlib
import json
import sys

import pytest

pytest.importorskip('pinocchio')
from benchmarks import gate, growth, physical_limit, picture, report, results, tables


@pytest.mark.parametrize('path', [tables.README, tables.SPEED], ids=lambda path: path.name)
def test_tables__are_those_of_the_stored_results(path):
    text = path.read_text(encoding='utf-8')
    assert tables.renewed(text, results.read()) == text
    assert 'make bench -->' in text


def test_stored_results__name_processor_versions_and_date():
    stored = results.read()
    assert len(stored.date.split('-')) == 3
    assert {'processor', 'vectors', 'python', 'numpy', 'numba', 'pin'} <= stored.environment.keys()
    assert len(stored.rows) > 50


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


def test_lines_of_the_table__are_told_apart_by_what_and_peer():
    groups = {(row.what, row.peer, row.bound) for row in results.read().rows}
    assert len({(what, peer) for what, peer, _ in groups}) == len(groups)


@pytest.mark.parametrize(
    'name', sorted(file.stem for file in tables.README.parent.glob('benchmarks/[a-z]*.py'))
)
def test_benchmark__is_of_the_names_that_there_are(name):
    if name in ('node_latency', 'relay', 'silent_node', 'timed_node', 'watcher'):
        pytest.importorskip('rclpy')
    importlib.import_module(f'benchmarks.{name}')


@pytest.mark.parametrize('name', ['single_state', 'dynamics'])
def test_benchmark__measures_in_one_round(name):
    made = importlib.import_module(f'benchmarks.{name}')
    rows = made.measure(['go2'], 1) if name == 'single_state' else made.measure(1)
    assert rows
    assert all(row.ours_us > 0.0 < row.peer_us for row in rows)


def test_limits__are_of_the_ratio_or_of_the_time():
    limits = {'limit': 0.5, 'limit_us': 4e3}
    assert report.Row('gain', 'robot', 3e3, 'scipy', 8e3, **limits).passes
    assert not report.Row('gain', 'robot', 3e3, 'scipy', 5e3, **limits).passes
    slow = report.Row('gain', 'robot', 5e3, 'scipy', 2e4, **limits)
    assert not slow.passes
    assert 'limit 0.50, 4 ms  EXCEEDED' in report.line(slow)
    assert '| 0.50, 4 ms |' in tables.summary(results.Results([slow], [], [], []))


def test_picture__holds_every_quantity():
    drawing = picture.PICTURE.read_text(encoding='utf-8')
    for what in {row.what for row in results.read().rows}:
        assert what in drawing, what


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
