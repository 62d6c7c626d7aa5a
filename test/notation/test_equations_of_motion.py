# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""M, C, G and D in every representation: Pinocchio, identities, power."""

import numpy as np
import pytest
from support.close import assert_close, assert_wrong, deviation
from support.dense_reference import DenseReference
from support.finite_difference import derivative, derivative_by_state
from support.moving_robots import EXPRESSIONS, NAMES, ROBOTS, MovingRobot, later
from support.passive_joints import passive_robot
from support.pinocchio_oracle import pin
from support.trees import random_model

from geolin_ros import State, TreeModel, Wrench, robots
from geolin_ros.dynamics.equations_of_motion import equations_of_motion
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import kinetic_energy, potential_energy
from geolin_ros.errors import ConfigurationError


def rate_in(at, base, nu_dot):
    """Return the rate of the numbers of nu from that of the body twist's."""
    return np.linalg.solve(at.base_map(base), nu_dot - at.base_map_rate(base) @ at.velocity(base))


@pytest.fixture(scope='module', params=ROBOTS, ids=' '.join)
def case(request):
    return MovingRobot(*request.param, seed=17)


@pytest.mark.shows('Traversaro 2019: Eq. (80)', 'Traversaro 2019: - G')
def test_mass_matrix_and_gravity__are_pinocchios(case):
    oracle, eom = case.oracle, equations_of_motion(case.model, case.state)
    assert_close(eom.M, oracle.mass_matrix(case.state), 1e-13)
    G = pin.computeGeneralizedGravity(oracle.pin_model, oracle.data, oracle.q(case.state))
    assert_close(eom.G, G[oracle.order], 1e-13)


@pytest.mark.shows('Traversaro 2019: - C')
def test_coriolis_matrix__is_pinocchios(case):
    """Both are the one of Christoffel's symbols."""
    oracle, state = case.oracle, case.state
    C = pin.computeCoriolisMatrix(
        oracle.pin_model, oracle.data, oracle.q(state), oracle.velocity(state)
    )
    expected = np.array(C)[np.ix_(oracle.order, oracle.order)]
    assert_close(equations_of_motion(case.model, state).C, expected, 1e-12)


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
@pytest.mark.parametrize(
    ('robot', 'figure'), [('quadruped', 0.255), ('solo12', 0.255), ('talos_reduced', 0.172)]
)
def test_erratum_t9__mixed_equations_need_the_turning_of_the_base(robot, figure):
    """T9: h of (80) in mixed coordinates holds Y' M Ydot nu, Ydot nu = (-w x u; 0)."""
    case = MovingRobot(robot, seed=17)
    model, state = case.model, case.state
    at = Kinematics(model, state)
    body, inertial, mixed = (equations_of_motion(model, state, k) for k in NAMES)
    turning = np.zeros(model.m)
    turning[:3] = -np.cross(state.v[3:], state.v[:3])
    Y = at.base_map('mixed')
    h = Y.T @ (body.C @ body.nu + body.G + body.M @ turning)
    assert_close(mixed.C @ mixed.nu + mixed.G, h, 1e-12)
    assert_wrong(Y.T @ (body.C @ body.nu + body.G), h, figure)
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
    forces = eom.S @ passive.tau + passive.at.jacobian('link3', 'body', base).T @ passive.f
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
    description, model = random_model(rng, 8, base=base, damping=0.5)
    dense, state = DenseReference(description, model), model.random_state(rng)
    eom = equations_of_motion(model, state)
    assert_close(eom.M, dense.mass_matrix(state), 1e-13)
    assert_close(eom.C @ eom.nu + eom.G + eom.D, dense.bias(state), 1e-12)
    assert_close(kinetic_energy(model, state), dense.kinetic_energy(state), 1e-13)
    assert_close(potential_energy(model, state), dense.potential_energy(state), 1e-12)


def test_unknown_representation__is_named():
    model = TreeModel.from_urdf(robots.path('quadruped'), base='fixed')
    with pytest.raises(ConfigurationError, match="'spatial', expected one of 'body', 'inertial'"):
        equations_of_motion(model, model.neutral_state(), 'spatial')


def test_state__is_not_changed(case):
    before = State(case.state.H, case.state.s, case.state.v, case.state.r)
    equations_of_motion(case.model, case.state, 'mixed')
    assert_close(case.state.data, before.data, 0.0)
