# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/notation.md names only what exists, one meaning a row."""

import pkgutil
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / 'docs'
TEXT = (DOCS / 'notation.md').read_text(encoding='utf-8')
PAPERS = ('[Traversaro 2019]', '[Bos 2022]', '[Kim 2012]', '[Nori]')


@pytest.mark.parametrize('name', sorted(set(re.findall(r'`(Kinematics|State)\.(\w+)`', TEXT))))
def test_named_attributes__exist(name):
    module = {'Kinematics': 'geolin_ros.dynamics.kinematics', 'State': 'geolin_ros'}[name[0]]
    assert hasattr(pkgutil.resolve_name(f'{module}.{name[0]}'), name[1])


def test_table__has_a_column_for_each_paper_and_rows_of_one_length():
    (head,) = [line for line in TEXT.splitlines() if line.startswith('| Quantity')]
    assert all(paper in head for paper in ('geolin_ros', *PAPERS))
    for table in re.findall(r'(?:^\|.*\n)+', TEXT, re.MULTILINE):
        lengths = {line.count('|') for line in table.splitlines()}
        assert len(lengths) == 1, table
