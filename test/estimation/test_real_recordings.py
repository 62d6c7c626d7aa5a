# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of real robots: the rows of docs/evidence/robots.md, each held to its goal."""

import sys
import warnings

import numpy as np
import pytest
from geolin_tools.identification import identify, overlay_of
from geolin_tools.identification.bodies import is_physical
from support.environment import ROOT

from geolin_ros import urdf
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


@pytest.mark.parametrize('name', [pytest.param('go1', marks=pytest.mark.soak), 'icub'])
def test_state_estimator__drifts_less_than_plain_leg_odometry(name):
    robot, truth, marker = getattr(recordings, name)()
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
        ('icub_walking', (0, 1, 2), 0.6),
        ('go1_serow', (0, 2), 0.4),  # not the turning about the line of two point feet
    ],
)
def test_A_and_B__predict_robots_that_walk_better_than_constant_velocities(name, parts, most):
    constant, _, linear, model = np.moveaxis(
        predictions.predicted(predictions.FLOATING[name]()), 1, 0
    )[:4]
    assert (linear[:, parts] < most * constant[:, parts]).all()
    assert (linear[:2] < 1.1 * model[:2] + 1e-3).all()  # up to 20 ms


def test_A_and_B__predict_an_identified_arm_with_measured_accelerations():
    arm = arms.ARMS['UR10, second half']()
    found = identify(arm.model, [arm.train], [arm.tried])
    overlay = overlay_of(found, urdf.read(arm.urdf))
    identified = arms.read(arm.urdf, joints=arm.model.joint_names, overlay=overlay)
    constant, _, linear, _, measured = np.moveaxis(
        predictions.predicted(predictions.arm_motion(identified, arm.tried))[:, :, 0], 1, 0
    )
    assert (measured < 0.5 * constant).all()
    assert linear[1] < 0.1


@pytest.mark.parametrize('run', [1, 2])
def test_import__reads_what_numpy_reads(run):
    log, folder = recordings.logged('kuka_lwr4', f'measurements_{run}.npz')
    arrays = np.load(folder, allow_pickle=False)
    fields = log.topics['/joint_states'].fields
    assert np.array_equal(log.time, arrays['times'])
    assert np.array_equal(fields['effort'], arrays['torques'])
