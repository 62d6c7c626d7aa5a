# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Equations of motion, momentum and energies in every representation: Pinocchio, power."""

import numpy as np
import pytest
from support.close import assert_close, assert_wrong, deviation
from support.dense_reference import DenseReference
from support.finite_difference import derivative, derivative_by_state
from support.moving_robots import EXPRESSIONS, FLOATING, NAMES, ROBOTS, MovingRobot, later
from support.passive_joints import passive_robot
from support.pinocchio_oracle import pin
from support.trees import TILTED_GRAVITY, every_kind_description

from geolin_ros import Linearizer, TreeModel, Wrench, robots
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import (
    centre_of_mass,
    centroidal,
    equations_of_motion,
    kinetic_energy,
    potential_energy,
)
from geolin_ros.errors import ConfigurationError


def rate_in(at, base, nu_dot):
    """Return the rate of the numbers of nu from that of the body twist's."""
    return np.linalg.solve(at.base_map(base), nu_dot - at.base_map_rate(base) @ at.velocity(base))


@pytest.fixture(scope='module', params=ROBOTS, ids=' '.join)
def case(request):
    return MovingRobot(*request.param, seed=17)


@pytest.mark.shows('Traversaro 2019: Eq. (80)', 'Traversaro 2019: - G', 'Traversaro 2019: - C')
def test_matrices__are_pinocchios(case):
    """Both C are the one of Christoffel's symbols."""
    oracle, state, eom = case.oracle, case.state, equations_of_motion(case.model, case.state)
    of, at = (oracle.pin_model, oracle.data, oracle.q(state)), oracle.velocity(state)
    G, C = pin.computeGeneralizedGravity(*of), pin.computeCoriolisMatrix(*of, at)
    assert_close(eom.M, oracle.mass_matrix(state), 1e-13)
    assert_close(eom.G, G[oracle.order], 1e-13)
    assert_close(eom.C, np.array(C)[np.ix_(oracle.order, oracle.order)], 1e-12)


@pytest.mark.shows('Traversaro 2019: - all of it')
@pytest.mark.parametrize('base', EXPRESSIONS)
def test_equations__hold_for_pinocchios_accelerations(case, base):
    """In each representation with the rate of its own numbers."""
    model, state = case.model, case.state
    tau = np.linspace(-1.0, 1.0, model.n)
    nu_dot = case.oracle.forward_dynamics(state, tau)
    rate = rate_in(Kinematics(model, state), base, nu_dot)
    eom = equations_of_motion(model, state, base)
    residual = eom.M @ rate + eom.C @ eom.nu + eom.G + eom.D - eom.S @ tau
    assert_close(residual, np.zeros(model.m), 1e-11, scale=np.abs(eom.M @ rate).max())


@pytest.mark.shows('Traversaro 2019: - C')
@pytest.mark.parametrize('name', NAMES)
def test_coriolis_matrix__makes_mdot_minus_2c_skew(case, name):
    model, state = case.model, case.state
    M_dot = derivative(lambda t: equations_of_motion(model, case.along(t), name).M)
    C = equations_of_motion(model, state, name).C
    assert_close(M_dot, C + C.T, 1e-9)
    assert deviation(M_dot, 2.0 * C) > 0.01


@pytest.mark.shows('Traversaro 2019: T9')
def test_erratum_t9__mixed_equations_need_the_turning_of_the_base():
    """T9: h of (80) in mixed coordinates holds Y' M Ydot nu, Ydot nu = (-w x u; 0)."""
    case = MovingRobot('talos_reduced', seed=17)
    model, state = case.model, case.state
    at = Kinematics(model, state)
    body, inertial, mixed = (equations_of_motion(model, state, k) for k in NAMES)
    turning = np.zeros(model.m)
    turning[:3] = -np.cross(state.v[3:], state.v[:3])
    Y = at.base_map('mixed')
    h = Y.T @ (body.C @ body.nu + body.G + body.M @ turning)
    assert_close(mixed.C @ mixed.nu + mixed.G, h, 1e-12)
    assert_wrong(Y.T @ (body.C @ body.nu + body.G), h, 0.172)
    h = at.base_map('inertial').T @ (body.C @ body.nu + body.G)
    assert_close(inertial.C @ inertial.nu + inertial.G, h, 1e-12)


class Passive:
    """That robot at a random motion under efforts and a wrench on a link."""

    def __init__(self, base, mimic):
        description, self.model = passive_robot(base, mimic)
        rng = np.random.default_rng(29)
        self.state = self.model.random_state(rng, speed=2.0)
        self.tau, self.f = rng.normal(size=self.model.n), rng.normal(size=6)
        wrench = Wrench('link3', self.f[:3], self.f[3:])
        dense = DenseReference(description, self.model, friction=True)
        self.nu_dot = dense.forward_dynamics(self.state, self.tau, (wrench,))
        self.at = Kinematics(self.model, self.state)


@pytest.fixture(
    scope='module',
    params=[(base, mimic) for base in ('floating', 'fixed') for mimic in (False, True)],
    ids=['floating', 'floating mimic', 'fixed', 'fixed mimic'],
)
def passive(request):
    return Passive(*request.param)


@pytest.mark.parametrize('base', EXPRESSIONS)
def test_equations_of_passive_joints__hold_under_a_wrench(passive, base):
    """S tau + J'f with the Jacobian of the link; accelerations of the dense dynamics."""
    eom = equations_of_motion(passive.model, passive.state, base)
    rate = rate_in(passive.at, base, passive.nu_dot)
    forces = eom.S @ passive.tau + passive.at.jacobian('link3', base=base).T @ passive.f
    found = eom.M @ rate + eom.C @ eom.nu + eom.G + eom.D
    assert_close(found, forces, 1e-10, scale=np.abs(eom.M @ rate).max())


@pytest.mark.shows('Traversaro 2019: - all of it')
def test_power__changes_the_energy(passive):
    """d/dt (kinetic + potential) = tau' r + f' v - D' nu along the motion."""
    model, state = passive.model, passive.state

    def energy(t):
        at = later(model, state, passive.nu_dot, t)
        return kinetic_energy(model, at) + potential_energy(model, at)

    eom = equations_of_motion(model, state)
    lost = eom.D @ eom.nu
    supplied = passive.tau @ state.r + passive.f @ passive.at.twist('link3') - lost
    assert_close(derivative(energy), supplied, 1e-9)
    assert lost > 0.1


@pytest.mark.shows('Traversaro 2019: - G')
def test_gravity_and_springs__are_the_derivative_of_the_potential_energy(passive):
    model = passive.model
    by_state = derivative_by_state(
        lambda at: np.array([potential_energy(model, at)]), passive.state, 2 * model.m
    )
    G = equations_of_motion(model, passive.state).G
    assert_close(G, by_state[0, : model.m], 1e-10)


@pytest.mark.shows('Traversaro 2019: Eq. (83)', 'Bos 2022: Eqs. (3)')
@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_energies_and_bias__are_those_of_dense_dynamics(base):
    rng = np.random.default_rng(31)
    description = every_kind_description(rng, damping=0.5)
    model = TreeModel.from_description(description, base=base, gravity=TILTED_GRAVITY)
    dense, state = DenseReference(description, model), model.random_state(rng)
    eom = equations_of_motion(model, state)
    assert_close(eom.M, dense.mass_matrix(state), 1e-13)
    assert_close(eom.C @ eom.nu + eom.G + eom.D, dense.bias(state), 1e-12)
    assert_close(kinetic_energy(model, state), dense.kinetic_energy(state), 1e-13)
    assert_close(potential_energy(model, state), dense.potential_energy(state), 1e-12)
    com_velocity = centre_of_mass(model, state).jacobian @ eom.nu
    assert_close(com_velocity, centroidal(model, state).com_velocity, 1e-12)


def test_unknown_representation__is_named():
    model = TreeModel.from_urdf(robots.path('quadruped'), base='fixed')
    with pytest.raises(ConfigurationError, match="'spatial', expected one of 'body', 'inertial'"):
        equations_of_motion(model, model.neutral_state(), 'spatial')


class Moving(MovingRobot):
    """A robot in motion, with Pinocchio's centroidal quantities."""

    def __init__(self, name, base):
        super().__init__(name, base, seed=41)
        self.found = centroidal(self.model, self.state)
        self.pin_model, self.data = self.oracle.pin_model, self.oracle.data
        self.q, self.nu = self.oracle.q(self.state), self.oracle.velocity(self.state)
        pin.dccrba(self.pin_model, self.data, self.q, self.nu)
        pin.centerOfMass(self.pin_model, self.data, self.q, self.nu)


@pytest.fixture(scope='module', params=FLOATING, ids=' '.join)
def moving(request):
    return Moving(*request.param)


@pytest.mark.shows('Traversaro 2019: - centroidal momentum')
def test_centroidal_momentum_matrix_and_its_rate__are_pinocchios(moving):
    assert_close(moving.found.A, np.array(moving.data.Ag)[:, moving.oracle.order], 1e-13)
    assert_close(moving.found.A_dot, np.array(moving.data.dAg)[:, moving.oracle.order], 1e-13)


def test_momentum_inertia_and_centre_of_mass__are_pinocchios(moving):
    found, data = moving.found, moving.data
    assert_close(found.mass, pin.computeTotalMass(moving.pin_model), 1e-14)
    assert_close(found.com, data.com[0], 1e-14, scale=1.0)
    assert_close(found.com_velocity, data.vcom[0], 1e-13)
    assert_close(found.h, data.hg.vector, 1e-13)
    assert_close(found.inertia, data.Ig.matrix(), 1e-13)


@pytest.mark.shows('Traversaro 2019: - average velocity')
def test_average_velocity__moves_the_centre_of_mass(moving):
    found = moving.found
    assert_close(found.average_velocity[:3], found.com_velocity, 1e-12)
    assert_close(moving.data.Ig.matrix() @ found.average_velocity, moving.data.hg.vector, 1e-12)


def test_com_jacobian__is_pinocchios_and_the_derivative(moving):
    found = moving.found.A[:3] / moving.found.mass
    J = pin.jacobianCenterOfMass(moving.pin_model, moving.data, moving.q)
    assert_close(found, J[:, moving.oracle.order], 1e-13)
    by_state = derivative_by_state(
        lambda at: centroidal(moving.model, at).com, moving.state, 2 * moving.model.m
    )
    assert_close(found, by_state[:, : moving.model.m], 1e-9)
    alone = centre_of_mass(moving.model, moving.state)
    assert_close(alone.com, moving.data.com[0], 1e-14, scale=1.0)
    assert_close(alone.jacobian, J[:, moving.oracle.order], 1e-13)


@pytest.mark.parametrize('name', NAMES)
def test_momentum__is_the_same_in_every_representation(moving, name):
    found, at = (
        centroidal(moving.model, moving.state, name),
        Kinematics(moving.model, moving.state),
    )
    assert_close(found.A @ at.velocity(name), moving.data.hg.vector, 1e-12)
    assert_close(found.h, moving.data.hg.vector, 1e-12)
    rate = derivative(lambda t: centroidal(moving.model, moving.along(t)).h)
    nu_dot = derivative(lambda t: Kinematics(moving.model, moving.along(t)).velocity(name))
    assert_close(found.A @ nu_dot + found.bias, rate, 1e-9)


@pytest.mark.shows('Traversaro 2019: - centroidal momentum', 'Kim 2012: Eqs. (30)')
def test_momentum__changes_by_weight_and_wrenches_alone(moving):
    """Newton and Euler: hdot = weight + external wrench about the centre of mass."""
    model, state = moving.model, moving.state
    tau = np.linspace(-1.0, 1.0, model.n)
    force, moment = np.array([3.0, -1.0, 2.0]), np.array([0.5, 0.2, -0.3])
    push = Wrench(model.base_link, force, moment, 'world_oriented')
    nu_dot = Linearizer(model).forward_dynamics(state, tau, wrenches=(push,))
    expected = np.concatenate((model.total_mass * model.gravity + force, moment))
    expected[3:] += np.cross(state.H[:3, 3] - moving.found.com, force)
    assert_close(moving.found.A @ nu_dot + moving.found.bias, expected, 1e-10)


@pytest.mark.shows('Traversaro 2019: Eq. (83)')
def test_energies__are_pinocchios(moving):
    kinetic = pin.computeKineticEnergy(moving.pin_model, moving.data, moving.q, moving.nu)
    assert_close(kinetic_energy(moving.model, moving.state), kinetic, 1e-13)
    potential = pin.computePotentialEnergy(moving.pin_model, moving.data, moving.q)
    assert_close(potential_energy(moving.model, moving.state), potential, 1e-12)
