# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import json

import pytest
from support.bags import Messages, write_bag
from support.datasets import run

from geolin_ros import robots
from geolin_ros.cli import main
from geolin_ros.offline.linearize import Sampling


@pytest.fixture(scope='module')
def runs(robot, samples, tmp_path_factory):
    """Three runs: all samples, half of them, and all in lunar gravity."""
    folder = tmp_path_factory.mktemp('runs')
    bag = write_bag(folder / 'bag', Messages(robot[0]).of_samples(samples[:40]), robot[1])
    run(bag, folder / 'all.zarr')
    run(bag, folder / 'half.zarr', sampling=Sampling(every=2))
    run(bag, folder / 'moon.zarr', {'gravity': [0.0, 0.0, -1.62]})
    return folder


def compared(capsys, *arguments):
    status = main(['compare', *map(str, arguments), '--json'])
    return status, json.loads(capsys.readouterr().out)


def test_run__equals_its_own_thinning(runs, capsys):
    status, found = compared(capsys, runs / 'all.zarr', runs / 'half.zarr')
    assert status == 0
    assert found['common'] == 20
    assert found['differences'] == [f'20 samples are in {runs / "all.zarr"} only']
    assert all(entry['absolute'] == 0.0 for entry in found['quantities'].values())
    assert {'A', 'B', 'nu_dot'} <= set(found['quantities'])


def test_runs_in_other_gravity__differ_by_it(runs, capsys):
    status, found = compared(capsys, runs / 'all.zarr', runs / 'moon.zarr')
    assert status == 1
    assert any(sentence.startswith('model_hash is') for sentence in found['differences'])
    assert found['quantities']['H']['absolute'] == 0.0
    assert found['quantities']['B']['absolute'] < 1e-9
    assert found['quantities']['A']['absolute'] == pytest.approx(9.81 - 1.62, rel=0.1)


def test_model__equals_itself_and_no_heavier_one(tmp_path, capsys):
    path = robots.path('quadruped')
    assert compared(capsys, path, path)[0] == 0
    text = path.read_text()
    heavier = tmp_path / 'heavier.urdf'
    heavier.write_text(text.replace('<mass value="', '<mass value="1', 1))
    status, found = compared(capsys, path, heavier)
    assert status == 1
    assert any('total_mass' in sentence for sentence in found['differences'])
    assert found['quantities']['A']['relative'] > 1e-6


def test_command__prints_for_people(runs, capsys):
    assert main(['compare', str(runs / 'all.zarr'), str(runs / 'moon.zarr')]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith('two runs, 40 common samples')
    assert 'A         largest difference' in printed
    assert main(['compare', str(runs / 'all.zarr'), str(robots.path('quadruped'))]) == 1
    assert 'a model and a run' in capsys.readouterr().err
