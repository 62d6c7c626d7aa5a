# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whole motions and given accelerations [Bos 2022, Eq. (11), Definition 3.1]: A and B of them."""

import numpy as np
import pytest
from support.close import assert_close
from support.dense_reference import DenseReference
from support.finite_difference import derivative_by_state, derivative_by_vector, retract
from support.moving_robots import MovingRobot
from support.trees import random_model

from geolin_papers.consistency import linearize_motion, required_effort
from geolin_papers.trajectory import transition
from geolin_ros import Linearizer, TreeModel, Wrench, robots
from geolin_ros.errors import ConfigurationError, NotFiniteError, ShapeError

STEPS, DT = 6, 0.01
DIRECTIONS = 5


class Case:
    """The quadruped under random efforts."""

    def __init__(self, base):
        self.model = TreeModel.from_urdf(robots.path('quadruped'), base=base)
        self.lin = Linearizer(self.model)
        rng = np.random.default_rng(1)
        self.state = self.model.random_state(rng)
        self.taus = rng.normal(size=(STEPS, self.model.n))
        self.width = 2 * self.model.m

    def motion(self, method='rkmk4', start=None, taus=None, **options):
        start = self.state if start is None else start
        taus = self.taus if taus is None else taus
        return transition(self.lin, start, taus, DT, method, **options)

    def difference(self, motion, other):
        """Return z between the final states; [s; r] of a fixed base."""
        z, n = motion.states[-1].difference(other.states[-1]), self.model.n
        fixed = np.concatenate((z[6 : 6 + n], z[12 + n :]))
        return z if self.model.base == 'floating' else fixed


@pytest.fixture(scope='module', params=['floating', 'fixed'])
def case(request):
    return Case(request.param)


@pytest.mark.shows('Bos 2022: Eq. (11) along a whole motion')
@pytest.mark.parametrize(
    'wrenches',
    [(), (Wrench('FL_foot', [1.0, 2.0, 3.0], kind='world_oriented'),)],
    ids=['free', 'pushed'],
)
def test_sensitivity__is_the_derivative_of_the_final_state(case, wrenches):
    """The exact one, with 'rkmk4': of the numerical flow itself."""
    motion = case.motion(wrenches=wrenches)
    Phi, Gamma = motion.sensitivity()
    rng = np.random.default_rng(2)
    D = rng.normal(size=(case.width, DIRECTIONS))

    def by_state(x):
        start = retract(case.state, D @ x)
        return case.difference(motion, case.motion(start=start, wrenches=wrenches))

    J = derivative_by_vector(by_state, np.zeros(DIRECTIONS), 5e-3)
    assert_close(Phi @ D, J, 1e-8)
    E = rng.normal(size=(STEPS, case.model.n, DIRECTIONS))

    def by_efforts(x):
        return case.difference(motion, case.motion(taus=case.taus + E @ x, wrenches=wrenches))

    J = derivative_by_vector(by_efforts, np.zeros(DIRECTIONS), 5e-2)
    assert_close(np.einsum('kij,kjd->id', Gamma, E), J, 1e-8)


def test_errors__of_transitions_name_the_source(case):
    for taus in (np.zeros(case.model.n), np.zeros((0, case.model.n))):
        with pytest.raises(ShapeError, match='taus has shape'):
            case.motion(taus=taus)
    motion = case.motion('euler')
    for start, end in ((4, 2), (0, 7)):
        with pytest.raises(ConfigurationError, match=f'end is {end}, expected'):
            motion.sensitivity(start, end)


BASES = ('floating', 'fixed')


def test_required_effort__is_pinocchios_inverse_dynamics():
    case = MovingRobot('quadruped', seed=3)
    found = required_effort(case.model, case.state, case.nu_dot[6:], case.nu_dot[:6])
    expected = case.oracle.inverse_dynamics(case.state, case.nu_dot)
    assert_close(np.concatenate((found.base_wrench, found.tau)), expected, 1e-12)
    assert_close(found.nu_dot, case.nu_dot, 0.0)


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


def test_errors__name_the_source():
    model, fixed = (TreeModel.from_urdf(robots.path('quadruped'), base=b) for b in BASES)
    at, zeros = (model, model.neutral_state()), np.zeros(12)
    for error, what, call in (
        (ShapeError, 'joint_accel', lambda: required_effort(*at, np.zeros(3))),
        (ShapeError, 'base_accel', lambda: required_effort(*at, zeros, np.zeros(3))),
        (NotFiniteError, 'joint_accel', lambda: required_effort(*at, np.full(12, np.nan))),
        (
            ConfigurationError,
            'fixed',
            lambda: required_effort(fixed, fixed.neutral_state(), zeros),
        ),
    ):
        with pytest.raises(error, match=what):
            call()
