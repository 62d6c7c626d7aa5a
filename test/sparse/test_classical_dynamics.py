# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse, forward and hybrid dynamics as a sparse system against Pinocchio and dense solves."""

import numpy as np
import pytest
from geolin_estimation.sparse import BlockSystem, Estimator, Variable, sensors
from support.close import assert_close
from support.dense_reference import DenseReference
from support.newton_euler import classical_sets, moving_bodies, random_motion
from support.passive_joints import passive_robot
from support.pinocchio_oracle import PinocchioOracle, pin
from support.robots import example_robot, read_robot
from support.states import edge_states
from support.trees import TILTED_GRAVITY, every_kind_description, random_description

from geolin_ros import TreeModel, robots
from geolin_ros.errors import (
    ConfigurationError,
    NotFiniteError,
    ShapeError,
    UnknownNameError,
    UnsolvableError,
)


def random_oracle(rng, base, count=9):
    description = random_description(rng, count, damping=0.3)
    names = [joint.name for joint in description.joints]
    model = TreeModel.from_description(
        description,
        base=base,
        gravity=(1.0, -2.0, -9.0),
        joints=[names[i] for i in rng.permutation(count)],
    )
    return PinocchioOracle.from_description(description, model)


def oracles(rng):
    for base in ('floating', 'fixed'):
        yield f'random tree, {base}', random_oracle(rng, base)
    path = example_robot('solo12')
    yield 'solo12', PinocchioOracle.read_urdf(path, read_robot(path)[1])


@pytest.mark.shows(
    'Nori: Eqs. (2)-(5)',
    'Nori: Eqs. (6)-(9)',
    'Nori: Eqs. (12)-(15)',
    'Nori: Hybrid dynamics',
    'Nori: N13',
)
def test_classical_dynamics__equal_pinocchio():
    rng = np.random.default_rng(1)
    for name, oracle in oracles(rng):
        model, moving = oracle.model, moving_bodies(oracle.model)
        for problem, sensor_set, prescribed in classical_sets(model, rng):
            solver = Estimator(model, sensor_set)
            for edge, state in edge_states(model, rng):
                motion = random_motion(oracle, rng, state)
                ours = solver.estimate(state, motion.readings(prescribed)).variables
                for kind in ('a', 'f', 'fx', 'tau', 'nu_dot'):
                    actual, expected = getattr(ours, kind), getattr(motion.theirs, kind)
                    if kind in ('a', 'f'):
                        actual, expected = actual[moving], expected[moving]
                    # tau and nu_dot are what is left of larger wrenches and accelerations
                    whole = {'tau': motion.theirs.f, 'nu_dot': motion.theirs.a}.get(kind, expected)
                    scale = max(1.0, np.abs(whole).max())
                    assert_close(
                        actual, expected, 1e-11, f'{name}, {problem}, {edge}: {kind}', scale
                    )


@pytest.mark.shows('Nori: - reaction of a fixed base')
def test_inverse_dynamics__of_a_fixed_base__gives_the_reaction_of_the_ground():
    rng = np.random.default_rng(2)
    oracle = random_oracle(rng, 'fixed')
    motion = random_motion(oracle, rng)
    solver = Estimator(oracle.model, sensors.inverse_dynamics(oracle.model))
    reaction = solver.estimate(motion.state, motion.readings(True)).variables.f[0]
    floating = random_oracle(np.random.default_rng(2), 'floating')
    still = floating.model.neutral_state()
    still.s[:], still.r[:] = motion.state.s, motion.state.r
    referee = Estimator(floating.model, sensors.inverse_dynamics(floating.model))
    readings = np.concatenate((motion.theirs.fx.ravel(), np.zeros(6), motion.theirs.nu_dot))
    assert_close(reaction, referee.estimate(still, readings).variables.tau[:6], 1e-12)


@pytest.mark.shows('Nori: Eq. (16)')
def test_sensors_in_links__determine_what_a_fixed_base_does():
    # accelerations by IMUs and torque sensors instead of qdd: neither triangle nor ABA order
    rng = np.random.default_rng(5)
    oracle = random_oracle(rng, 'fixed', 4)
    model = oracle.model
    instruments = [
        sensors.force_torque(model, model.body_names[body], [_strongest(model, body)])
        for body in range(1, 5)
    ]
    solver = Estimator(model, (*sensors.all_external_wrenches(model), *instruments))
    for _ in range(5):
        motion = random_motion(oracle, rng)
        read = [motion.theirs.f[body, _strongest(model, body)] for body in range(1, 5)]
        ours = solver.estimate(
            motion.state, np.concatenate((motion.theirs.fx.ravel(), read))
        ).variables
        assert_close(ours.nu_dot, motion.theirs.nu_dot, 1e-9)
        assert_close(ours.tau, motion.theirs.tau, 1e-9)


def _strongest(model, body):
    """Return the component of f that the joint of a body acts along most."""
    return int(np.argmax(np.abs(model.tree.subspace[model.tree.v_start[body]])))


def humanoid_in_motion(seed):
    path = robots.path('humanoid')
    model = TreeModel.from_urdf(path)
    oracle = PinocchioOracle.read_urdf(path, model)
    return oracle, random_motion(oracle, np.random.default_rng(seed))


def readings_of(model, motion, *chosen):
    """Return what sensors read when every variable is as Pinocchio says."""
    system = BlockSystem(model, chosen)
    system.update(motion.state, np.zeros(sum(sensor.size for sensor in chosen)))
    return system.readings(np.concatenate([part.ravel() for part in motion.theirs]))


@pytest.mark.shows('Nori: Eq. (16)')
def test_accelerometer__reads_the_proper_acceleration_of_the_point():
    """Pinocchio's classical acceleration of the frame, less gravity in its axes."""
    oracle, motion = humanoid_in_motion(6)
    model, theirs = oracle.model, motion.theirs
    for link in ('imu', 'left_sole', 'head'):
        of = sensors.accelerometer(model, link), sensors.angular_acceleration(model, link)
        read = readings_of(model, motion, *of)
        pin.forwardKinematics(
            oracle.pin_model, oracle.data, oracle.q(motion.state), oracle.velocity(motion.state),
            oracle._to_pinocchio(theirs.nu_dot),
        )  # fmt: skip
        frame = oracle.pin_model.getFrameId(link)
        pin.updateFramePlacement(oracle.pin_model, oracle.data, frame)
        classical = pin.getFrameClassicalAcceleration(
            oracle.pin_model, oracle.data, frame, pin.LOCAL
        )
        R = oracle.data.oMf[frame].rotation
        assert_close(read[:3], classical.linear - R.T @ model.gravity, 1e-12, link)
        assert_close(read[3:], classical.angular, 1e-12, link)


def test_wrenches_torques_and_accelerations__are_read_as_pinocchio_has_them():
    oracle, motion = humanoid_in_motion(8)
    model, theirs = oracle.model, motion.theirs
    for link, joint in (('left_sole', 'left_knee'), ('head', model.joint_names[-1])):
        entry = oracle.pin_model.joints[oracle.pin_model.getJointId(joint)].idx_v
        frame = oracle.pin_model.frames[oracle.pin_model.getFrameId(link)]
        body = model.frame(link).body
        read = readings_of(
            model,
            motion,
            sensors.external_wrench(model, link),
            sensors.force_torque(model, link),
            sensors.joint_torque(joint),
            sensors.joint_acceleration(joint),
        )
        for found, wrench in ((read[:6], theirs.fx[body]), (read[6:12], theirs.f[body])):
            force, moment = wrench[:3], wrench[3:]
            theirs_at_link = frame.placement.actInv(pin.Force(force, moment)).vector
            R, o = frame.placement.rotation, frame.placement.translation
            by_hand = np.concatenate((R.T @ force, R.T @ (moment - np.cross(o, force))))
            assert_close(found, theirs_at_link, 1e-13, link)
            assert_close(found, by_hand, 1e-13, link)
        damping = (oracle.damping * oracle.nu(motion.state))[-model.n :]
        torque = oracle.data.tau[entry] + damping[model.joint_index(joint)]
        acceleration = oracle._to_pinocchio(theirs.nu_dot)[entry]
        np.testing.assert_allclose(read[12:], (torque, acceleration), rtol=1e-13)


def test_mistakes__are_named():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    inverse, body = sensors.inverse_dynamics(model), model.body_names[0]
    lopsided = sensors.Sensor(
        'lopsided',
        (sensors.Term(Variable('tau', sensors.FLOATING_BASE), np.eye(6)[:2]),),
        np.array([[1.0, 2.0], [2.0, 1.0]]),
    )
    solver, state = Estimator(model, inverse), model.neutral_state()
    bad, other = np.zeros(96), TreeModel.from_urdf(robots.path('humanoid'))
    bad[7] = np.nan
    for error, what, call in (
        (UnknownNameError, 'knie', lambda: BlockSystem(model, [sensors.joint_torque('knie')])),
        (ConfigurationError, 'two sensors', lambda: BlockSystem(model, [*inverse, inverse[0]])),
        (ConfigurationError, 'components', lambda: sensors.external_wrench(model, body, [2, 6])),
        (
            *(ConfigurationError, 'standard deviation'),
            lambda: sensors.joint_torque(model.joint_names[0], -1.0),
        ),
        (
            *(ConfigurationError, 'matrix of shape'),
            lambda: BlockSystem(model, [sensors.known(Variable('fx', body), 5)]),
        ),
        (ConfigurationError, 'positive definite', lambda: BlockSystem(model, [lopsided])),
        (ShapeError, '96', lambda: solver.estimate(state, np.zeros(95))),
        (NotFiniteError, r'readings\[7\]', lambda: solver.estimate(state, bad)),
        (UnsolvableError, 'as large', lambda: solver.estimate(state, np.full(96, 1e308))),
        (ShapeError, 'positions', lambda: solver.estimate(other.neutral_state(), np.zeros(96))),
    ):
        with pytest.raises(error, match=what):
            call()


@pytest.mark.shows('Nori: - joints that mimic others', 'Nori: - joints with several axes')
@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('mimic', [True, False], ids=['mimic joints', 'several axes'])
def test_joints_that_mimic_others_or_have_several_axes__equal_dense_dynamics(mimic, base):
    """Rotors, springs and friction of the former; S of a universal joint moves in the latter."""
    rng = np.random.default_rng(9)
    description, model = passive_robot(base, mimic=True)
    if not mimic:
        description = every_kind_description(rng, damping=0.3)
        model = TreeModel.from_description(description, base=base, gravity=TILTED_GRAVITY)
    dense, bodies = DenseReference(description, model, friction=True), len(model.body_names)
    some = [name for k, name in enumerate(model.joint_names) if k % 3]
    inverse, forward, hybrid = (
        Estimator(model, sensor_set)
        for sensor_set in (
            sensors.inverse_dynamics(model),
            sensors.forward_dynamics(model),
            sensors.hybrid_dynamics(model, some),
        )
    )
    for _ in range(2):
        state, nu_dot = model.random_state(rng), rng.normal(size=model.m)
        tau, nothing = dense.inverse_dynamics(state, nu_dot), np.zeros(6 * bodies)
        if not mimic:
            oracle = PinocchioOracle.from_description(description, model)
            assert_close(oracle.inverse_dynamics(state, nu_dot), tau, 1e-11, 'the referees')
        found = inverse.estimate(state, np.concatenate((nothing, nu_dot))).variables
        assert_close(found.tau, tau, 1e-11, 'inverse')
        again = forward.estimate(state, np.concatenate((nothing, tau))).variables
        assert_close(again.nu_dot, nu_dot, 1e-9, 'forward')
        for ours, theirs in zip(again, found, strict=True):
            assert_close(ours, theirs, 1e-9, scale=max(1.0, np.abs(theirs).max()))
        joints = np.where(np.isin(model.joint_names, some), nu_dot[-model.n :], tau[-model.n :])
        of_base = tau[: model.m - model.n]
        both = hybrid.estimate(state, np.concatenate((nothing, of_base, joints))).variables
        assert_close(both.nu_dot, nu_dot, 1e-9, 'hybrid, accelerations')
        assert_close(both.tau, tau, 1e-9, 'hybrid, efforts')
