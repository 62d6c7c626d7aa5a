# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The notebooks of the documentation, cell by cell."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / 'docs' / 'notebooks').glob('*.md'))
CELL = re.compile(r'^```\{code-cell\} python\n(.*?)^```', re.DOTALL | re.MULTILINE)


def test_notebooks__are_in_the_table_of_contents():
    listed = re.findall(r'^notebooks/(\w+)$', (ROOT / 'docs' / 'index.md').read_text(), re.M)
    assert sorted(listed) == [path.stem for path in NOTEBOOKS]
    assert len(listed) == 4


@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook__runs_and_shows_something_in_each_part(path, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    monkeypatch.setattr('tempfile.tempdir', None)
    if path.stem == 'from_bag_to_report':
        pytest.importorskip('zarr')
    text = path.read_text()
    assert text.startswith('---\njupytext:')
    names = {'__name__': path.stem}
    cells = CELL.findall(text)
    assert len(cells) >= 3
    for cell in cells:
        exec(compile(cell, path.name, 'exec'), names)
    assert capsys.readouterr().out
