# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every source file says whose it is and under which licence."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {
    '.apt', '.cfg', '.cpp', '.hpp', '.msg', '.py', '.sh', '.srv', '.toml', '.txt', '.urdf',
    '.xml', '.yaml', '.yml',
}  # fmt: skip
NAMES = {'Makefile', '.gitignore', 'run'}


def source_files() -> list[Path]:
    """Return what belongs to the project: tracked or about to be."""
    listed = subprocess.run(
        ['git', 'ls-files', '--cached', '--others', '--exclude-standard'],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip('not a git checkout')
    files = (ROOT / line for line in listed.stdout.splitlines())
    return [f for f in files if f.exists() and (f.suffix in SUFFIXES or f.name in NAMES)]


def test_source_files__carry_spdx_lines() -> None:
    files = source_files()
    assert len(files) > 50
    for file in files:
        head = file.read_text(encoding='utf-8', errors='replace')[:500]
        for line in (
            'SPDX-FileCopyrightText: 2026 geolin_ros contributors',
            'SPDX-License-Identifier: Apache-2.0',
        ):
            assert line in head, f'{file.relative_to(ROOT)} lacks {line!r} at its top'
