# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pages about robots that stand: the code of docs/control.md runs, and what they name exists."""

import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ('contacts', 'control', 'lqr_node', 'simulation')
TEXTS = {name: (ROOT / 'docs' / f'{name}.md').read_text() for name in PAGES}


def test_example__runs_and_holds_the_robot(capsys):
    (code,) = re.findall(r'```python\n(.*?)```', TEXTS['control'], re.DOTALL)
    names = {}
    exec(code, names)
    assert names['tau'] == pytest.approx(names['gains'].feedforward)
    printed = capsys.readouterr().out
    assert '12 of 12 states controllable, stabilizable' in printed
    assert 'inside the support polygon' in printed


@pytest.mark.parametrize(
    'name',
    ['POINT_BANDWIDTH', 'SOLE_BANDWIDTH', 'normal_force', 'tangential_force', 'sole_moment'],
)
def test_numbers_of_control__are_those_of_the_code(name):
    found = re.findall(rf'`([\w.]*\b{name}) = ([\d.]+)`', TEXTS['control'])
    assert found
    for path, number in found:
        assert float(number) == pkgutil.resolve_name(f'geolin_ros.control.{path}')
