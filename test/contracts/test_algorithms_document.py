# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/algorithms.md, its tables and the code name only what the others have."""

import ast
import functools
import re
from pathlib import Path
from typing import Any

import pytest
from support import algorithms

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / 'docs' / 'algorithms.md').read_text(encoding='utf-8')
ROWS = algorithms.ROWS.read_text(encoding='utf-8')
SOURCES = [
    path
    for folder in ('geolin_ros', 'geolin_control', 'geolin_estimation', 'examples')
    for path in ROOT.glob(f'{folder}/**/*.py')
]


NUMBERED = {
    'Bos 2022': {
        'Table': (1, *range(4, 10)),
        'Proposition': range(1, 5),
        'figure': (5,),
        'Definition': (3,),
        'Eq': range(1, 92),
    },
    'Traversaro 2019': {'Eq': (*range(1, 84), *range(85, 95))},
    'Kim 2012': {
        'Table': range(1, 8),
        'Lemma': range(1, 4),
        'Corollar': (1, 2),
        'Eq': range(1, 93),
    },
    'Nori': {
        'Property': (1, 2, 3),
        'Problem': (1, 2),
        'Remark': range(1, 7),
        'Definition': (1,),
        'Figure': (1, 2),
        'Eq': range(1, 34),
    },
}
"""What the papers number: 2 and 3 of the first are lists of symbols, 14 to 16 of its notation."""

SHOWN_ELSEWHERE = {'- O(n) + O(m^3)': 'a time; `python -m benchmarks.constraints`'}


def found(pattern: str, text: str = TEXT) -> list[str]:
    """Return what ``pattern`` matches, each once."""
    matches = sorted(set(re.findall(pattern, text)))
    assert matches, f'nothing matches {pattern}'
    return matches


@functools.cache
def stored() -> dict[str, dict[str, list[Any]]]:
    """Return tests, limit and deviation of each row, by paper."""
    return {key: value for key, value in algorithms.read().items() if key != 'of'}


def test_errata_in_the_code__are_in_the_document() -> None:
    code = '\n'.join(path.read_text(encoding='utf-8') for path in SOURCES)
    cited = set()
    for entry in found(r'errata ([A-Z]\d+(?:, [A-Z]\d+)*)', code):
        cited.update(entry.split(', '))
    assert [entry for entry in sorted(cited) if f'\n    {entry}: [' not in ROWS] == []


def test_references_in_the_code__are_in_the_document() -> None:
    code = '\n'.join(path.read_text(encoding='utf-8') for path in SOURCES)
    keys = found(r'\[([A-Z]\w+ (?:19|20)\d\d)\b', code)
    assert [key for key in keys if f'\n- [{key}] ' not in TEXT] == []


def numbers(kind: str, titles: str) -> set[int]:
    """Return the numbers of what the papers call ``kind`` that the titles name."""
    if kind != 'Eq':
        named = re.findall(rf'(?i){kind}\w* (\d+)(?:, (\d+))?(?: and (\d+))?', titles)
        return {int(number) for numbers in named for number in numbers if number}
    said: set[int] = set()
    for number, last in re.findall(r'\((\d+)[^)]*\)(?:-\((\d+)\))?', titles):
        said |= set(range(int(number), int(last or number) + 1))
    return said


@pytest.mark.parametrize('paper', NUMBERED)
def test_everything_in_a_paper__is_mapped(paper: str) -> None:
    named = [row for row in algorithms.rows() if row.section == paper and not row.is_erratum]
    titles, missing = '\n'.join(row.title for row in named), []
    for kind, wanted in NUMBERED[paper].items():
        missing += [f'{kind} {number}' for number in set(wanted) - numbers(kind, titles)]
    assert missing == []


def test_table_of_the_papers__has_the_rows_and_tests_of_now() -> None:
    assert stored() == algorithms.generated(None, stored()), (
        'run make papers, or test/support/algorithms.py'
    )


def test_table_of_the_papers__finds_less_than_its_limits() -> None:
    """Errata are off by their figures, within 10 %."""
    checked = 0
    for row in algorithms.rows():
        _, limit, worst = stored()[row.section][row.title]
        if limit:
            asserted, most = float(limit.partition(' ')[0]), float(worst)
            within = abs(most - asserted) <= 0.105 * asserted  # both are rounded
            assert within if row.is_erratum else most <= asserted, row
            checked += 1
    assert checked > 50


def test_row_with_a_recorded_comparison__has_a_limit() -> None:
    recording = {
        node.name
        for _, tree in algorithms.tests()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for inner in ast.walk(node)
        if getattr(inner, 'id', '') in ('assert_close', 'assert_blocks_close')
    }
    without = {}
    for row in algorithms.rows():
        tests, limit, _ = stored()[row.section][row.title]
        if not row.is_erratum and not limit and not recording.isdisjoint(tests):
            without[row.title] = recording.intersection(tests)
    assert without == {}, 'run make papers'


def test_each_mark__names_one_row() -> None:
    sections = {}
    for row in algorithms.rows():
        sections.setdefault(row.section, []).append(row.title)
    for key in algorithms.shown():
        section, named, title = key.partition(': ')
        if not named:
            continue  # a case that is called as an erratum
        meant = [other for other in sections.get(section, ()) if algorithms.begins(other, title)]
        assert len(meant) == 1, f'{key!r} names {meant}'


def test_each_row__says_in_full_where_it_is_and_has_a_test_that_shows_it() -> None:
    collected = algorithms.shown()
    for row in algorithms.rows():
        if row.is_erratum:
            continue  # below
        bare = re.findall(
            r'`(?!geolin_)([A-Za-z]\w{2,}(?:\.\w+)*(?:\(.*\))?)`(?! of)', row.cells[0] or ''
        )
        assert bare == [], f'{row.title}: full names are checked, these are not'
        if row.title not in SHOWN_ELSEWHERE:
            assert algorithms.tests_of(row, collected), f'no test is marked {row.title!r}'


def test_each_erratum_that_gives_wrong_results__has_a_test() -> None:
    """Marked, or a case by its name: 'B2 Table 5 line 12'."""
    collected = algorithms.shown()
    for row in algorithms.rows():
        if row.is_erratum and row.cells[-1] == 'W':
            assert algorithms.tests_of(row, collected), row.title
