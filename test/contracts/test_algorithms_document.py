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


CONTENTS = {
    'Bos 2022': {
        'Table': (1, *range(4, 10)),
        'Proposition': range(1, 5),
        'figure': (5,),
        'Definition': (3,),
        'Eq': (11, 12, 39, 42, 54, 56, 61, 67, 68, *range(82, 92)),
    },
    'Traversaro 2019': {'Eq': (*range(17, 34), 35, *range(37, 48), *range(49, 84))},
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
        'Eq': (*range(2, 24), *range(24, 34)),
    },
}
"""What the papers number: 2 and 3 of the first are lists of symbols, 14 to 16 of its notation."""


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


@pytest.mark.parametrize('paper', CONTENTS)
def test_everything_that_a_paper_numbers__is_mapped(paper: str) -> None:
    section = TEXT.partition(f'## [{paper}]')[2].partition('\n## [')[0]
    table, headlines = section.partition('### What implements what')[2].split('### Errata')[:2]
    assert headlines.count('| W |') + headlines.count('| C |') > 2
    missing = []
    for kind, numbers in CONTENTS[paper].items():
        said: set[int] = set()
        for number, last in re.findall(r'\((\d+)[^)]*\)(?:-\((\d+)\))?', table):
            if kind == 'Eq':
                said |= set(range(int(number), int(last or number) + 1))
        for first, second, third in re.findall(
            rf'(?i){kind}\w* (\d+)(?:, (\d+))?(?: and (\d+))?', table
        ):
            said |= {int(n) for n in (first, second, third) if n}
        missing += [f'{kind} {number}' for number in numbers if number not in said]
    assert missing == []
