# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/algorithms.md and the code name only what the other has."""

import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / 'docs' / 'algorithms.md').read_text(encoding='utf-8')
SOURCES = [
    path for folder in ('geolin_ros', 'examples') for path in ROOT.glob(f'{folder}/**/*.py')
]


def found(pattern: str, text: str = TEXT) -> list[str]:
    """Return what ``pattern`` matches, each once."""
    matches = sorted(set(re.findall(pattern, text)))
    assert matches, f'nothing matches {pattern}'
    return matches


def test_named_tests__exist() -> None:
    written = '\n'.join(path.read_text(encoding='utf-8') for path in ROOT.glob('test/**/*.py'))
    missing = [name for name in found(r'`(test_\w+__\w+)`') if f'def {name}(' not in written]
    assert missing == []


def test_named_files__exist() -> None:
    named = found(r'`((?:test|examples|geolin_ros|docs)/[\w/.]+)`')
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize('name', found(r'`(geolin_ros(?:\.\w+)+)`'))
def test_named_objects__can_be_imported(name: str) -> None:
    pkgutil.resolve_name(name)


def test_errata_in_the_code__are_in_the_document() -> None:
    code = '\n'.join(path.read_text(encoding='utf-8') for path in SOURCES)
    cited = set()
    for entry in found(r'errata ([A-Z]\d+(?:, [A-Z]\d+)*)', code):
        cited.update(entry.split(', '))
    assert [entry for entry in sorted(cited) if f'\n| {entry} |' not in TEXT] == []


def test_references_in_the_code__are_in_the_document() -> None:
    code = '\n'.join(path.read_text(encoding='utf-8') for path in SOURCES)
    keys = found(r'\[([A-Z]\w+ (?:19|20)\d\d)\b', code)
    assert [key for key in keys if f'\n- [{key}] ' not in TEXT] == []
