# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensitivity of a whole motion: differences of the flow, composition, order."""

import numpy as np
import pytest
from support.close import assert_close, deviation
from support.finite_difference import derivative_by_vector, retract

from geolin_papers.trajectory import transition
from geolin_ros import Linearizer, TreeModel, Wrench, robots
from geolin_ros.errors import ConfigurationError, ShapeError

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


@pytest.mark.shows('Bos 2022: Eq. (11) along a whole motion')
def test_sensitivity__composes(case):
    """Phi <- Phi_i Phi, Gamma <- Phi_i Gamma + Gamma_i for one change of effort throughout."""
    motion = case.motion('midpoint')
    Phi, Gamma = np.eye(case.width), np.zeros_like(motion.Gamma[0])
    for step in range(STEPS):
        Gamma = motion.Phi[step] @ Gamma + motion.Gamma[step]
        Phi = motion.Phi[step] @ Phi
    total = motion.sensitivity()
    assert_close(total[0], Phi, 1e-13)
    assert_close(total[1].sum(axis=0), Gamma, 1e-13)
    early, late = motion.sensitivity(0, 2), motion.sensitivity(2)
    assert_close(late[0] @ early[0], total[0], 1e-13)
    assert_close(late[0] @ early[1][0], total[1][0], 1e-13)
    assert_close(late[1], total[1][2:], 0.0)
    still = motion.sensitivity(3, 3)
    assert_close(still[0], np.eye(case.width), 0.0)
    assert still[1].shape == (0, *motion.Gamma[0].shape)


def test_steps__are_those_of_the_linearizer(case):
    motion = case.motion('midpoint')
    step = case.lin.discretize(motion.states[3], case.taus[3], DT, method='midpoint')
    assert_close(motion.Phi[3], step.Phi, 0.0)
    assert_close(motion.Gamma[3], step.Gamma, 0.0)
    assert_close(motion.states[4].data, step.next_state.data, 0.0)
    assert_close(motion.states[0].data, case.state.data, 0.0)
    assert len(motion.states) == STEPS + 1


@pytest.mark.shows('Bos 2022: Eq. (11) along a whole motion')
@pytest.mark.parametrize(
    ('method', 'order'), [('euler', 1.0), ('zoh', 1.0), ('midpoint', 2.0), ('rkmk4', 4.0)]
)
def test_sensitivity__converges_with_its_order(method, order):
    """Against 'rkmk4' with steps 8 times finer than the finest."""
    case, duration = Case('floating'), 0.04

    def Phi(steps, method):
        taus = np.tile(case.taus[0], (steps, 1))
        motion = transition(case.lin, case.state, taus, duration / steps, method)
        return motion.sensitivity()[0]

    exact = Phi(64, 'rkmk4')
    errors = [deviation(Phi(steps, method), exact) for steps in (4, 8)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)


def test_errors__name_the_source(case):
    n = case.model.n
    with pytest.raises(ShapeError, match=rf'taus has shape \({n},\), expected \(K, {n}\)'):
        case.motion(taus=np.zeros(n))
    with pytest.raises(ShapeError, match=r'taus has shape \(0, '):
        case.motion(taus=np.zeros((0, n)))
    motion = case.motion('euler')
    with pytest.raises(ConfigurationError, match='start is 4 and end is 2, expected 0 <= start'):
        motion.sensitivity(4, 2)
    with pytest.raises(ConfigurationError, match=r'end is 7, expected .* <= 6'):
        motion.sensitivity(0, 7)
