# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Identification of a quadruped that trots on MuJoCo's floor, whose forces nobody measures."""

import dataclasses
import json
import warnings

import numpy as np
import pytest
from geolin_tools.identification import Prior, Signals, deviations, identify, overlay_of
from support.bags import START, Messages, Sample, write_bag
from support.constrained_reference import ConstrainedReference
from support.mujoco_oracle import bodies_only
from support.pinocchio_oracle import PinocchioOracle

from geolin_ros import Contact, TreeModel, open_dataset, urdf
from geolin_ros.cli import main
from geolin_ros.description.overlay import apply_overlay
from geolin_ros.dynamics.derivatives import inertial_parameters
from geolin_ros.errors import ModelWarning, RecordingError
from geolin_ros.robots import locate

mujoco = pytest.importorskip('mujoco')
pytest.importorskip('scipy')

pytestmark = pytest.mark.long
LEGS = ('FL', 'FR', 'RL', 'RR')
FEET = tuple(f'{leg}_foot' for leg in LEGS)
POSTURE = np.tile([0.0, 0.8, -1.6], 4)
PAYLOAD, ROTOR, DAMPING = 2.0, 0.01, 0.1
PERIOD, STEP = 0.35, 1e-3


@pytest.fixture(scope='module')
def path():
    return locate('quadruped')


@pytest.fixture(scope='module')
def model(path):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        return TreeModel.from_urdf(path, coulomb_friction=True)


def simulated(path, model):
    """Return MuJoCo's robot on a floor: a payload on its base, thighs a quarter too heavy."""
    spec = mujoco.MjSpec.from_string(bodies_only(path))
    spec.compiler.fusestatic = spec.compiler.balanceinertia = False
    spec.option.timestep, spec.option.cone = STEP, mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio, spec.option.integrator = 10.0, mujoco.mjtIntegrator.mjINT_RK4
    spec.worldbody.first_body().add_freejoint()
    floor = {'friction': [1.5, 0.0, 0.0], 'solref': [0.005, 1.0]}
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1], **floor)
    for foot in FEET:  # a point: forces act where the frame of the foot is
        spec.body(foot).add_geom(size=[1e-4, 0, 0], mass=0.0, **floor)
    for geom in spec.geoms:  # feet touch the floor alone
        geom.contype, geom.conaffinity = (1, 0) if geom.parent.name == 'world' else (0, 1)
    robot = spec.compile()
    base = robot.body('base').id
    robot.body_mass[base] += PAYLOAD
    for leg in LEGS:
        thigh = robot.body(f'{leg}_thigh').id
        robot.body_mass[thigh] *= 1.25
        robot.body_inertia[thigh] *= 1.25
    q = np.array([int(robot.joint(name).qposadr[0]) for name in model.joint_names])
    v = np.array([int(robot.joint(name).dofadr[0]) for name in model.joint_names])
    robot.dof_armature[v], robot.dof_damping[v] = ROTOR, DAMPING
    robot.dof_frictionloss[:] = 0.0
    data = mujoco.MjData(robot)
    mujoco.mj_setConst(robot, data)
    data.qpos[:3], data.qpos[q] = (0.0, 0.0, 0.31), POSTURE
    return robot, data, q, v


def aims(t):
    """Return where joints shall be: swaying by three sines, feet of a trot lifted by turns."""
    phase = np.repeat(0.3 * np.arange(4), 3) + np.tile([0.0, 1.0, 2.0], 4)
    waves = ((0.1, 0.7), (0.06, 1.6), (0.03, 3.1))
    sway = sum(size * np.sin(2 * np.pi * f * t + f * phase) for size, f in waves)
    turn = (t / PERIOD + 0.5 * np.isin(np.arange(12) // 3, (1, 2))) % 1.0
    lift = np.tile([0.0, 0.3, -0.6], 4) * np.sin(2 * np.pi * turn) ** 2 * (turn < 0.5)
    return POSTURE + min(t, 1.0) * (0.3 * sway + lift)


def walked(path, model, seconds=10.0):
    """Return what is measured of the robot: no force."""
    robot, data, q, v = simulated(path, model)
    rng, rows = np.random.default_rng(1), []
    feet = {robot.body(foot).id: k for k, foot in enumerate(FEET)}
    for k in range(int(seconds / STEP)):
        tau = 150.0 * (aims(k * STEP) - data.qpos[q]) - 3.0 * data.qvel[v]
        data.qfrc_applied[v] = tau
        s, r, qvel = data.qpos[q].copy(), data.qvel[v].copy(), data.qvel[:6].copy()
        mujoco.mj_kinematics(robot, data)
        H = np.eye(4)
        H[:3, :3], H[:3, 3] = data.xmat[1].reshape(3, 3), data.qpos[:3]
        mujoco.mj_step(robot, data)
        holds = np.zeros(4, dtype=bool)
        for contact in data.contact[: data.ncon]:
            holds[feet[int(robot.geom_bodyid[contact.geom[1]])]] = True
        twist = np.hstack((H[:3, :3].T @ qvel[:3], qvel[3:]))
        rows.append((k * STEP, s, r, tau, H, twist, holds))
    time, s, r, tau, H, twist, holds = (np.array(part) for part in zip(*rows, strict=True))
    tau[1:] = 0.5 * (tau[1:] + tau[:-1])
    kept = slice(1, None, 4)
    s, r, tau, twist = (
        x[kept] + size * rng.normal(size=x[kept].shape)
        for x, size in ((s, 1e-4), (r, 5e-3), (tau, 0.05), (twist, 5e-3))
    )
    contacts = tuple(Contact(foot) for foot in FEET)
    return Signals(
        *('quadruped', time[kept], s, r, tau, H[kept], twist), contacts=contacts, holds=holds[kept]
    )


@pytest.fixture(scope='module')
def walk(path, model):
    """Return what was measured, what was found of it, and the inertial parameters of the truth."""
    signals = walked(path, model)
    robot = simulated(path, model)[0]
    true = inertial_parameters(model).reshape(-1, 10).copy()
    for i, name in enumerate(model.body_names):
        true[i] *= 1.25 if name.endswith('thigh') else 1.0
    true[0, 0] += PAYLOAD
    assert true[:, 0].sum() == pytest.approx(robot.body_mass.sum())
    return signals, identify(model, [signals], prior=Prior(springs=False)), true


def test_masses_are_found_of_a_robot_on_its_feet_without_any_contact_force(walk, model):
    signals, found, true = walk
    assert found.inertial[:, 0].sum() == pytest.approx(true[:, 0].sum(), rel=0.01)
    masses = [change for change in found.changes() if change.name == 'mass']
    off = np.array([(c.after - m) / c.deviation for c, m in zip(masses, true[:, 0], strict=True)])
    assert np.sqrt(np.mean(off**2)) < 1.5
    assert abs(masses[0].after - true[0, 0]) < 0.5
    assert (signals.holds.sum(axis=1) < 4).mean() > 0.5  # trots: fast enough to tell rotors
    values = found.joint_values()
    for joint in model.joint_names:
        assert values[joint, 'rotor'] == pytest.approx(ROTOR, rel=0.25)


def test_deviations__are_those_of_random_robots_on_their_feet_by_pinocchio(walk, model, path):
    """Masses of 60 robots have a hundredth of the covariance; they are held by least squares."""
    _, found, _ = walk
    count, still = 10 * len(found.parameters.bodies), np.zeros((6, 12))
    covariance = np.zeros_like(found.fit.covariance)
    covariance[:count, :count] = found.fit.covariance[:count, :count]
    state = model.state(np.eye(4), POSTURE + 0.1, still[:, 0], still[0])
    known = deviations(found, state, contacts=FEET, covariance=covariance)
    values = found.joint_values()
    rotor, damping, friction, speed = (
        np.array([values[joint, kind] for joint in model.joint_names])
        for kind in ('rotor', 'damping', 'friction', 'friction_speed')
    )

    def matrices(x):
        one = dataclasses.replace(found, fit=dataclasses.replace(found.fit, x=x))
        description = apply_overlay(urdf.read(path), overlay_of(one, urdf.read(path)))
        oracle = PinocchioOracle.from_description(description, model)
        oracle.pin_model.armature = oracle._to_pinocchio(np.hstack((np.zeros(6), rotor)))
        oracle.damping[6:] = damping + friction / speed
        held = ConstrainedReference(oracle, [Contact(foot) for foot in FEET])
        ways = np.vstack((np.eye(18)[6:], held.rows(state)[0]))
        bias = oracle.inverse_dynamics(state, np.zeros(18))
        tau = np.linalg.lstsq(ways.T, bias, rcond=None)[0][:12]
        there = held.derivatives(state, tau)
        return np.hstack((there.nu_dot_by_state, there.nu_dot_by_tau)), there.nu_dot

    here, nu_dot = matrices(found.fit.x)
    assert np.abs(nu_dot).max() < 1e-6
    size = np.abs(here).max()
    assert np.abs(here - np.hstack((known.A, known.B))[18:]).max() < 1e-6 * size
    rng = np.random.default_rng(0)
    steps = rng.multivariate_normal(np.zeros(len(covariance)), 0.01 * covariance, 60)
    samples = np.array([matrices(found.fit.x + step)[0] for step in steps])
    spread = 10.0 * np.sqrt(np.mean((samples - here) ** 2, axis=0))
    expected = np.hstack((known.A_deviation, known.B_deviation))[18:]
    large = expected > 1e-3 * expected.max()
    assert large.sum() > 200
    assert np.allclose(spread[large], expected[large], rtol=0.4)
    assert np.median(spread[large] / expected[large]) == pytest.approx(1.0, abs=0.1)


def test_identify__takes_contacts_by_parameters_and_nothing_where_they_are_missing(
    walk, model, path, tmp_path, capsys
):
    signals, _, true = walk
    signals = signals.between(0.1, 0.6)
    samples = [
        Sample(START + round(1e9 * t), model.state(H, s, v, r), tau)
        for t, H, s, v, r, tau in zip(
            *(signals.time, signals.pose, signals.position),
            *(signals.twist, signals.rate, signals.effort),
            strict=True,
        )
    ]
    bag = write_bag(tmp_path / 'bag', Messages(model).of_samples(samples))
    output = tmp_path / 'overlay.yaml'
    arguments = [str(bag), '--urdf', str(path), '-p', 'base:=floating', '--quiet']
    identified = ['identify', *arguments, '-o', str(output)]
    assert main(identified) == 1
    assert 'something carries the robot; give contacts' in capsys.readouterr().err
    stands = ['-p', f'contacts:={[f"{foot} point" for foot in FEET]}']
    assert main([*identified, *stands, '-p', 'torque_source:=zero']) == 1
    assert 'only ratios of masses are determined' in capsys.readouterr().err
    assert not output.exists()
    assert main([*identified, *stands, '--no-springs', '--json']) == 0
    assert json.loads(capsys.readouterr().out)['contacts'] == list(FEET)
    total = TreeModel.from_urdf(path, overlay=output).total_mass
    assert total == pytest.approx(true[:, 0].sum(), rel=0.03)
    measured = ['-p', 'nu_dot:=measured', '-p', 'torque_source:=zero', '--every', '300']
    dataset = str(tmp_path / 'linearized')
    assert main(['linearize', *arguments, *stands, *measured, '-o', dataset]) == 0
    assert open_dataset(dataset)['valid'].values.all()


def test_identify__says_what_unknown_forces_leave_nothing_of(walk, model):
    signals = walk[0].between(0.0, 0.5)
    with pytest.raises(RecordingError, match='only ratios of masses are determined'):
        identify(model, [dataclasses.replace(signals, effort=None)])
    effort = signals.effort * np.where(np.arange(12) == 3, 1.0, np.nan)
    still = dataclasses.replace(signals, effort=effort, holds=np.ones_like(signals.holds))
    with pytest.raises(RecordingError, match='leave no equation free of unknown forces'):
        identify(model, [still])
