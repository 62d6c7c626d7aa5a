# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of the papers: row, function, tests, limit, worst deviation found.

docs/algorithms.md has the rows and where each is computed. A test carries
``@pytest.mark.shows('Bos 2022: Table 5')``: the section, and the beginning of the first cell of a
row that no other row of the section shares. What it compares by `support.close` counts for its
rows. ``make papers`` runs all these tests and writes docs/evidence/papers.md; this file alone
renews rows, functions and tests there and keeps the numbers.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / 'test')]

from support.close import Compared  # noqa: E402
from tools import evidence  # noqa: E402

DOCUMENT = ROOT / 'docs' / 'algorithms.md'
TABLE = ROOT / 'docs' / 'evidence' / 'papers.md'
TEXT = """`make papers`. Every row of [algorithms.md](../algorithms.md): where it is computed, the
tests that show it, the largest limit that they assert and the largest deviation that they found
(max|ours - theirs| / max|theirs|). An erratum's tests assert by how much what is printed is
off, within 10 %; given are the least such figure and the least deviation. Rows without numbers
are shown by equalities, signs, refusals or comparisons of another kind.
A run of some of the tests renews their rows; the others keep their numbers of earlier runs."""
OF_ROWS = ('', 'Paper', 'Report', 'Statement', 'Row')
"""What the first column of a table of rows is called."""
HEAD = ('Row', 'Where', 'Tests', 'Limit', 'Found')


class Row(NamedTuple):
    """A row of a table about a paper."""

    section: str
    title: str
    cells: tuple[str, ...]

    @property
    def is_erratum(self) -> bool:
        """Whether it is about a misprint."""
        return re.fullmatch(r'[A-Z]\d+', self.title) is not None


def rows(text: str) -> Iterator[Row]:
    """Yield the rows of all tables whose second column is Here or Where."""
    section, is_table = '', None
    for line in text.splitlines():
        if line.startswith('## '):
            section = line[3:].partition(']')[0].lstrip('[')
        cells = re.split(r'(?<!\\)\|', line)[1:-1] if line.startswith('|') else []
        cells = [cell.strip() for cell in cells]
        if not cells:
            is_table = None
        elif is_table is None:
            is_table = cells[0] in OF_ROWS and cells[1] in ('Here', 'Where')
        elif is_table and not cells[0].startswith('---'):
            yield Row(section, cells[0], tuple(cells[1:]))


def shown() -> dict[str, list[str]]:
    """Return the names of the tests that carry each key."""
    found: dict[str, list[str]] = {}
    for path in sorted(ROOT.glob('test/**/test_*.py')):
        text = path.read_text(encoding='utf-8')
        for case, erratum in re.findall(r"^    '(([A-Z]\d+) [^']*)': ", text, re.MULTILINE):
            found.setdefault(erratum, []).append(case)
        for node in ast.walk(ast.parse(text)):
            for mark in getattr(node, 'decorator_list', ()):
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == 'pytest.mark.shows':
                    for key in mark.args:
                        found.setdefault(ast.literal_eval(key), []).append(node.name)
    return found


def keys_of(row: Row, keys: Iterable[str]) -> list[str]:
    """Return the keys that name a row."""
    parts = ((key, *key.split(': ', 1)) for key in keys if ': ' in key)
    return [
        key for key, section, title in parts if section == row.section and begins(row.title, title)
    ]


def tests_of(row: Row, found: dict[str, list[str]]) -> list[str]:
    """Return the tests that show a row, and the cases of tests that are named as an erratum."""
    names = {name for key in keys_of(row, found) for name in found[key]}
    return sorted(names | set(found.get(row.title, ())))


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
        return f'{found.figure:.2g} within 10 %', f'{found.found:.2g}'
    if found.limit is None:
        return '', ''
    return f'{found.limit:.0e}', f'{found.worst:.1e}'


def lines_of(table: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the cells of the generated table by section and row."""
    return {(row.section, row.title): row.cells for row in rows(table)}


def generated(text: str, record: dict[str, Compared] | None, before: str = '') -> list[str]:
    """Return the lines of the table; without a record with the numbers that stood ``before``."""
    collected, old, lines, section = shown(), lines_of(before), [], None
    for row in rows(text):
        if row.section != section:
            section = row.section
            lines += ['', f'## [{section}]', '', *evidence.table(HEAD, [])]
        tests = tests_of(row, collected)
        where = '' if row.is_erratum else re.sub(r'\]\((?!\w+:)', '](../', row.cells[0])
        if record is None:
            numbers = old.get((row.section, row.title), ('', '', '', ''))[2:4]
        elif set(tests) <= set(record):
            numbers = numbers_of(row, merged(record[name] for name in tests))
        else:
            numbers = old.get((row.section, row.title), ('', '', '', ''))[2:4]
        cells = (row.title, where, ', '.join(f'`{name}`' for name in tests), *numbers)
        lines.append(f'| {" | ".join(cells)} |')
    return lines[1:]


def write(record: dict[str, Compared]) -> None:
    """Write the table from what tests found, by their names; where some did not run, as it was."""
    text, before = DOCUMENT.read_text(encoding='utf-8'), ''
    if TABLE.exists():
        before = TABLE.read_text(encoding='utf-8')
    evidence.write(TABLE, 'The papers, row by row', TEXT, generated(text, record, before))


def renewed(table: str) -> str:
    """Return the generated page with the rows, functions and tests of now."""
    head = table.partition('\n## ')[0]
    text = DOCUMENT.read_text(encoding='utf-8')
    return head + '\n' + '\n'.join([*generated(text, None, table), '', ''])[:-1]


if __name__ == '__main__':
    TABLE.write_text(renewed(TABLE.read_text(encoding='utf-8')), encoding='utf-8')
