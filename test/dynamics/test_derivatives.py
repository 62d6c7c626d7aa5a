# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Variations of dynamics and the regressor: differences of dense matrices, and Pinocchio."""

import dataclasses

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close
from support.dense_reference import DenseReference, retract
from support.finite_difference import derivative, exp
from support.pinocchio_oracle import PinocchioOracle, pin
from support.trees import TILTED_GRAVITY, every_kind_description, steps

from geolin_ros import (
    Description,
    Link,
    TreeModel,
    Variation,
    Wrench,
    forward_dynamics_variation,
    hybrid_dynamics_variation,
    inertial_parameters,
    inverse_dynamics_regressor,
    inverse_dynamics_variation,
)
from geolin_ros.description import Mimic
from geolin_ros.dynamics.variation import inertia_of_parameters
from geolin_ros.errors import InputError, NotFiniteError, ShapeError, UnknownNameError

KINDS_OF_WRENCH = ('body', 'world', 'world_oriented')
MOVING_AXES = ('revolute', 'continuous', 'prismatic', 'helical', 'universal', 'cylindrical')
PASSIVE = {
    'armature': 'rotor_inertia',
    **{name: name for name in ('damping', 'friction', 'friction_speed', 'stiffness', 'rest')},
}


class Case:
    """A robot with a joint of each kind at a random motion, with wrenches of each kind.

    Joints have rotors, dampers, friction and springs; with a floating base one mimics another.
    """

    def __init__(self, base, seed):
        rng = default_rng(seed)
        description, joints = every_kind_description(rng), []
        turning = [joint.name for joint in description.joints if joint.kind == 'revolute']
        for k, joint in enumerate(description.joints):
            sprung = joint.kind in MOVING_AXES
            follows = joint.name == turning[1] and base == 'floating'
            joints.append(
                dataclasses.replace(
                    joint,
                    rotor_inertia=0.02 * (k + 1),
                    damping=rng.uniform(0.0, 0.3),
                    friction=0.5 + 0.1 * k,
                    friction_speed=0.7,
                    stiffness=sprung * (3.0 + k),
                    rest=sprung * 0.1 * k,
                    mimic=Mimic(turning[0], 1.4, 0.1) if follows else None,
                )
            )
        self.description = dataclasses.replace(description, joints=tuple(joints))
        self.model = model = TreeModel.from_description(
            self.description,
            base=base,
            gravity=TILTED_GRAVITY,
            joints=list(rng.permutation([joint.name for joint in joints if not joint.mimic])),
            coulomb_friction=True,
        )
        self.state = model.random_state(rng, speed=1.0)
        self.nu_dot, self.tau = rng.normal(size=model.m), rng.normal(size=model.n)
        self.wrenches = [
            Wrench(f'link{i}', rng.normal(size=3), rng.normal(size=3), kind)
            for i, kind in zip((2, 5, 7), KINDS_OF_WRENCH, strict=True)
        ]
        self.prescribed = rng.random(model.n) < 0.5
        self.base, self.rng = model.m - model.n, rng

    def everything(self):
        """Return a variation of all there is."""
        rng, model = self.rng, self.model
        inertias = [inertia_of_parameters(0.1 * rng.normal(size=10)) for _ in range(2)]
        joints = self.description.joints
        passive = {
            joint.name: {
                name: 0.3 * rng.normal()
                for name in PASSIVE
                if joint.kind in MOVING_AXES or name not in ('stiffness', 'rest')
            }
            for joint in joints
        }
        return Variation(
            pose=rng.normal(size=6),
            positions=rng.normal(size=model.n),
            twist=rng.normal(size=6) * (self.base > 0),  # a fixed base has none
            rates=rng.normal(size=model.n),
            acceleration=rng.normal(size=model.m),
            efforts=rng.normal(size=model.n),
            wrenches=rng.normal(size=(3, 6)),
            inertias=dict(zip(('link0', 'link4'), inertias, strict=True)),
            placements={steps(joints[k])[0]: rng.normal(size=6) for k in (2, 5)},
            subspaces={
                name: row
                for joint in joints
                if joint.kind in MOVING_AXES
                for name, row in zip(steps(joint), moving_axes(joint, 1.0)[1], strict=True)
            },
            passive={step: passive[joint.name] for joint in joints for step in steps(joint)},
            gravity=rng.normal(size=3),
        )

    def at(self, variation, p):
        """Return the dense referee, state, accelerations, efforts and wrenches at p."""
        n = self.model.n

        def part(name, size):
            value = getattr(variation, name)
            return np.zeros(size) if value is None else p * np.asarray(value)

        links = [
            dataclasses.replace(
                link, inertia=link.inertia + p * variation.inertias.get(link.name, np.zeros(6))
            )
            for link in self.description.links
        ]
        joints = []
        for joint in self.description.joints:
            first = steps(joint)[0]
            moved = moving_axes(joint, p * (first in variation.subspaces))[0]
            changes = {
                PASSIVE[name]: getattr(joint, PASSIVE[name]) + p * rate
                for name, rate in variation.passive.get(first, {}).items()
            }
            place = joint.placement @ exp(p * variation.placements.get(first, np.zeros(6)))
            joints.append(dataclasses.replace(moved, placement=place, **changes))
        model = self.model.with_gravity(self.model.gravity + part('gravity', 3))
        moved = Description('moved', tuple(links), tuple(joints))
        reference = DenseReference(moved, model, friction=True)
        z = (part('pose', 6), part('positions', n), part('twist', 6), part('rates', n))
        state = retract(reference, self.state, np.concatenate(z))
        wrenches = [
            dataclasses.replace(w, force=w.force + row[:3], moment=w.moment + row[3:])
            for w, row in zip(self.wrenches, part('wrenches', (3, 6)), strict=True)
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
        free = np.concatenate((np.full(self.base, not base_prescribed), ~self.prescribed))
        return reference.hybrid(state, nu_dot, tau, free, wrenches)


def moving_axes(joint, p):
    """Return a joint whose axes turn and whose pitch grows with p, and dS/dp at p = 0."""
    rng = default_rng(len(joint.name) + ord(joint.name[-1]))
    (w, second), pitch = rng.normal(size=(2, 3)), 0.4 * (joint.kind == 'helical')
    moved = dataclasses.replace(
        joint,
        axis=exp(p * np.concatenate((np.zeros(3), w)))[:3, :3] @ joint.axis,
        second_axis=exp(p * np.concatenate((np.zeros(3), second)))[:3, :3] @ joint.second_axis,
        pitch=joint.pitch + p * pitch,
    )
    a, b = (axis / np.linalg.norm(axis) for axis in (joint.axis, joint.second_axis))
    zero, turn = np.zeros(3), np.cross(w, a)
    dS = {
        'prismatic': [turn, zero],
        'helical': [joint.pitch * turn + pitch * a, turn],
        'cylindrical': [[zero, turn], [turn, zero]],
        'universal': [[zero, turn], [zero, np.cross(second, b)]],
    }.get(joint.kind, [zero, turn])
    return moved, np.array(dS).reshape(-1, 6)


@pytest.fixture(scope='module', params=['floating', 'fixed'])
def case(request):
    return Case(request.param, 51)


@pytest.mark.shows('Kim 2012: Table 5', 'Kim 2012: Table 6')
def test_variations__equal_differences_with_everything_moving(case):
    variation, at = case.everything(), (case.model, case.state)
    expected = derivative(lambda p: case.inverse(variation, p), step=5e-3)
    found = inverse_dynamics_variation(*at, case.nu_dot, variation, wrenches=case.wrenches)
    assert_close(found, expected, 1e-9)
    expected = derivative(lambda p: case.forward(variation, p), step=5e-3)
    found = forward_dynamics_variation(*at, case.tau, variation, wrenches=case.wrenches)
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
        *(case.model, case.state, case.nu_dot[first:], case.tau, case.prescribed, variation),
        wrenches=case.wrenches,
    )
    assert_close(np.concatenate(found), np.delete(expected, np.s_[m : m + first]), 1e-9)


ONE_AT_A_TIME = (
    *('pose', 'positions', 'twist', 'rates', 'acceleration', 'wrenches', 'inertias'),
    *('placements', 'subspaces', 'gravity', *PASSIVE),
)


@pytest.mark.shows(
    'Kim 2012: Eq. (92) and its shortcuts', 'Kim 2012: - dS/dp', 'Kim 2012: - rotors'
)
@pytest.mark.parametrize('name', ONE_AT_A_TIME)
def test_inverse_dynamics_variation__by_one_thing_at_a_time(case, name):
    """Bodies that p does not move are passed over: the shortcuts must not lose anything."""
    everything = case.everything()
    if name in PASSIVE:
        rates = {joint: {name: part.get(name)} for joint, part in everything.passive.items()}
        ends = [[step for step in steps(j) if rates[step][name]] for j in case.description.joints]
        variations = [Variation(passive={step: rates[step] for step in own}) for own in ends]
    elif name in ('positions', 'rates', 'acceleration'):
        value = getattr(everything, name)
        variations = [Variation(**{name: value * unit}) for unit in np.eye(len(value))]
    else:
        variations = [Variation(**{name: getattr(everything, name)})]
    at = case.model, case.state, case.nu_dot
    for variation in variations:
        expected = derivative(lambda p, v=variation: case.inverse(v, p), step=5e-3)
        dtau = inverse_dynamics_variation(*at, variation, wrenches=case.wrenches)
        assert_close(dtau, expected, 1e-9, scale=max(1.0, np.abs(expected).max()))


@pytest.mark.shows('Kim 2012: - the ten parameters of every body')
def test_regressor__equals_pinocchio():
    """Pinocchio counts bodies in its order of joints; planar joints keep its x and y here."""
    rng, z = default_rng(54), np.array([0.0, 0.0, 1.0])
    description = every_kind_description(rng)
    joints = tuple(
        dataclasses.replace(joint, axis=z) if joint.kind == 'se2' else joint
        for joint in description.joints
    )
    description = dataclasses.replace(description, joints=joints)
    model = TreeModel.from_description(description, gravity=TILTED_GRAVITY)
    oracle = PinocchioOracle.from_description(description, model)
    state, nu_dot = model.random_state(rng, speed=2.0), rng.normal(size=model.m)
    Y = inverse_dynamics_regressor(model, state, nu_dot)
    at = oracle.q(state), oracle.velocity(state), oracle._to_pinocchio(nu_dot)
    theirs = pin.computeJointTorqueRegressor(oracle.pin_model, oracle.data, *at)[oracle.order]
    moved = {joint.name: model.body_of_joint[steps(joint)[-1]] for joint in joints}
    columns = [0] + [moved[name] for name in oracle.pin_model.names[2:]]
    ours = np.hstack([Y[:, 10 * i : 10 * i + 10] for i in columns])
    assert_close(ours, theirs, 1e-12)
    parameters = inertial_parameters(model).reshape(-1, 10)[columns]
    inertias = list(oracle.pin_model.inertias)[1:]
    theirs = np.array([inertia.toDynamicParameters() for inertia in inertias])
    assert_close(parameters, theirs, 1e-12)


@pytest.mark.shows('Kim 2012: - the ten parameters of every body')
def test_regressor__is_the_derivative_by_parameters(case):
    """Which are linear in them: of a body alone and of one that others move."""
    Y = inverse_dynamics_regressor(case.model, case.state, case.nu_dot)
    names = case.model.body_names
    dense = case.at(Variation(), 0.0)[0]
    for i in (0, names.index('link3'), len(names) - 1):
        link = dense.links[names[i]]
        for k, unit in enumerate(np.eye(10)):
            change = inertia_of_parameters(unit)
            tau = []
            for sign in (-0.5, 0.5):
                dense.links[link.name] = Link(link.name, link.inertia + sign * change)
                tau.append(dense.inverse_dynamics(case.state, case.nu_dot))
            dense.links[link.name] = link
            expected = tau[1] - tau[0]
            assert_close(Y[:, 10 * i + k], expected, 1e-12, scale=np.abs(tau).max())


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
    'size of a placement': ({'placements': {'revolute': np.zeros(3)}}, ShapeError, 'placement'),
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
