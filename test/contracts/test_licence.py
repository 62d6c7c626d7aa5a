# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every source file says whose it is; every dependency has a licence that is listed."""

import csv
import re
from importlib.metadata import requires
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {
    '.apt', '.cfg', '.cpp', '.hpp', '.msg', '.py', '.sh', '.srv', '.toml', '.txt', '.urdf',
    '.xml', '.yaml', '.yml',
}  # fmt: skip
NAMES = {'Makefile', '.gitignore', 'run'}
NOT_OURS = re.compile(r'/(build|dist|install|log|\.(?!ci/)\w+|\w+\.egg-info|test/bags)/')
LINES = (
    'SPDX-FileCopyrightText: 2026 geolin_ros contributors',
    'SPDX-License-Identifier: Apache-2.0',
)


def test_source_files__carry_spdx_lines() -> None:
    checked = 0
    for top in ROOT.iterdir():
        if NOT_OURS.search(f'/{top.name}/'):
            continue
        for file in [top] if top.is_file() else top.rglob('*'):
            ours = not NOT_OURS.search(f'/{file.relative_to(ROOT)}')
            if ours and (file.suffix in SUFFIXES or file.name in NAMES):
                head = file.read_text(encoding='utf-8', errors='replace')[:500]
                assert [line for line in LINES if line not in head] == [], file
                checked += 1
    assert checked > 500


def test_licences__are_listed_for_every_dependency() -> None:
    with (ROOT / 'docs' / 'licences.csv').open() as file:
        rows = {name: licence for name, licence, _ in csv.reader(file)}
    needed = {
        re.sub(r'[-_.]+', '-', re.split(r'[^\w.-]', line)[0].lower())
        for line in requires('geolin_ros')
        if not re.search(r'^geolin|extra == .(test|dev|docs).', line)
    }
    assert 'numba' in needed
    assert needed - set(rows) == set(), 'make it anew with `make licences`'
    assert [name for name in needed if rows[name].startswith('not ')] == []
