# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""README states measured ratios only, and the gate fails where it has to."""

import json

import pytest

pytest.importorskip('pinocchio')
from benchmarks import gate, report


def test_table_of_readme__is_that_of_the_stored_results():
    text = report.README.read_text(encoding='utf-8')
    assert report.readme_with(report.markdown(*report.read()), text) == text


def test_stored_results__name_processor_versions_and_date():
    date, environment, rows = report.read()
    assert len(date.split('-')) == 3
    assert {'processor', 'vectors', 'python', 'numpy', 'numba', 'pin'} <= environment.keys()
    assert len(rows) > 50


def test_stored_results__are_within_their_limits():
    assert [report.line(row) for row in report.read()[2] if not row.passes] == []


def test_limits__are_of_the_ratio_or_of_the_time():
    limits = {'limit': 0.5, 'limit_us': 4e3}
    assert report.Row('gain', 'robot', 3e3, 'scipy', 8e3, **limits).passes
    assert not report.Row('gain', 'robot', 3e3, 'scipy', 5e3, **limits).passes
    slow = report.Row('gain', 'robot', 5e3, 'scipy', 2e4, **limits)
    assert not slow.passes
    assert 'limit 0.50, 4 ms  EXCEEDED' in report.line(slow)
    assert '| 0.50, 4 ms |' in report.markdown('', {}, [slow])


def test_picture__holds_every_quantity():
    drawing = report.PICTURE.read_text(encoding='utf-8')
    for what in {row.what for row in report.read()[2]}:
        assert what in drawing, what


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
