# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Centroidal momentum and energies against Pinocchio, Newton's law and differences."""

import numpy as np
import pytest
from support.close import assert_close
from support.dense_reference import adjoint
from support.finite_difference import derivative, derivative_by_state
from support.moving_robots import FLOATING, NAMES, MovingRobot
from support.pinocchio_oracle import pin
from support.robots import read_robot

from geolin_ros import Linearizer, Wrench, robots
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import (
    centre_of_mass,
    centroidal,
    kinetic_energy,
    potential_energy,
)


class Case(MovingRobot):
    """A robot in motion, with Pinocchio's centroidal quantities."""

    def __init__(self, name, base):
        super().__init__(name, base, seed=41)
        self.found = centroidal(self.model, self.state)
        self.pin_model, self.data = self.oracle.pin_model, self.oracle.data
        self.q, self.nu = self.oracle.q(self.state), self.oracle.velocity(self.state)
        pin.dccrba(self.pin_model, self.data, self.q, self.nu)
        pin.centerOfMass(self.pin_model, self.data, self.q, self.nu)


@pytest.fixture(scope='module', params=FLOATING, ids=' '.join)
def case(request):
    return Case(*request.param)


@pytest.mark.shows('Traversaro 2019: - centroidal momentum')
def test_centroidal_momentum_matrix_and_its_rate__are_pinocchios(case):
    assert_close(case.found.A, np.array(case.data.Ag)[:, case.oracle.order], 1e-13)
    assert_close(case.found.A_dot, np.array(case.data.dAg)[:, case.oracle.order], 1e-13)


@pytest.mark.parametrize('name', NAMES)
def test_its_rate__is_the_derivative_in_time(case, name):
    rate = derivative(lambda t: centroidal(case.model, case.along(t), name).A)
    assert_close(centroidal(case.model, case.state, name).A_dot, rate, 1e-9)


def test_momentum_inertia_and_centre_of_mass__are_pinocchios(case):
    found, data = case.found, case.data
    assert_close(found.mass, pin.computeTotalMass(case.pin_model), 1e-14)
    assert_close(found.com, data.com[0], 1e-14, scale=1.0)
    assert_close(found.com_velocity, data.vcom[0], 1e-13)
    assert_close(found.h, data.hg.vector, 1e-13)
    assert_close(found.inertia, data.Ig.matrix(), 1e-13)


@pytest.mark.shows('Traversaro 2019: - average velocity')
def test_average_velocity__moves_the_centre_of_mass(case):
    found = case.found
    assert_close(found.average_velocity[:3], found.com_velocity, 1e-12)
    assert_close(case.data.Ig.matrix() @ found.average_velocity, case.data.hg.vector, 1e-12)


def test_com_jacobian__is_pinocchios_and_the_derivative(case):
    found = case.found.A[:3] / case.found.mass
    J = pin.jacobianCenterOfMass(case.pin_model, case.data, case.q)
    assert_close(found, J[:, case.oracle.order], 1e-13)
    by_state = derivative_by_state(
        lambda at: centroidal(case.model, at).com, case.state, 2 * case.model.m
    )
    assert_close(found, by_state[:, : case.model.m], 1e-9)
    alone = centre_of_mass(case.model, case.state)
    assert_close(alone.com, case.data.com[0], 1e-14, scale=1.0)
    assert_close(alone.jacobian, J[:, case.oracle.order], 1e-13)
    assert_close(alone.jacobian, by_state[:, : case.model.m], 1e-9)


@pytest.mark.parametrize('name', NAMES)
def test_momentum__is_the_same_in_every_representation(case, name):
    found, at = centroidal(case.model, case.state, name), Kinematics(case.model, case.state)
    assert_close(found.A @ at.velocity(name), case.data.hg.vector, 1e-12)
    assert_close(found.h, case.data.hg.vector, 1e-12)
    rate = derivative(lambda t: centroidal(case.model, case.along(t)).h)
    nu_dot = derivative(lambda t: Kinematics(case.model, case.along(t)).velocity(name))
    assert_close(found.A @ nu_dot + found.bias, rate, 1e-9)


@pytest.mark.shows('Traversaro 2019: - centroidal momentum')
def test_momentum__changes_by_weight_and_wrenches_alone(case):
    """Newton and Euler: hdot = weight + external wrench about the centre of mass."""
    model, state = case.model, case.state
    tau = np.linspace(-1.0, 1.0, model.n)
    force, moment = np.array([3.0, -1.0, 2.0]), np.array([0.5, 0.2, -0.3])
    push = Wrench(model.base_link, force, moment, 'world_oriented')
    nu_dot = Linearizer(model).forward_dynamics(state, tau, wrenches=(push,))
    expected = np.concatenate((model.total_mass * model.gravity + force, moment))
    expected[3:] += np.cross(state.H[:3, 3] - case.found.com, force)
    assert_close(case.found.A @ nu_dot + case.found.bias, expected, 1e-10)


@pytest.mark.shows('Traversaro 2019: Eq. (83)')
def test_energies__are_pinocchios(case):
    kinetic = pin.computeKineticEnergy(case.pin_model, case.data, case.q, case.nu)
    assert_close(kinetic_energy(case.model, case.state), kinetic, 1e-13)
    potential = pin.computePotentialEnergy(case.pin_model, case.data, case.q)
    assert_close(potential_energy(case.model, case.state), potential, 1e-12)


def test_fixed_base__has_a_momentum_too():
    """The sum of the bodies' momenta, moved to the centre of mass."""
    _, model = read_robot(robots.path('quadruped'), base='fixed')
    state = model.random_state(np.random.default_rng(43), speed=2.0)
    found, at = centroidal(model, state), Kinematics(model, state)
    assert found.A.shape == found.A_dot.shape == (6, model.n)
    h = np.zeros(6)
    for H, M, v in zip(at.H, model.tree.inertia, at.v, strict=True):
        h += np.linalg.inv(adjoint(H)).T @ M @ v
    h[3:] -= np.cross(found.com, h[:3])
    assert_close(found.h, h, 1e-12)
    assert_close(found.h, found.A @ state.r, 1e-12)
