# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Identification of real robots: trained on one part of a recording, tried on another."""

import importlib.util
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from geolin_ros import TreeModel
from geolin_ros.errors import ModelWarning
from geolin_ros.estimation.identification import Signals, identify
from geolin_ros.estimation.identification.bodies import is_physical

pytest.importorskip('scipy')

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get('GEOLIN_RECORDINGS', ROOT.parent / 'shared' / 'recordings'))
if not FOLDER.is_dir():
    pytest.skip(f'recordings of real robots are not in {FOLDER}', allow_module_level=True)


def loaded(name):
    path = FOLDER / name / 'load.py'
    spec = importlib.util.spec_from_file_location(f'load_{name}', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(urdf, **options):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        return TreeModel.from_urdf(urdf, base='fixed', coulomb_friction=True, **options)


def tried(model, train, aside):
    found = identify(model, [train], [aside])
    assert all(is_physical(found.inertial[i]) for i in found.parameters.bodies)
    return found


def test_panda_meets_plain_least_squares_on_each_joint():
    source = loaded('panda_gaz')
    data = source.load()
    model = read(source.URDF, joints=source.JOINTS)
    signals = Signals('panda_gaz', data['t'], data['q'], data['v'], data['tau'])
    found = tried(model, signals.between(0.0, 2 / 3), signals.between(2 / 3, 1.0))
    plain = np.array([0.27, 0.44, 0.32, 0.28, 0.07, 0.05, 0.04])
    assert (found.after <= 1.1 * plain).all(), found.after


@pytest.mark.parametrize(('first', 'second'), [(1, 2), (2, 1)])
def test_kuka_lwr4_is_better_than_its_urdf_on_each_joint(first, second):
    source = loaded('kuka_lwr4')
    runs = {}
    for run in (first, second):
        data = source.load(run)
        runs[run] = Signals(f'run {run}', data['t'], data['q'], data['v'], data['tau'])
    found = tried(read(source.URDF), runs[first], runs[second])
    left = found.after / found.before
    assert (left < 1.0).all(), left
    assert left.mean() <= 0.45, left


@pytest.mark.parametrize('half', [0, 1])
def test_ur10_is_met_on_the_other_half(half):
    source = loaded('ur10_panda_rosbag2')
    data = source.load('ur10')
    model = read(source.URDF['ur10'])
    order = [data['names'].index(name) for name in model.joint_names]
    joints = (data[key][:, order] for key in ('q', 'v', 'effort'))
    signals = Signals('ur10', data['t'], *joints)
    halves = signals.between(0.0, 0.5), signals.between(0.5, 1.0)
    found = tried(model, halves[half], halves[1 - half])
    assert (found.after[:3] <= (4.0, 7.0, 4.0)).all(), found.after


@pytest.mark.parametrize('name', [pytest.param('go1', marks=pytest.mark.soak), 'icub'])
def test_state_estimator_drifts_less_than_plain_leg_odometry(name):
    path = ROOT / 'tools' / 'recordings.py'
    spec = importlib.util.spec_from_file_location('recordings', path)
    recordings = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recordings)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        robot, truth, marker = getattr(recordings, name)()
        plain, own = recordings.of_odometries(robot, truth, marker)
    assert own[0] <= 0.7 * plain[0]
    assert own[2] <= 0.7 * plain[2]
