# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of real robots: the rows of docs/evidence/robots.md, each held to its goal."""

import sys
import warnings

import numpy as np
import pytest
from geolin_tools.identification import identify
from geolin_tools.identification.parameters import is_physical
from support.environment import ROOT

from geolin_ros.errors import ModelWarning

pytest.importorskip('rosbags')
pytest.importorskip('scipy')

sys.path.append(str(ROOT / 'tools'))
import arms
import predictions
import recordings
import torques

if not recordings.FOLDER.is_dir():
    pytest.skip(
        f'recordings of real robots are not in {recordings.FOLDER}', allow_module_level=True
    )


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        yield


@pytest.mark.parametrize('name', arms.ARMS)
def test_identify__meets_its_goal_on_data_that_it_was_not_trained_on(name):
    found, _, missed = arms.tried(arms.ARMS[name]())
    assert missed == []
    assert all(is_physical(found.inertial[i]) for i in found.parameters.bodies)


def test_deviations__are_those_of_two_recordings_from_each_other():
    arm = arms.ARMS['UR10, second half']()
    both = [
        identify(arm.model, [train], [tried])
        for train, tried in ((arm.train, arm.tried), (arm.tried, arm.train))
    ]
    z = [
        (a.after - b.after) / np.hypot(a.deviation, b.deviation)
        for a, b in zip(*(found.changes() for found in both), strict=True)
        if min(a.determined, b.determined) > 0.5
    ]
    assert len(z) > 40
    assert np.sqrt(np.mean(np.square(z))) < 1.3


@pytest.mark.parametrize('name', ['icub', 'raw'])
def test_state_estimator__drifts_less_than_plain_leg_odometry(name):
    robot, truth, marker = getattr(recordings, 'icub' if name == 'raw' else name)()
    if name == 'raw':  # stamps of arrival; those of go1 are raw already
        stamps = np.load(recordings.FOLDER / 'icub_walking' / 'walking.npz')['stamp'].ravel()
        robot, truth = (x._replace(time=stamps - stamps[0]) for x in (robot, truth))
        assert np.diff(robot.time).max() > 2.0 * np.median(np.diff(robot.time))
    plain, own = recordings.of_odometries(robot, truth, marker)
    assert own[0] <= 0.7 * plain[0]
    assert own[2] <= 0.7 * plain[2]


@pytest.mark.parametrize(
    ('forces', 'correlation', 'part'), [(torques.hopper, 0.98, 0.25), (torques.icub, 0.9, 0.25)]
)
def test_torque_estimator__finds_the_forces_that_sensors_measure(forces, correlation, part):
    for force in forces():
        found = torques.compared(force)
        assert found.error < part * found.measured, force.name
        if force.name != 'both feet':  # whose force is the weight
            assert found.correlation > correlation, force.name
            assert abs(found.slope - 1.0) < 0.15, force.name


@pytest.mark.parametrize(
    ('name', 'parts', 'most'),
    [
        ('icub_walking', (0, 1, 2), 0.7),
        ('go1_serow', (0, 2), 0.4),  # not the turning about the line of two point feet
    ],
)
def test_A_and_B__predict_robots_that_walk_better_than_constant_velocities(name, parts, most):
    constant, steady, linear, model = np.moveaxis(
        predictions.predicted(predictions.FLOATING[name]()), 1, 0
    )[:4]
    assert (linear[:, parts] < most * constant[:, parts]).all()
    assert (linear[:, parts] < 0.85 * steady[:, parts]).all()
    assert (linear[:2] < 1.1 * model[:2] + 1e-3).all()  # up to 20 ms


def test_A_and_B__predict_what_changes_of_effort_do_to_a_leg_that_hops():
    hops = predictions.hopper(*predictions.HOPS)
    found = predictions.responded([hops], predictions.hopper(cutoff=predictions.HOPS[1]))
    steady, black_box, _, before = found.errors.T
    assert (before < steady).all()
    assert (before[1:] < 0.8 * steady[1:]).all()  # 20 and 50 ms
    assert (before < 0.6 * black_box).all()
    assert found.correlation > 0.8
    assert abs(found.slope - 1.0) < 0.2
