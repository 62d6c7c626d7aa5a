# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What all verbs about recorded runs have in common."""

import json
import subprocess
import sys

import pytest
from support.bags import FOLDER
from support.datasets import run
from support.processes import Program

from geolin_ros.cli import main
from geolin_ros.offline.linearize import Sampling

BAG = str(FOLDER / 'pushed')
FEET = ','.join(f'{leg}_foot:0.02' for leg in ('FL', 'FR', 'RL', 'RR'))
INPUTS = {
    'inspect': [BAG],
    'linearize': [BAG, '-o', 'out.zarr', '--workers', '1', '--eig-rate', '10'],
    'replay': [BAG, '-o', 'replayed'],
    'report': ['done.zarr', '-o', 'report.html', '--instants', '2'],
    'compare': ['done.zarr', 'done.zarr'],
    'gains': [BAG, '-o', 'gains.yaml', '--feet', FEET, '--postures', '1'],
}


@pytest.fixture(scope='module')
def dataset(tmp_path_factory):
    """One that no verb changes."""
    path = tmp_path_factory.mktemp('dataset') / 'done.zarr'
    run(BAG, path, sampling=Sampling(eig_rate=10.0))
    return path


@pytest.fixture
def folder(dataset, tmp_path, monkeypatch):
    """Where verbs find a dataset, and write."""
    (tmp_path / 'done.zarr').symlink_to(dataset)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize('verb', INPUTS)
def test_verb__shows_its_progress_on_a_terminal_alone(verb, folder, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: True)
    assert main([verb, *INPUTS[verb]]) == 0
    printed = capsys.readouterr()
    assert '100%' in printed.err
    assert printed.out.strip()
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: False)
    if verb in ('report', 'compare', 'inspect'):
        assert main([verb, *INPUTS[verb]]) == 0
        assert capsys.readouterr().err == ''


@pytest.mark.parametrize('verb', INPUTS)
def test_verb__prints_json_and_nothing_else(verb, folder, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: True)
    assert main([verb, *INPUTS[verb], '--json']) == 0
    printed = capsys.readouterr()
    assert isinstance(json.loads(printed.out), dict)
    assert printed.err == ''


@pytest.mark.parametrize('verb', INPUTS)
def test_verb__says_what_is_missing(verb, folder, capsys):
    missing = ['nowhere' if x in (BAG, 'done.zarr') else x for x in INPUTS[verb]]
    assert main([verb, *missing]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f'geolin {verb}: nowhere')
    assert 'expected' in said


def test_reader_that_goes_away__ends_a_verb_quietly():
    command = [
        sys.executable,
        '-c',
        'import sys; from geolin_ros.cli import main; sys.exit(main())',
    ]
    with Program(
        [*command, 'inspect', BAG], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b''
    assert process.returncode == 141
