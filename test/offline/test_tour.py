# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/offline.md, run as they stand there."""

import re
import shlex
from pathlib import Path

from support.bags import Messages, write_bag

from geolin_ros.cli import main

TOUR = Path(__file__).resolve().parents[2] / 'docs' / 'offline.md'


def test_tour__can_be_walked(robot, samples, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_bag(tmp_path / 'bag', Messages(robot[0]).of_samples(samples[:60]), robot[1])
    text = TOUR.read_text()
    (shell,) = re.findall(r'^```sh\n(.*?)^```', text, re.DOTALL | re.MULTILINE)
    commands = [shlex.split(line) for line in shell.splitlines()]
    assert len(commands) >= 6
    for program, *arguments in commands:
        assert program == 'geolin'
        extra = ['--workers', '1'] if arguments[0] == 'linearize' else []
        assert main([*arguments, *extra]) == 0, arguments
    for name in ('run.zarr', 'report.html', 'linearizations', 'moon.zarr'):
        assert (tmp_path / name).exists()
    (python,) = re.findall(r'^```python\n(.*?)^```', text, re.DOTALL | re.MULTILINE)
    capsys.readouterr()
    exec(compile(python, TOUR.name, 'exec'), {})
    assert "('time', 'row', 'col')" in capsys.readouterr().out
