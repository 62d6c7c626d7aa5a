# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What all verbs about recorded runs have in common, and what `geolin compare` finds."""

import json
import re
import shlex
import sys

import pytest
from support.bags import FOLDER, Messages, write_bag
from support.datasets import run
from support.environment import ROOT

from geolin_ros import robots
from geolin_ros.cli import main

BAG = str(FOLDER / 'pushed')
FEET = ','.join(f'{leg}_foot:0.02' for leg in ('FL', 'FR', 'RL', 'RR'))
INPUTS = {
    'inspect': [BAG],
    'linearize': [BAG, '-o', 'out.zarr', '--workers', '1', '--eig-rate', '10'],
    'replay': [BAG, '-o', 'replayed'],
    'report': ['all.zarr', '-o', 'report.html', '--instants', str(10**14)],
    'compare': ['all.zarr', 'all.zarr'],
    'gains': [BAG, '-o', 'gains.yaml', '--feet', FEET, '--postures', '1'],
}
AGAIN = {'replay': ['-o', 'again']}
RUNS = {'all': {}, 'half': {'every': 2}, 'moon': {'values': {'gravity': [0.0, 0.0, -1.62]}}}


@pytest.fixture(scope='module')
def runs(robot, samples, tmp_path_factory):
    """Three runs: all samples, half of them, and all in lunar gravity."""
    folder = tmp_path_factory.mktemp('runs')
    bag = write_bag(folder / 'bag', Messages(robot[0]).of_samples(samples[:40]), robot[1])
    for name, options in RUNS.items():
        run(bag, folder / f'{name}.zarr', **options)
    return folder


@pytest.fixture
def folder(runs, tmp_path, monkeypatch):
    """Where verbs find these runs, and write."""
    for name in RUNS:
        (tmp_path / f'{name}.zarr').symlink_to(runs / f'{name}.zarr')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures('folder')
@pytest.mark.parametrize('verb', INPUTS)
def test_verb__shows_its_progress_on_a_terminal_and_prints_json_alone(verb, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: True)
    assert main([verb, *INPUTS[verb]]) == 0
    printed = capsys.readouterr()
    assert '100%' in printed.err
    assert printed.out.strip()
    assert main([verb, *INPUTS[verb], *AGAIN.get(verb, ()), '--json']) == 0
    printed = capsys.readouterr()
    assert isinstance(json.loads(printed.out), dict)
    assert printed.err == ''
    missing = ['nowhere' if x in (BAG, 'all.zarr') else x for x in INPUTS[verb]]
    assert main([verb, *missing]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f'geolin {verb}: nowhere')
    assert 'expected' in said


def compared(capsys, *arguments):
    status = main(['compare', *map(str, arguments), '--json'])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures('folder')
def test_run__equals_its_own_thinning_and_differs_by_gravity(capsys):
    status, found = compared(capsys, 'all.zarr', 'half.zarr')
    assert (status, found['common']) == (0, 20)
    assert found['differences'] == ['20 samples are in all.zarr only']
    assert all(entry['absolute'] == 0.0 for entry in found['quantities'].values())
    assert {'A', 'B', 'nu_dot'} <= set(found['quantities'])
    status, found = compared(capsys, 'all.zarr', 'moon.zarr')
    assert status == 1
    assert any(sentence.startswith('model_hash is') for sentence in found['differences'])
    off = {name: entry['absolute'] for name, entry in found['quantities'].items()}
    assert off['H'] == 0.0
    assert off['B'] < 1e-9
    assert off['A'] == pytest.approx(9.81 - 1.62, rel=0.1)
    assert main(['compare', 'all.zarr', str(robots.path('quadruped'))]) == 1
    assert 'a model and a run' in capsys.readouterr().err


def test_model__equals_itself_and_no_heavier_one(tmp_path, capsys):
    path, loose = robots.path('quadruped'), tmp_path / 'loose.urdf'
    loose.write_text(path.read_text().replace('type="revolute"', 'type="floating"', 1))
    assert compared(capsys, path, path)[0] == compared(capsys, loose, loose)[0] == 0
    heavier = tmp_path / 'heavier.urdf'
    heavier.write_text(path.read_text().replace('<mass value="', '<mass value="1', 1))
    status, found = compared(capsys, path, heavier, '--tolerance=nan')
    assert status == 1
    assert any('total_mass' in sentence for sentence in found['differences'])
    assert found['quantities']['A']['relative'] > 1e-6


def test_commands_of_the_page__run_as_they_stand_there(
    robot, samples, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    write_bag(tmp_path / 'bag', Messages(robot[0]).of_samples(samples[:60]), robot[1])
    text = (ROOT / 'docs' / 'offline.md').read_text()
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
    exec(compile(python, 'offline.md', 'exec'), {})
    assert "('time', 'row', 'col')" in capsys.readouterr().out
