# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse, forward and hybrid dynamics as a sparse system against Pinocchio and dense solves."""

import dataclasses

import numpy as np
import pytest
from geolin_estimation.sparse import BlockSystem, DynamicsSolver, Variable, sensors
from support.close import assert_close
from support.dense_reference import DenseReference
from support.newton_euler import classical_sets, moving_bodies, random_motion
from support.passive_joints import passive_model
from support.pinocchio_oracle import PinocchioOracle, pin
from support.robots import example_robot, read_robot
from support.states import edge_states
from support.trees import TILTED_GRAVITY, every_kind_description, random_description

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.description import Mimic
from geolin_ros.errors import (
    ConfigurationError,
    NotFiniteError,
    ShapeError,
    UnknownNameError,
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
        for name in ('solo12', 'talos_reduced'):
            path = example_robot(name)
            _, model = read_robot(path, base=base)
            yield f'{name}, {base}', PinocchioOracle.read_urdf(path, model)


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
        for problem, sensor_set, readings in classical_sets(model, rng):
            solver = DynamicsSolver(model, sensor_set)
            for edge, state in edge_states(model, rng):
                motion = random_motion(oracle, rng, state)
                ours = solver.solve(state, readings(motion))
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
    solver = DynamicsSolver(oracle.model, sensors.inverse_dynamics(oracle.model))
    reaction = solver.solve(motion.state, motion.inverse_readings()).f[0]
    floating = random_oracle(np.random.default_rng(2), 'floating')
    still = floating.model.neutral_state()
    still.s[:], still.r[:] = motion.state.s, motion.state.r
    referee = DynamicsSolver(floating.model, sensors.inverse_dynamics(floating.model))
    readings = np.concatenate((motion.theirs.fx.ravel(), np.zeros(6), motion.theirs.nu_dot))
    assert_close(reaction, referee.solve(still, readings).tau[:6], 1e-12)


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
    solver = DynamicsSolver(model, (*sensors.all_external_wrenches(model), *instruments))
    for _ in range(5):
        motion = random_motion(oracle, rng)
        read = [motion.theirs.f[body, _strongest(model, body)] for body in range(1, 5)]
        ours = solver.solve(motion.state, np.concatenate((motion.theirs.fx.ravel(), read)))
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


def sensors_of_motion(model, link):
    return sensors.accelerometer(model, link), sensors.angular_acceleration(model, link)


@pytest.mark.shows('Nori: Eq. (16)')
def test_accelerometer__reads_the_proper_acceleration_of_the_point():
    """Pinocchio's classical acceleration of the frame, less gravity in its axes."""
    oracle, motion = humanoid_in_motion(6)
    model, theirs = oracle.model, motion.theirs
    for link in ('imu', 'left_sole', 'head'):
        read = readings_of(model, motion, *sensors_of_motion(model, link))
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
        torque = (
            oracle.data.tau[entry]
            + oracle._damping_torque(motion.state)[-model.n :][model.joint_index(joint)]
        )
        acceleration = oracle._to_pinocchio(theirs.nu_dot)[entry]
        np.testing.assert_allclose(read[12:], (torque, acceleration), rtol=1e-13)


def test_stack__orders_readings_by_name():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    names = model.joint_names[:2]
    system = BlockSystem(model, [sensors.joint_torque(name) for name in names])
    stacked = system.stack({f'tau[{names[1]}]': 2.0, f'tau[{names[0]}]': [1.0]})
    assert stacked.tolist() == [1.0, 2.0]
    with pytest.raises(UnknownNameError, match=f'tau.{names[1]}'):
        system.stack({f'tau[{names[0]}]': 1.0})
    with pytest.raises(UnknownNameError, match='torque'):
        system.stack({'torque': 1.0})
    with pytest.raises(ShapeError, match='expected \\(1,\\)'):
        system.stack({f'tau[{name}]': [1.0, 2.0] for name in names})


def test_mistakes__are_named():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    inverse = sensors.inverse_dynamics(model)
    with pytest.raises(UnknownNameError, match='knie'):
        BlockSystem(model, [sensors.joint_torque('knie')])
    with pytest.raises(ConfigurationError, match='two sensors'):
        BlockSystem(model, [*inverse, inverse[0]])
    with pytest.raises(ConfigurationError, match='expected 96'):
        DynamicsSolver(model, inverse[1:])
    noisy = sensors.known(Variable('fx', model.body_names[0]), 6, 0.1)
    with pytest.raises(ConfigurationError, match='Estimator'):
        DynamicsSolver(model, [noisy, *inverse[1:]])
    with pytest.raises(ConfigurationError, match='components'):
        sensors.external_wrench(model, model.body_names[0], [2, 6])
    with pytest.raises(ConfigurationError, match='standard deviation'):
        sensors.joint_torque(model.joint_names[0], -1.0)
    with pytest.raises(ConfigurationError, match='matrix of shape'):
        BlockSystem(model, [sensors.known(Variable('fx', model.body_names[0]), 5)])
    lopsided = sensors.Sensor(
        'lopsided',
        (sensors.Term(Variable('tau', sensors.FLOATING_BASE), np.eye(6)[:2]),),
        np.array([[1.0, 2.0], [2.0, 1.0]]),
    )
    with pytest.raises(ConfigurationError, match='positive definite'):
        BlockSystem(model, [lopsided])
    solver, state = DynamicsSolver(model, inverse), model.neutral_state()
    with pytest.raises(ShapeError, match='expected \\(96,\\)'):
        solver.solve(state, np.zeros(95))
    readings = np.zeros(96)
    readings[7] = np.nan
    with pytest.raises(NotFiniteError, match=r'readings.*nan at index 7'):
        solver.solve(state, readings)
    with pytest.raises(ShapeError, match='joint positions'):
        solver.solve(TreeModel.from_urdf(robots.path('humanoid')).neutral_state(), readings)


@pytest.mark.shows('Nori: - joints that mimic others')
@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_mimic_joints__move_with_their_masters(base):
    """M nu_dot + h = tau of Pinocchio for the free tree, reduced by the chain rule."""
    rng = np.random.default_rng(8)
    description = random_description(rng, 7)
    joints = list(description.joints)
    names = [joint.name for joint in joints]
    follows = {names[2]: (names[1], -0.7, 0.2), names[5]: (names[3], 1.4, 0.1)}
    joints = [
        dataclasses.replace(joint, mimic=Mimic(*follows[joint.name]))
        if joint.name in follows
        else joint
        for joint in joints
    ]
    description = dataclasses.replace(description, joints=tuple(joints))
    options = {'base': base, 'gravity': TILTED_GRAVITY}
    model = TreeModel.from_description(description, **options)
    free = TreeModel.from_description(description, mimic='independent', **options)
    oracle = PinocchioOracle.from_description(description, free)
    first = model.m - model.n
    G, offset = np.zeros((free.m, model.m)), np.zeros(free.n)
    G[:first, :first] = np.eye(first)
    for row, name in enumerate(free.joint_names):
        master, multiplier, offset[row] = follows.get(name, (name, 1.0, 0.0))
        G[first + row, first + model.joint_index(master)] = multiplier
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    H = G[first:, first:]
    whole = free.state(state.H, H @ state.s + offset, state.v, H @ state.r)
    h = G.T @ oracle.inverse_dynamics(whole, np.zeros(free.m))
    all_tau = np.concatenate((np.zeros(first), tau))
    nu_dot = np.linalg.solve(G.T @ oracle.mass_matrix(whole) @ G, all_tau - h)
    nothing = np.zeros(6 * len(model.body_names))
    forward = DynamicsSolver(model, sensors.forward_dynamics(model))
    found = forward.solve(state, np.concatenate((nothing, all_tau)))
    assert_close(found.nu_dot, nu_dot, 1e-10)
    inverse = DynamicsSolver(model, sensors.inverse_dynamics(model))
    again = inverse.solve(state, np.concatenate((nothing, nu_dot)))
    assert_close(again.tau, all_tau, 1e-10)
    for ours, theirs in zip(again, found, strict=True):
        assert_close(ours, theirs, 1e-9, scale=max(1.0, np.abs(theirs).max()))


@pytest.mark.shows('Nori: - joints that mimic others')
@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_rotors_springs_and_friction_of_mimic_joints__act_on_their_masters(base):
    rng, model = np.random.default_rng(10), passive_model(base, mimic=True)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    nothing = np.zeros(6 * len(model.body_names) + model.m - model.n)
    solver = DynamicsSolver(model, sensors.forward_dynamics(model))
    nu_dot = solver.solve(state, np.concatenate((nothing, tau))).nu_dot
    assert_close(nu_dot, Linearizer(model).forward_dynamics(state, tau), 1e-11)


@pytest.mark.shows('Nori: - joints with several axes')
@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_joints_with_several_axes__equal_pinocchio_and_dense_dynamics(base):
    """One of each kind, S of the universal one moving; any of their rates may be prescribed."""
    rng = np.random.default_rng(9)
    description = every_kind_description(rng, damping=0.3)
    model = TreeModel.from_description(description, base=base, gravity=TILTED_GRAVITY)
    oracle = PinocchioOracle.from_description(description, model)
    dense = DenseReference(description, model)
    bodies = np.zeros(6 * len(model.body_names))
    some = [name for k, name in enumerate(model.joint_names) if k % 3]
    inverse, forward, hybrid = (
        DynamicsSolver(model, sensor_set)
        for sensor_set in (
            sensors.inverse_dynamics(model),
            sensors.forward_dynamics(model),
            sensors.hybrid_dynamics(model, some),
        )
    )
    for _ in range(3):
        state, nu_dot = model.random_state(rng), rng.normal(size=model.m)
        tau = oracle.inverse_dynamics(state, nu_dot)
        assert_close(dense.inverse_dynamics(state, nu_dot), tau, 1e-11, 'the referees')
        found = inverse.solve(state, np.concatenate((bodies, nu_dot))).tau
        assert_close(found, tau, 1e-11, 'inverse')
        found = forward.solve(state, np.concatenate((bodies, tau))).nu_dot
        assert_close(found, nu_dot, 1e-9, 'forward')
        joints = np.where(np.isin(model.joint_names, some), nu_dot[-model.n :], tau[-model.n :])
        of_base = tau[: model.m - model.n]
        both = hybrid.solve(state, np.concatenate((bodies, of_base, joints)))
        assert_close(both.nu_dot, nu_dot, 1e-9, 'hybrid, accelerations')
        assert_close(both.tau, tau, 1e-9, 'hybrid, efforts')
