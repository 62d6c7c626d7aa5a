# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Given accelerations: consistent or not [Bos 2022, Definition 3.1], and A, B about them."""

import numpy as np
import pytest
from support.close import assert_close
from support.dense_reference import DenseReference
from support.finite_difference import derivative_by_state, derivative_by_vector
from support.moving_robots import MovingRobot
from support.passive_joints import passive_model
from support.states import seen_from
from support.trees import random_model

from geolin_papers.consistency import linearize_motion, required_effort
from geolin_ros import Linearizer, TreeModel, Wrench, robots
from geolin_ros.errors import ConfigurationError, NotFiniteError, ShapeError


class Case(MovingRobot):
    """The quadruped at a random motion with random accelerations."""

    def __init__(self):
        super().__init__('quadruped', seed=3)
        self.a_0, self.r_dot = np.split(self.nu_dot, [6])
        self.lin = Linearizer(self.model)


@pytest.fixture(scope='module')
def case():
    return Case()


def test_required_effort__is_pinocchios_inverse_dynamics(case):
    found = required_effort(case.model, case.state, case.r_dot, case.a_0)
    expected = case.oracle.inverse_dynamics(case.state, case.nu_dot)
    assert_close(np.concatenate((found.base_wrench, found.tau)), expected, 1e-12)
    assert_close(found.nu_dot, case.nu_dot, 0.0)


@pytest.mark.parametrize('mimic', [False, True], ids=['free', 'mimic'])
def test_consistent_motion__of_passive_joints_under_a_wrench(mimic):
    model = passive_model('floating', mimic)
    rng = np.random.default_rng(4)
    state, r_dot = model.random_state(rng), rng.normal(size=model.n)
    push = (Wrench('link3', rng.normal(size=3), rng.normal(size=3), 'world'),)
    found = required_effort(model, state, r_dot, wrenches=push)
    nu_dot = Linearizer(model).forward_dynamics(state, found.tau, wrenches=push)
    assert_close(nu_dot, found.nu_dot, 1e-10)
    L = linearize_motion(Linearizer(model), state, r_dot, wrenches=push)
    assert_close(L.nu_dot, found.nu_dot, 1e-10)


@pytest.mark.shows(
    'Bos 2022: Definition 3.1: consistent (a_0, rdot)',
    'Bos 2022: - A and B about given accelerations',
    'Bos 2022: - its proof, Eqs. (32)',
)
def test_motions_of_given_accelerations__are_those_of_dense_dynamics():
    """Consistent by M_11 a_0 = -(M_12 rdot + h_1); A and B with the base wrench held."""
    rng = np.random.default_rng(6)
    description, model = random_model(rng, 7)
    dense, at = DenseReference(description, model), model.random_state(rng)
    nu_dot = rng.normal(size=model.m)
    M, h = dense.mass_matrix(at), dense.bias(at)
    found = required_effort(model, at, nu_dot[6:])
    a_0 = np.linalg.solve(M[:6, :6], -M[:6, 6:] @ nu_dot[6:] - h[:6])
    assert_close(found.nu_dot[:6], a_0, 1e-11)
    assert_close(found.tau, (M @ found.nu_dot + h)[6:], 1e-11)
    taubar = M @ nu_dot + h  # (39)-(41)
    assert_close(np.linalg.solve(M, taubar - h), nu_dot, 1e-11)  # (36), (43)

    def motion(at, taubar=taubar):
        return np.linalg.solve(dense.mass_matrix(at), taubar - dense.bias(at))

    L = linearize_motion(Linearizer(model), at, nu_dot[6:], nu_dot[:6])
    by_forward = derivative_by_state(motion, at, 2 * model.m)
    assert_close(L.A[model.m :], by_forward, 1e-9)
    by_inverse = derivative_by_state(
        lambda at: dense.inverse_dynamics(at, nu_dot), at, 2 * model.m
    )
    assert_close(by_forward, -np.linalg.solve(M, by_inverse), 1e-9)  # (48)-(50), (53)
    by_acceleration = derivative_by_vector(lambda a: dense.inverse_dynamics(at, a), nu_dot)
    assert_close(by_acceleration, M, 1e-10)  # (49)
    assert_close(L.B[model.m :], np.linalg.inv(M)[:, 6:], 1e-10)


@pytest.mark.parametrize('reference', ['moving', 'frozen'])
def test_consistent_linearization__is_that_about_its_efforts(case, reference):
    L = linearize_motion(case.lin, case.state, case.r_dot, reference=reference).copy()
    tau = required_effort(case.model, case.state, case.r_dot).tau
    expected = seen_from(case.lin(case.state, tau), reference)
    assert_close(L.A, expected.A, 0.0)
    assert_close(L.drift, expected.drift, 0.0)
    assert_close(L.nu_dot[6:], case.r_dot, 1e-11)


def test_errors__name_the_source(case):
    with pytest.raises(ShapeError, match=r'joint_acceleration has shape \(3,\), expected \(12,\)'):
        required_effort(case.model, case.state, np.zeros(3))
    with pytest.raises(ShapeError, match=r'base_acceleration has shape \(3,\), expected \(6,\)'):
        required_effort(case.model, case.state, case.r_dot, np.zeros(3))
    with pytest.raises(NotFiniteError, match=r'joint_acceleration is .*, expected finite'):
        required_effort(case.model, case.state, np.full(12, np.nan))
    fixed = TreeModel.from_urdf(robots.path('quadruped'), base='fixed')
    with pytest.raises(ConfigurationError, match='has a fixed base, expected a floating one'):
        required_effort(fixed, fixed.neutral_state(), np.zeros(12))
