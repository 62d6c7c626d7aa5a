# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of the papers: row, function, tests, limit, worst deviation found.

docs/papers.yaml has the rows. A test carries
``@pytest.mark.shows('Bos 2022: Table 5')``: the section, and the beginning of a row that no other
row of the section shares. What it compares by `support.close` counts for its rows. ``make papers``
runs all these tests and writes docs/papers.json, of which docs/conf.py makes the tables of
docs/algorithms.md; this file alone renews the tests there and keeps the numbers. Every other run
fails where a test asserts less than is written there.
"""

import ast
import functools
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / 'test')]

from support.close import Compared  # noqa: E402
from tools import evidence  # noqa: E402

DOCS = ROOT / 'docs'
ROWS, FOUND = DOCS / 'papers.yaml', DOCS / 'papers.json'


class Row(NamedTuple):
    """A row of a table about a paper."""

    section: str
    title: str
    cells: tuple[str | None, ...]

    @property
    def is_erratum(self) -> bool:
        """Whether it is about a misprint."""
        return re.fullmatch(r'[A-Z]\d+', self.title) is not None


def rows() -> Iterator[Row]:
    """Yield the rows of all papers, then the errata of each."""
    for section, parts in yaml.safe_load(ROWS.read_text(encoding='utf-8')).items():
        for title, where in parts['rows'].items():
            yield Row(section, title, (where,))
        for title, cells in parts['errata'].items():
            yield Row(section, title, tuple(cells))


@functools.cache
def tests() -> list[tuple[str, ast.Module]]:
    """Return text and syntax tree of all files of tests."""
    texts = [path.read_text(encoding='utf-8') for path in sorted(ROOT.glob('test/**/test_*.py'))]
    return [(text, ast.parse(text)) for text in texts]


@functools.cache
def shown() -> dict[str, list[str]]:
    """Return the names of the tests that carry each key."""
    found: dict[str, list[str]] = {}
    for text, tree in tests():
        for case, erratum in re.findall(r"^    '(([A-Z]\d+) [^']*)': ", text, re.MULTILINE):
            found.setdefault(erratum, []).append(case)
        for node in ast.walk(tree):
            for mark in getattr(node, 'decorator_list', ()):
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == 'pytest.mark.shows':
                    for key in mark.args:
                        found.setdefault(ast.literal_eval(key), []).append(node.name)
    return found


def tests_of(row: Row, found: dict[str, list[str]]) -> list[str]:
    """Return the tests that show a row, and the cases of tests that are named as an erratum."""
    names = set(found.get(row.title, ()))
    for key in found:
        section, colon, title = key.partition(': ')
        if colon and section == row.section and begins(row.title, title):
            names.update(found[key])
    return sorted(names)


def begins(title: str, key: str) -> bool:
    """Return whether a title begins with the words of a key."""
    return title.startswith(key) and not title[len(key) : len(key) + 1].isalnum()


def merged(parts: Iterable[Compared]) -> Compared:
    """Return what several comparisons amount to."""
    columns = list(zip(*parts, strict=True)) or [()] * 4
    known = [[value for value in column if value is not None] for column in columns]
    pick = (max, max, min, min)
    return Compared(*(choose(v) if v else None for choose, v in zip(pick, known, strict=True)))


def numbers_of(row: Row, found: Compared) -> tuple[str, str]:
    """Return the cells Limit and Found."""
    if row.is_erratum:
        if found.figure is None:
            return '', ''
        return f'{found.figure:.3g} within 10 %', f'{found.found:.3g}'
    if found.limit is None:
        return '', ''
    return f'{found.limit:.0e}', f'{found.worst:.1e}'


@functools.cache
def written() -> dict[str, list[tuple[Row, str]]]:
    """Return the rows that each test shows, each with the limit or figure in the table."""
    known: dict[str, list[tuple[Row, str]]] = {}
    for section, parts in read().items():
        for title, (tests, limit, _) in parts.items() if section != 'of' else ():
            for test in tests:
                known.setdefault(test, []).append((Row(section, title, ()), limit))
    return known


def outdated(names: Iterable[str], found: Compared) -> Iterator[str]:
    """Yield where the table says more than a test that ran, or nothing."""
    for row, stored in (cell for name in names for cell in written().get(name, ())):
        asserted = numbers_of(row, found)[0]
        if asserted:
            before, now = (float(cell.partition(' ')[0] or 'nan') for cell in (stored, asserted))
            if not (before <= now if row.is_erratum else before >= now):
                yield (
                    f'docs/papers.json has {stored!r} for {row.section}, {row.title!r}, '
                    f'this test asserts {asserted}: run make papers'
                )


def missing(record: dict[str, Compared]) -> set[str]:
    """Return the tests of rows that are not recorded."""
    collected = shown()
    return {name for row in rows() for name in tests_of(row, collected)} - set(record)


def generated(record: dict[str, Compared] | None, before: dict[str, Any]) -> dict[str, Any]:
    """Return tests, limit and deviation of each row; where tests did not run, those of before."""
    collected, made = shown(), {}
    for row in rows():
        tests = tests_of(row, collected)
        numbers = before.get(row.section, {}).get(row.title, ([], '', ''))[1:]
        if record is not None:
            numbers = numbers_of(row, merged(record[name] for name in tests))
        made.setdefault(row.section, {})[row.title] = [tests, *numbers]
    return made


def read() -> dict[str, Any]:
    """Return what `write` wrote."""
    return json.loads(FOUND.read_text(encoding='utf-8'))


def write(record: dict[str, Compared] | None) -> None:
    """Write what tests found, by their names; None: renew the tests of each row alone."""
    before = read()
    of = before['of'] if record is None else evidence.provenance()
    parts = [f'"of": {json.dumps(of)}']
    for section, found in generated(record, before).items():
        lines = [f'{json.dumps(row)}: {json.dumps(cells)}' for row, cells in found.items()]
        parts.append(f'{json.dumps(section)}: {{\n' + ',\n'.join(lines) + '\n}')
    FOUND.write_text('{\n' + ',\n'.join(parts) + '\n}\n', encoding='utf-8')


if __name__ == '__main__':
    write(None)
