# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of real robots: the rows of docs/evidence/robots.md, each held to its goal."""

import dataclasses
import sys
import warnings

import numpy as np
import pytest
from geolin_tools.identification import (
    Prior,
    choose_prior,
    deviations,
    find_delay,
    identify,
    overlay_of,
    prepare,
)
from geolin_tools.identification.bodies import is_physical
from geolin_tools.identification.equations import equations_of, likeness
from geolin_tools.identification.excitation import _of_units
from geolin_tools.identification.identification import TRUSTS, Data, fitted
from scipy.signal import savgol_filter
from support.environment import ROOT

from geolin_ros import inverse_dynamics, urdf
from geolin_ros.errors import ModelWarning, RecordingError

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


@pytest.mark.parametrize('name', ['kuka_lwr4, run 2', 'UR10, second half'])
def test_identify__finds_a_load_beside_real_friction(name):
    """What a load of 2.8 kg adds is computed along the measured motion, and added to efforts."""
    arm = arms.ARMS[name]()
    robot = identify(arm.model, [arm.train], [arm.tried])
    names, link = arm.model.joint_names, arm.model.body_names[-1]
    overlay = overlay_of(robot, urdf.read(arm.urdf))
    load = {'frame': link, 'mass': 2.8, 'com': [0.02, 0.0, 0.06], 'inertia': [0.01] * 3 + [0] * 3}
    bare, carrying = (
        arms.read(arm.urdf, joints=names, overlay=o) for o in ({}, {'payloads': [load]})
    )
    tried, effort = arm.tried, arm.tried.effort.copy()
    r_dot = savgol_filter(tried.rate, 21, 3, deriv=1, delta=np.median(np.diff(tried.time)), axis=0)
    for k, (s, r, a) in enumerate(zip(tried.position, tried.rate, r_dot, strict=True)):
        for model, sign in ((bare, -1.0), (carrying, 1.0)):
            state = model.state(np.eye(4), s, np.zeros(6), r)
            effort[k] += sign * inverse_dynamics(model, state, a)
    model = arms.read(arm.urdf, joints=names, overlay=overlay)
    signals = dataclasses.replace(tried, effort=effort - np.array(model.effort_offset))
    mass = identify(model, [signals], prior=Prior(payload=link)).changes()[0]
    assert abs(mass.after - 2.8) < 0.2


@pytest.mark.parametrize('name', ['kuka_lwr4, run 2', 'UR10, second half'])
def test_deviations__are_those_of_two_recordings_from_each_other(name):
    arm = arms.ARMS[name]()
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
    middle, still = arm.tried.position[arm.tried.time.size // 2], np.zeros(arm.model.n)
    state = arm.model.state(np.eye(4), middle, np.zeros(6), still)
    a, b = (deviations(found, state) for found in both)
    spread = np.hypot(a.A_deviation, b.A_deviation)
    prior = deviations(both[0], state, covariance=np.eye(both[0].parameters.count)).A_deviation
    determined = (spread > 0.0) & (spread < prior)
    assert determined.sum() > 60
    assert np.sqrt(np.mean(np.square((a.A - b.A)[determined] / spread[determined]))) < 1.3
    first, second = np.argsort(a.poles), np.argsort(b.poles)
    off = (a.poles[first] - b.poles[second]).real
    off /= np.hypot(a.poles_deviation[first].real, b.poles_deviation[second].real)
    assert np.isfinite(off).sum() >= 3
    assert np.sqrt(np.nanmean(np.square(off))) < 1.3


@pytest.mark.parametrize('name', ['kuka_lwr4, run 2', 'UR10, second half'])
def test_choose_prior__is_nearly_the_best_on_another_motion(name):
    arm = arms.ARMS[name]()
    chosen = choose_prior(arm.model, [arm.train.between(0.0, 0.5), arm.train.between(0.5, 1.0)])
    data = Data.of(arm.model, [arm.train], [arm.tried], None, 0.0)
    left = {
        prior: fitted(arm.model, data, prior).unexplained().mean()
        for prior in (Prior(t, s) for t in TRUSTS for s in (True, False))
    }
    assert left[chosen] <= 1.1 * min(left.values())


def test_units__are_named_by_joint_and_correct_ones_are_not():
    """Of 20 joints: those whose friction hides what the description says are left out."""
    named = dict.fromkeys((-1.0, 0.05, 20.0), 0)
    for name in ('panda_gaz, last third', 'kuka_lwr4, run 2', 'UR10, second half'):
        arm = arms.ARMS[name]()
        equations = equations_of(arm.model, [prepare(arm.train, arm.model)])

        def problems(factors, arm=arm, equations=equations):
            signals = dataclasses.replace(arm.train, effort=arm.train.effort * factors)
            wrong = dataclasses.replace(equations, measured=equations.measured * factors)
            return list(_of_units(arm.model, signals, likeness(wrong)))

        assert problems(np.ones(arm.model.n)) == []
        for factor in named:
            for c, joint in enumerate(arm.model.joint_names):
                factors = np.where(np.arange(arm.model.n) == c, factor, 1.0)
                said = problems(factors)
                assert all(repr(joint) in sentence for sentence in said)
                named[factor] += bool(said)
    assert named[-1.0] >= 19
    assert named[0.05] >= 16
    assert named[20.0] >= 16


def test_delay__is_none_where_joints_do_not_agree_on_one():
    arm = arms.ARMS['kuka_lwr4, run 2']()  # whose elastic joints would take out 20 to 100 ms
    with pytest.raises(RecordingError, match='joints that agree'):
        find_delay(arm.model, arm.train)
    assert identify(arm.model, [arm.train], [arm.tried], delay=None).delay == 0.0


def test_delay__is_found_of_efforts_that_come_late():
    arm = arms.ARMS['UR10, first half']()
    time, effort = arm.train.time, arm.train.effort
    late = np.stack([np.interp(time - 0.06, time, column) for column in effort.T], axis=1)
    found = find_delay(arm.model, dataclasses.replace(arm.train, effort=late))
    assert abs(found - 0.06) < 0.025  # its own efforts are 20 ms late


@pytest.mark.parametrize('name', [pytest.param('go1', marks=pytest.mark.soak), 'icub', 'raw'])
def test_state_estimator__drifts_less_than_plain_leg_odometry(name):
    robot, truth, marker = getattr(recordings, 'icub' if name == 'raw' else name)()
    if name == 'raw':  # stamps of arrival; those of go1 are raw already
        stamps = np.load(recordings.FOLDER / 'icub_walking' / 'walking.npz')['stamp'].ravel()
        robot, truth = (x._replace(time=stamps - stamps[0]) for x in (robot, truth))
        assert np.diff(robot.time).max() > 2.0 * np.median(np.diff(robot.time))
    plain, own = recordings.of_odometries(robot, truth, marker)
    assert own[0] <= 0.7 * plain[0]
    assert own[2] <= 0.7 * plain[2]


def test_state_estimator__starts_while_the_robot_trots():
    """As one that started at rest, which leg odometry and motion capture are beside above."""
    robot, _ = recordings.go1_robot()

    def part(begin, end):
        at = slice(*np.searchsorted(robot.time, (begin, end)))
        fields = ('time', 's', 'imu', 'forces')
        return robot._replace(**{name: getattr(robot, name)[at] for name in fields})

    rest = recordings.estimated(part(0.0, 12.0))
    robot.values.update({'deviation.tilt': 0.2, 'deviation.velocity': 1.0})
    for begin in (10.0, 10.1, 10.2):  # phases of the trot
        found = recordings.estimated(part(begin, begin + 1.5))
        same = rest.at(np.searchsorted(rest.time, found.time))
        assert np.linalg.norm(same.v[0]) > 0.2
        after = found.time > begin + 1.0
        v, expected = (m.R.inv().apply(m.v)[after] for m in (found, same))
        assert np.sqrt(np.square(v - expected).sum(axis=1).mean()) < 0.1
        up, same_up = (m.R.as_matrix()[after, 2] for m in (found, same))
        assert np.abs(up - same_up).max() < 0.05


@pytest.mark.soak
@pytest.mark.parametrize('on', [150.0, 300.0, 600.0])
def test_state_estimator__keeps_its_height_on_flat_ground_wherever_the_threshold_lies(on):
    robot, truth, marker = recordings.go1()
    robot.values.update(contact_on_force=on, contact_off_force=0.75 * on, flat_ground=0.03)
    found = recordings.estimated(robot)
    way = np.linalg.norm(np.diff(truth.p[:, :2], axis=0), axis=1).sum()
    first, last = np.searchsorted(found.time, truth.time[[0, -1]])
    climbed = found.p[last, 2] - found.p[first, 2] - (truth.p[-1, 2] - truth.p[0, 2])
    assert abs(climbed) < 0.02 * way
    assert recordings.compared(truth, found, robot.segment, marker)[2] < 0.2


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


def test_A_and_B__predict_an_identified_arm_with_measured_accelerations():
    _, identified = predictions.tried('UR10, second half')[0]
    constant, steady, linear, _, measured = np.moveaxis(
        predictions.predicted(identified)[:, :, 0], 1, 0
    )
    assert (measured < 0.5 * constant).all()
    assert (steady < 0.4 * measured).all()  # A and B lose where motion is as smooth
    assert linear[1] < 0.1


def test_A_and_B__predict_what_changes_of_effort_do_to_a_leg_that_hops():
    hops = predictions.hopper(*predictions.HOPS)
    found = predictions.responded([hops], predictions.hopper(cutoff=predictions.HOPS[1]))
    steady, black_box, _, before = found.errors.T
    assert (before < steady).all()
    assert (before[1:] < 0.8 * steady[1:]).all()  # 20 and 50 ms
    assert (before < 0.6 * black_box).all()
    assert found.correlation > 0.8
    assert abs(found.slope - 1.0) < 0.2


@pytest.mark.parametrize('name', ['UR10, second half', 'kuka_lwr4, run 2'])
def test_A_and_B__lose_on_arms_whose_efforts_change_by_friction(name):
    found = predictions.responded(*predictions.tried(name))
    steady, _, _, _, _, before = found.errors.T
    assert (before > 2.0 * steady).all()
    assert abs(found.correlation) < 0.3


def test_constant_accelerations__are_of_what_was_measured_before():
    arm = arms.ARMS['UR10, second half']()
    motion = predictions.arm_motion(arm.model, arm.tried)
    now = motion.time[motion.starts()[20]]
    later = (arm.tried.time > now)[:, np.newaxis]
    changed = dataclasses.replace(arm.tried, rate=np.where(later, 9.0, arm.tried.rate))
    slopes, same = (
        predictions.slopes_before(predictions.arm_motion(arm.model, signals).until(now))
        for signals in (arm.tried, changed)
    )
    assert np.array_equal(slopes, same)
    assert np.abs(slopes).max() > 0.01


@pytest.mark.parametrize('run', [1, 2])
def test_import__reads_what_numpy_reads(run):
    log, folder = recordings.logged('kuka_lwr4', f'measurements_{run}.npz')
    arrays = np.load(folder, allow_pickle=False)
    fields = log.topics['/joint_states'].fields
    assert np.array_equal(log.time, arrays['times'])
    assert np.array_equal(fields['effort'], arrays['torques'])
