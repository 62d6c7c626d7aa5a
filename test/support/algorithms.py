# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which tests show what docs/algorithms.md says: collected from the tests, written to its tables.

A test carries ``@pytest.mark.shows('Bos 2022: Table 5')``: the section, and the beginning of the
first cell of a row that no other row of the section shares. Run this file after tests have been
renamed, moved or marked: it rewrites the columns Test and Check.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / 'docs' / 'algorithms.md'
NAME = re.compile(r'`test_\w+__\w+`')


class Row(NamedTuple):
    """A row of a table that says what shows it."""

    section: str
    title: str
    line: int
    cells: list[str]
    column: int
    """Of the cells: where the tests stand."""


def rows(text: str) -> Iterator[Row]:
    """Yield the rows of all tables with a column Test or Check."""
    section, column = '', -1
    for number, line in enumerate(text.splitlines()):
        if line.startswith('## '):
            section = line[3:].partition(']')[0].lstrip('[')
        cells = re.split(r'(?<!\\)\|', line)[1:-1] if line.startswith('|') else []
        cells = [cell.strip() for cell in cells]
        if not cells:
            column = -1
        elif column < 0:
            heads = [k for k, cell in enumerate(cells) if cell in ('Test', 'Check')]
            column = heads[0] if heads else len(cells)
        elif not cells[0].startswith('---') and column < len(cells):
            yield Row(section, cells[0], number, cells, column)


def shown() -> dict[str, list[str]]:
    """Return the names of the tests that carry each key."""
    found: dict[str, list[str]] = {}
    for path in sorted(ROOT.glob('test/**/test_*.py')):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            for mark in getattr(node, 'decorator_list', ()):
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == 'pytest.mark.shows':
                    for key in mark.args:
                        found.setdefault(ast.literal_eval(key), []).append(node.name)
    return found


def tests_of(row: Row, found: dict[str, list[str]]) -> list[str]:
    """Return the tests that show a row."""
    return [
        name
        for key, names in found.items()
        for section, _, title in [key.partition(': ')]
        if section == row.section and begins(row.title, title)
        for name in names
    ]


def begins(title: str, key: str) -> bool:
    """Return whether a title begins with the words of a key."""
    return title.startswith(key) and not title[len(key) : len(key) + 1].isalnum()


def written(text: str) -> str:
    """Return the document with the tests as collected; other words stay in front of them."""
    lines, found = text.splitlines(), shown()
    for row in rows(text):
        cell, collected = row.cells[row.column], {f'`{name}`' for name in tests_of(row, found)}
        names = [name for name in NAME.findall(cell) if name in collected]
        names += sorted(collected - set(names))
        said = [part.strip(' ,;') for part in NAME.split(cell)]
        row.cells[row.column] = '; '.join(part for part in (*said, ', '.join(names)) if part)
        lines[row.line] = f'| {" | ".join(row.cells)} |'.replace('|  |', '| |')
    return '\n'.join(lines) + '\n'


if __name__ == '__main__':
    DOCUMENT.write_text(written(DOCUMENT.read_text(encoding='utf-8')), encoding='utf-8')
