# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The code of docs/control.md runs."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'control.md'


def test_example__runs_and_holds_the_robot(capsys):
    (code,) = re.findall(r'```python\n(.*?)```', PAGE.read_text(), re.DOTALL)
    names = {}
    exec(code, names)
    assert names['tau'] == pytest.approx(names['gains'].feedforward)
    printed = capsys.readouterr().out
    assert '12 of 12 states controllable, stabilizable' in printed
    assert 'inside the support polygon' in printed
