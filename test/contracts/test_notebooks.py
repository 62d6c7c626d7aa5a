# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The notebooks among the pages, cell by cell."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = [
    path
    for path in sorted((ROOT / 'docs').glob('*.md'))
    if path.read_text().startswith('---\njupytext:')
]
CELL = re.compile(r'^```\{code-cell\} python\n(.*?)^```', re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook__runs_and_shows_something(path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    names = {'__name__': path.stem}
    cells = CELL.findall(path.read_text())
    assert len(cells) >= 3
    for cell in cells:
        exec(compile(cell, path.name, 'exec'), names)
    assert capsys.readouterr().out
