# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every source file says whose it is and under which licence."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {
    '.apt', '.cfg', '.cpp', '.hpp', '.msg', '.py', '.sh', '.srv', '.toml', '.txt', '.urdf',
    '.xml', '.yaml', '.yml',
}  # fmt: skip
MADE_BY_TOOLS = {'build', 'dist', 'geolin_ros.egg-info', 'install', 'log'}
NAMES = {'Makefile', '.gitignore', 'run'}
RECORDINGS = ROOT / 'test' / 'bags'  # written by tools, not by hand


def source_files() -> Iterator[Path]:
    """Yield what belongs to the project and can hold a comment."""
    for top in ROOT.iterdir():
        hidden = top.is_dir() and top.name.startswith('.') and top.name != '.ci'
        if hidden or top.name in MADE_BY_TOOLS:
            continue
        for file in [top] if top.is_file() else top.rglob('*'):
            made = RECORDINGS in file.parents or file.parent.suffix == '.egg-info'
            if not made and (file.suffix in SUFFIXES or file.name in NAMES):
                yield file


def test_source_files__carry_spdx_lines() -> None:
    files = list(source_files())
    assert len(files) > 50
    for file in files:
        head = file.read_text(encoding='utf-8', errors='replace')[:500]
        for line in (
            'SPDX-FileCopyrightText: 2026 geolin_ros contributors',
            'SPDX-License-Identifier: Apache-2.0',
        ):
            assert line in head, f'{file.relative_to(ROOT)} lacks {line!r} at its top'
