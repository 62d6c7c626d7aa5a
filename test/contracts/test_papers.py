# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of the papers: each row and erratum has a test, within the limit that is printed."""

from typing import Any

import pytest
from support import algorithms

ELSEWHERE = {'- O(n) + O(m^3)'}  # a time; `python -m benchmarks.constraints`


@pytest.fixture(scope='module')
def stored() -> dict[str, dict[str, list[Any]]]:
    """Tests, limit and deviation of each row, by paper."""
    return {key: value for key, value in algorithms.read().items() if key != 'of'}


def test_table__has_the_rows_and_tests_of_now(stored: dict[str, Any]) -> None:
    assert stored == algorithms.generated(None, stored), (
        'run make papers, or test/support/algorithms.py'
    )


def test_table__finds_less_than_its_limits(stored: dict[str, Any]) -> None:
    """Errata are off by their figures, within 10 %."""
    checked = 0
    for row in algorithms.rows():
        _, limit, worst = stored[row.section][row.title]
        if limit:
            asserted, most = float(limit.partition(' ')[0]), float(worst)
            within = abs(most - asserted) <= 0.105 * asserted  # both are rounded
            assert within if row.is_erratum else most <= asserted, row
            checked += 1
    assert checked > 50


def test_each_mark__names_one_row() -> None:
    titles = [(row.section, row.title) for row in algorithms.rows()]
    for section, named, title in (key.partition(': ') for key in algorithms.shown()):
        if named:  # else a case that is called as an erratum
            meant = [of for of in titles if of[0] == section and algorithms.begins(of[1], title)]
            assert len(meant) == 1, f'{section}: {title!r} names {meant}'


def test_each_row_and_each_erratum_that_gives_wrong_results__has_a_test() -> None:
    collected = algorithms.shown()
    for row in algorithms.rows():
        if row.cells[-1] == 'W' or not (row.is_erratum or row.title in ELSEWHERE):
            assert algorithms.tests_of(row, collected), row.title
