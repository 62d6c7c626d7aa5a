# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of dynamics against differences of dense matrices, and against Pinocchio."""

import dataclasses

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close
from support.dense_reference import DenseReference, retract
from support.finite_difference import derivative, exp
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.trees import TILTED_GRAVITY, every_kind_description

from geolin_ros import (
    Description,
    Joint,
    Link,
    TreeModel,
    Variation,
    Wrench,
    forward_dynamics,
    forward_dynamics_derivatives,
    forward_dynamics_variation,
    hybrid_dynamics_variation,
    inertial_parameters,
    inverse_dynamics,
    inverse_dynamics_derivatives,
    inverse_dynamics_regressor,
    inverse_dynamics_variation,
)
from geolin_ros.description import Mimic
from geolin_ros.dynamics.variation import inertia_of_parameters
from geolin_ros.errors import InputError, NotFiniteError, ShapeError, UnknownNameError

pin = pytest.importorskip('pinocchio')
KINDS_OF_WRENCH = ('body', 'world', 'world_oriented')
MOVING_AXES = ('revolute', 'continuous', 'prismatic', 'helical', 'universal', 'cylindrical')


class Case:
    """A robot with a joint of each kind at a random motion, with wrenches of each kind."""

    def __init__(self, base, seed):
        rng = default_rng(seed)
        self.description = every_kind_description(rng, damping=0.3)
        joints = [joint.name for joint in self.description.joints]
        self.model = TreeModel.from_description(
            self.description,
            base=base,
            gravity=TILTED_GRAVITY,
            joints=list(rng.permutation(joints)),
        )
        model, n = self.model, self.model.n
        self.reference = DenseReference(self.description, model)
        self.state = model.random_state(rng, speed=1.0)
        self.nu_dot, self.tau = rng.normal(size=model.m), rng.normal(size=n)
        self.wrenches = [
            Wrench(f'link{i}', rng.normal(size=3), rng.normal(size=3), kind)
            for i, kind in zip((2, 5, 7), KINDS_OF_WRENCH, strict=True)
        ]
        self.prescribed = rng.random(n) < 0.5
        self.base = model.m - n
        self.rng = rng

    def everything(self):
        """Return a variation of all there is."""
        rng, model = self.rng, self.model
        parameters = 0.1 * rng.normal(size=(2, 10))
        return Variation(
            pose=rng.normal(size=6),
            positions=rng.normal(size=model.n),
            twist=rng.normal(size=6) * (self.base > 0),  # a fixed base has none
            rates=rng.normal(size=model.n),
            acceleration=rng.normal(size=model.m),
            efforts=rng.normal(size=model.n),
            wrenches=rng.normal(size=(3, 6)),
            inertias={
                f'link{i}': inertia_of_parameters(part)
                for i, part in zip((0, 4), parameters, strict=True)
            },
            placements={'joint3': rng.normal(size=6), 'joint6': rng.normal(size=6)},
            subspaces={
                joint.name: self.moving_axes(joint, 1.0)[1]
                for joint in self.description.joints
                if joint.kind in MOVING_AXES
            },
            gravity=rng.normal(size=3),
        )

    def moving_axes(self, joint, p):
        """Return a joint whose axes turn and whose pitch grows with p, and dS/dp at p = 0."""
        rng = default_rng(len(joint.name) + ord(joint.name[-1]))
        w, second, pitch = rng.normal(size=3), rng.normal(size=3), 0.4 * (joint.kind == 'helical')
        moved = dataclasses.replace(
            joint,
            axis=exp(p * np.concatenate((np.zeros(3), w)))[:3, :3] @ joint.axis,
            second_axis=exp(p * np.concatenate((np.zeros(3), second)))[:3, :3] @ joint.second_axis,
            pitch=joint.pitch + p * pitch,
        )
        a = np.asarray(joint.axis, float) / np.linalg.norm(joint.axis)
        b = np.asarray(joint.second_axis, float) / np.linalg.norm(joint.second_axis)
        zero, turn = np.zeros(3), np.cross(w, a)
        dS = {
            'prismatic': [turn, zero],
            'helical': [joint.pitch * turn + pitch * a, turn],
            'cylindrical': [[zero, turn], [turn, zero]],
            'universal': [[zero, turn], [zero, np.cross(second, b)]],
        }.get(joint.kind, [zero, turn])
        return moved, np.array(dS).reshape(-1, 6)

    def at(self, variation, p):
        """Return the dense referee, state, accelerations, efforts and wrenches at p."""
        n = self.model.n

        def part(name, size):
            value = getattr(variation, name)
            return np.zeros(size) if value is None else p * np.asarray(value)

        links = tuple(
            dataclasses.replace(link, inertia=link.inertia + p * variation.inertias[link.name])
            if link.name in variation.inertias
            else link
            for link in self.description.links
        )
        joints = tuple(
            dataclasses.replace(
                joint, placement=joint.placement @ exp(p * variation.placements[joint.name])
            )
            if joint.name in variation.placements
            else joint
            for joint in self.description.joints
        )
        if variation.subspaces:
            joints = tuple(
                self.moving_axes(joint, p)[0] if joint.name in variation.subspaces else joint
                for joint in joints
            )
        model = self.model.with_gravity(self.model.gravity + part('gravity', 3))
        reference = DenseReference(Description('moved', links, joints), model)
        z = (part('pose', 6), part('positions', n), part('twist', 6), part('rates', n))
        state = retract(reference, self.state, np.concatenate(z))
        rows = part('wrenches', (3, 6))
        wrenches = [
            dataclasses.replace(w, force=w.force + row[:3], moment=w.moment + row[3:])
            for w, row in zip(self.wrenches, rows, strict=True)
        ]
        nu_dot = self.nu_dot + part('acceleration', self.model.m)
        return reference, state, nu_dot, self.tau + part('efforts', n), wrenches

    def inverse(self, variation, p):
        reference, state, nu_dot, _, wrenches = self.at(variation, p)
        return reference.inverse_dynamics(state, nu_dot, wrenches)

    def forward(self, variation, p):
        reference, state, _, tau, wrenches = self.at(variation, p)
        return reference.forward_dynamics(state, tau, wrenches)

    def hybrid(self, variation, p, base_prescribed):
        reference, state, nu_dot, tau, wrenches = self.at(variation, p)
        return reference.hybrid(state, nu_dot, tau, self.free(base_prescribed), wrenches)

    def free(self, base_prescribed):
        return np.concatenate((np.full(self.base, not base_prescribed), ~self.prescribed))


@pytest.fixture(scope='module', params=['floating', 'fixed'])
def case(request):
    return Case(request.param, 51)


@pytest.mark.shows('Kim 2012: Table 5', 'Kim 2012: Table 6')
def test_variations__equal_differences_with_everything_moving(case):
    variation, at = case.everything(), (case.model, case.state)
    expected = derivative(lambda p: case.inverse(variation, p))
    found = inverse_dynamics_variation(*at, case.nu_dot, variation, case.wrenches)
    assert_close(found, expected, 1e-9)
    expected = derivative(lambda p: case.forward(variation, p), step=5e-3)
    found = forward_dynamics_variation(*at, case.tau, variation, case.wrenches)
    assert_close(found, expected, 1e-9)


@pytest.mark.shows('Kim 2012: Table 7')
@pytest.mark.parametrize('base_prescribed', [False, True])
def test_hybrid_dynamics_variation__equals_differences_with_everything_moving(
    case, base_prescribed
):
    variation, m = case.everything(), case.model.m
    first = 0 if base_prescribed else case.base
    expected = derivative(lambda p: case.hybrid(variation, p, base_prescribed), step=5e-3)
    found = hybrid_dynamics_variation(
        *(case.model, case.state, case.nu_dot[first:], case.tau, case.prescribed),
        *(variation, case.wrenches),
    )
    assert_close(np.concatenate(found), np.delete(expected, np.s_[m : m + first]), 1e-9)


ONE_AT_A_TIME = (
    'pose',
    'positions',
    'twist',
    'rates',
    'acceleration',
    'wrenches',
    'inertias',
    'placements',
    'subspaces',
    'gravity',
)


@pytest.mark.shows('Kim 2012: Eq. (92) and its shortcuts', 'Kim 2012: - dS/dp')
@pytest.mark.parametrize('name', ONE_AT_A_TIME)
def test_inverse_dynamics_variation__by_one_thing_at_a_time(case, name):
    """Bodies that p does not move are passed over: the shortcuts must not lose anything."""
    value = getattr(case.everything(), name)
    alone = [value]
    if name in ('positions', 'rates', 'acceleration'):
        alone = [value * unit for unit in np.eye(len(value))]
    for part in alone:
        variation = Variation(**{name: part})
        expected = derivative(lambda p, v=variation: case.inverse(v, p))
        dtau = inverse_dynamics_variation(
            case.model, case.state, case.nu_dot, variation, case.wrenches
        )
        assert_close(dtau, expected, 1e-9, scale=max(1.0, np.abs(expected).max()))


PASSIVE = {
    'armature': 'rotor_inertia',
    **{name: name for name in ('damping', 'friction', 'friction_speed', 'stiffness', 'rest')},
}


def springy_model(case, joint=None, change=None):
    """Return the case's robot with rotors, friction and springs, and one number of one joint off.

    Rebuilt from its description: what `Variation` never sees.
    """
    joints = []
    for k, at in enumerate(case.description.joints):
        values = {
            'rotor_inertia': 0.02 * (k + 1), 'friction': 0.5 + 0.1 * k, 'friction_speed': 0.7,
            'stiffness': 0.0 if at.kind in ('spherical', 'se2', 'floating') else 3.0 + k,
            'rest': 0.1 * k, 'damping': 0.3,
        }  # fmt: skip
        if at.name == joint:
            values[PASSIVE[change[0]]] += change[1]
        joints.append(dataclasses.replace(at, **values))
    return TreeModel.from_description(
        dataclasses.replace(case.description, joints=tuple(joints)),
        base=case.model.base,
        gravity=TILTED_GRAVITY,
        joints=list(dict.fromkeys(name.split('/')[0] for name in case.model.joint_names)),
        coulomb_friction=True,
    )


@pytest.mark.shows('Kim 2012: - rotors')
@pytest.mark.parametrize('name', PASSIVE)
def test_derivative__by_each_passive_parameter_equals_differences_of_rebuilt_robots(case, name):
    model, step = springy_model(case), 1e-4
    for joint in case.description.joints:
        if name in ('stiffness', 'rest') and joint.kind in ('spherical', 'se2', 'floating'):
            continue
        variation = Variation(passive={joint.name: {name: 1.0}})
        robots = [springy_model(case, joint.name, (name, by * step)) for by in (-2, -1, 1, 2)]
        for function, argument, d_function in (
            (inverse_dynamics, case.nu_dot, inverse_dynamics_variation),
            (forward_dynamics, case.tau, forward_dynamics_variation),
        ):
            far_back, back, on, far_on = (
                function(robot, case.state, argument, case.wrenches) for robot in robots
            )
            expected = (8.0 * (on - back) - (far_on - far_back)) / (12.0 * step)
            found = d_function(model, case.state, argument, variation, case.wrenches)
            scale = max(1.0, np.abs(on).max())
            assert_close(found, expected, 1e-8, scale=scale)
            assert np.abs(found).max() > 1e-3


@pytest.mark.shows('Kim 2012: - dS/dp')
def test_derivative__by_the_axis_of_a_joint_that_mimics_another():
    rng, turn = default_rng(56), np.array([0.0, 0.0, 0.0, 0.3, -0.2, 0.5])
    z = np.array([0.0, 0.0, 1.0])
    links = [Link.from_mass(name, 1.0, rng.normal(size=3), np.eye(3)) for name in 'abc']

    def robot(p):
        axis = exp(p * turn)[:3, :3] @ z
        slave = Joint(
            'slave', 'revolute', 'b', 'c', axis=axis, mimic=Mimic('master', 1.4, 0.1),
            rotor_inertia=0.2 + p,
        )  # fmt: skip
        joints = (Joint('master', 'revolute', 'a', 'b', axis=rng_axis), slave)
        return TreeModel.from_description(Description('mimic', tuple(links), joints))

    rng_axis = rng.normal(size=3)
    model = robot(0.0)
    state, tau = model.random_state(rng), rng.normal(size=1)
    variation = Variation(
        subspaces={'slave': np.concatenate((np.zeros(3), np.cross(turn[3:], z)))},
        passive={'slave': {'armature': 1.0}},
    )
    found = forward_dynamics_variation(model, state, tau, variation)
    assert_close(found, derivative(lambda p: forward_dynamics(robot(p), state, tau)), 1e-8)


@pytest.mark.shows('Kim 2012: - all columns at once')
@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('name', ['solo12', 'talos_reduced'])
def test_derivatives_of_robots__are_pinocchios(name, base):
    path, rng = example_robot(name), default_rng(52)
    _, model = read_robot(path, base=base)
    oracle, state, m = PinocchioOracle.read_urdf(path, model), model.random_state(rng), model.m
    nu_dot, tau = rng.normal(size=m), rng.normal(size=model.n)
    expected = oracle.inverse_dynamics_derivatives(state, nu_dot)
    found = inverse_dynamics_derivatives(model, state, nu_dot)
    assert_close(np.hstack(found), np.hstack(expected), 1e-11)
    A, B, _ = oracle.linearization(state, tau)
    found = forward_dynamics_derivatives(model, state, tau)
    assert_close(np.hstack(found[:4]), A[m:], 1e-9)
    assert_close(found.dnu_dot_dtau, B[m:], 1e-10)
    assert found.dnu_dot_dH.shape == (m, m - model.n)


@pytest.mark.shows('Kim 2012: - the ten parameters of every body')
def test_regressor__equals_pinocchio():
    """Pinocchio counts bodies in its order of joints; planar joints keep its x and y here."""
    rng = default_rng(54)
    description = every_kind_description(rng)
    joints = tuple(
        dataclasses.replace(joint, axis=np.array([0.0, 0.0, 1.0]))
        if joint.kind == 'se2'
        else joint
        for joint in description.joints
    )
    description = dataclasses.replace(description, joints=joints)
    model = TreeModel.from_description(description, gravity=TILTED_GRAVITY)
    oracle = PinocchioOracle.from_description(description, model)
    state, nu_dot = model.random_state(rng, speed=2.0), rng.normal(size=model.m)
    Y = inverse_dynamics_regressor(model, state, nu_dot)
    theirs = pin.computeJointTorqueRegressor(
        oracle.pin_model,
        oracle.data,
        oracle.q(state),
        oracle.velocity(state),
        oracle._to_pinocchio(nu_dot),
    )[oracle.order]
    assert Y.shape == theirs.shape == (model.m, 10 * len(model.body_names))
    columns = [0] + [model.body_of_joint[name] for name in oracle.pin_model.names[2:]]
    ours = np.hstack([Y[:, 10 * i : 10 * i + 10] for i in columns])
    assert_close(ours, theirs, 1e-12)
    parameters = inertial_parameters(model).reshape(-1, 10)[columns]
    inertias = list(oracle.pin_model.inertias)[1:]
    theirs = np.array([inertia.toDynamicParameters() for inertia in inertias])
    assert_close(parameters, theirs, 1e-12)


@pytest.mark.shows('Kim 2012: - the ten parameters of every body')
def test_regressor__is_the_derivative_by_parameters(case):
    Y = inverse_dynamics_regressor(case.model, case.state, case.nu_dot)
    names, passive = case.model.body_names, np.zeros(case.model.m)
    passive[case.base :] = case.reference.damping * case.state.r
    tau = case.reference.inverse_dynamics(case.state, case.nu_dot)
    assert_close(Y @ inertial_parameters(case.model) + passive, tau, 1e-12)
    for i in (0, 3, len(names) - 1):
        for k in range(10):
            variation = Variation(inertias={names[i]: np.eye(10)[k]})
            dtau = inverse_dynamics_variation(case.model, case.state, case.nu_dot, variation)
            expected = Y[:, 10 * i + k]
            assert_close(dtau, expected, 1e-12, scale=max(1.0, np.abs(expected).max()))


@pytest.mark.shows('Kim 2012: Eqs. (14)-(20)')
def test_inertial_parameters__rebuild_the_inertias(case):
    """From mass, centre of mass and inertia about it, by the theorem of Steiner."""
    rows = inertial_parameters(case.model).reshape(-1, 10)
    for row, inertia in zip(rows, case.model.tree.inertia, strict=True):
        assert_close(inertia_of_parameters(row), inertia, 1e-15)
    m, c, J = 3.0, np.array([0.1, -0.2, 0.3]), np.diag([0.3, 0.4, 0.5]) + 0.01
    about_origin = J + m * (c @ c * np.eye(3) - np.outer(c, c))
    h = m * np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
    by_hand = np.block([[m * np.eye(3), -h], [h, about_origin]])
    parameters = np.array([m, *(m * c), *about_origin[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])
    assert_close(inertia_of_parameters(parameters), by_hand, 1e-15)
    links = (Link.from_mass('base', m, c, J),)
    of_one = inertial_parameters(TreeModel.from_description(Description('one', links, ())))
    assert_close(of_one, parameters, 1e-15)


WRONG = {
    'size of a part': ({'pose': np.zeros(3)}, ShapeError, 'pose'),
    'unknown joint': ({'placements': {'joint33': np.zeros(6)}}, UnknownNameError, 'joint33'),
    'unknown link': ({'inertias': {'lnk1': np.zeros(10)}}, UnknownNameError, 'lnk1'),
    'size of an inertia': ({'inertias': {'link1': np.zeros((3, 3))}}, ShapeError, 'link1'),
    'wrenches that are none': ({'wrenches': np.zeros((1, 6))}, ShapeError, 'wrenches'),
    'size of a placement': ({'placements': {'joint3': np.zeros(3)}}, ShapeError, 'joint3'),
    'size of a subspace': ({'subspaces': {'revolute': np.zeros(3)}}, ShapeError, 'subspace'),
    'subspace of a ball': ({'subspaces': {'spherical': np.zeros((3, 6))}}, InputError, 'subspace'),
    'spring of a ball': ({'passive': {'spherical': {'stiffness': 1}}}, InputError, 'stiffness'),
    'no parameter': ({'passive': {'revolute': {'stifness': 1}}}, UnknownNameError, 'stifness'),
    'NaN': ({'gravity': [np.nan, 0.0, 0.0]}, NotFiniteError, 'variation'),
}


@pytest.mark.parametrize(('parts', 'error', 'what'), WRONG.values(), ids=WRONG)
def test_wrong_part_of_a_variation__is_named(parts, error, what):
    case = Case('floating', 55)
    of_kind = {joint.kind: joint.name for joint in case.description.joints}
    ((part, value),) = parts.items()
    if isinstance(value, dict):
        value = {of_kind.get(name, name): change for name, change in value.items()}
    at, variation = (case.model, case.state), Variation(**{part: value})
    for function, given in (
        (inverse_dynamics_variation, case.nu_dot),
        (forward_dynamics_variation, case.tau),
    ):
        with pytest.raises(error, match=what):
            function(*at, given, variation)
