# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rotors, damping, smoothed friction and springs in every function of derivatives.

The referee is dense textbook dynamics with the passive torques written out, and differences of it.
"""

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close
from support.dense_reference import DenseReference
from support.finite_difference import derivative_by_state
from support.passive_joints import with_passive_joints
from support.trees import random_model

from geolin_ros import (
    Linearizer,
    Variation,
    forward_dynamics_derivatives,
    forward_dynamics_variation,
    hybrid_dynamics_derivatives,
    hybrid_dynamics_variation,
    inverse_dynamics_derivatives,
    inverse_dynamics_variation,
)


class PassiveReference(DenseReference):
    """Dense dynamics of a description, and the passive torques of a model's joints."""

    def inverse_dynamics(self, state, nu_dot, wrenches=()):
        tree, first = self.model.tree, self.model.m - self.model.n
        r = state.r
        tau = super().inverse_dynamics(state, nu_dot, wrenches)
        tau[first:] += tree.armature * nu_dot[first:] + tree.damping * r
        tau[first:] += tree.friction * np.tanh(r / tree.friction_speed)
        tau[first:] += tree.stiffness * (state.s - tree.rest)
        return tau

    def hybrid(self, state, nu_dot, tau, free):
        """Return accelerations and forces (m,) where ``free`` ones follow from forces."""
        m = self.model.m
        h = self.inverse_dynamics(state, np.zeros(m))
        M = np.array([self.inverse_dynamics(state, e) - h for e in np.eye(m)]).T
        given = np.where(free, 0.0, nu_dot)
        solved = given.copy()
        solved[free] = np.linalg.solve(M[np.ix_(free, free)], (tau - h - M @ given)[free])
        return np.concatenate((solved, np.where(free, tau, M @ solved + h)))


class Case:
    def __init__(self, base):
        rng = default_rng(7)
        description, plain = random_model(rng, 6, base=base)
        self.model = model = with_passive_joints(plain, rng)
        assert model.tree.friction.all()
        assert model.tree.armature.all()
        self.reference = PassiveReference(description, model)
        self.reference.model = model
        self.state, m = model.random_state(rng, speed=0.5), model.m
        self.nu_dot, self.tau = rng.normal(size=m), rng.normal(size=model.n)
        self.first = m - model.n
        self.forces = np.concatenate((np.zeros(self.first), self.tau))
        self.prescribed = np.array([True, False, False, True, False, True])
        self.free = np.concatenate((np.ones(self.first, bool), ~self.prescribed))
        self.direction = Variation(
            pose=rng.normal(size=6) * (self.first > 0),
            positions=rng.normal(size=model.n),
            twist=rng.normal(size=6) * (self.first > 0),
            rates=rng.normal(size=model.n),
        )

    @property
    def z(self):
        """The direction as a displacement of the state."""
        d = self.direction
        parts = (d.pose[: self.first], d.positions, d.twist[: self.first], d.rates)
        return np.concatenate(parts)

    def by_state(self, function):
        return derivative_by_state(function, self.state, 2 * self.model.m, 5e-3)


@pytest.fixture(scope='module', params=['floating', 'fixed'])
def case(request):
    return Case(request.param)


def test_inverse_dynamics__have_the_passive_torques(case):
    expected = case.by_state(lambda at: case.reference.inverse_dynamics(at, case.nu_dot))
    found = inverse_dynamics_derivatives(case.model, case.state, case.nu_dot)
    assert_close(np.hstack(found), expected, 1e-8)
    along = inverse_dynamics_variation(case.model, case.state, case.nu_dot, case.direction)
    assert_close(along, expected @ case.z, 1e-8)


def test_forward_dynamics_and_a__have_the_passive_torques(case):
    m, everything = case.model.m, np.ones(case.model.m, bool)

    def nu_dot(at):
        return case.reference.hybrid(at, case.nu_dot, case.forces, everything)[:m]

    expected = case.by_state(nu_dot)
    found = forward_dynamics_derivatives(case.model, case.state, case.tau)
    assert_close(np.hstack(found[:4]), expected, 1e-8)
    assert_close(Linearizer(case.model)(case.state, case.tau).A[m:], expected, 1e-8)
    along = forward_dynamics_variation(case.model, case.state, case.tau, case.direction)
    assert_close(along, expected @ case.z, 1e-8)


def test_hybrid_dynamics__have_the_passive_torques(case):
    m = case.model.m

    def both(at):
        return case.reference.hybrid(at, case.nu_dot, case.forces, case.free)

    expected = case.by_state(both)
    arguments = (case.nu_dot[case.first :], case.tau, case.prescribed)
    found = hybrid_dynamics_derivatives(case.model, case.state, *arguments)
    assert_close(found.dnu_dot[:, : 2 * m], expected[:m], 1e-8)
    assert_close(found.dtau[:, : 2 * m], expected[m + case.first :], 1e-8)
    nu_dot, tau = hybrid_dynamics_variation(case.model, case.state, *arguments, case.direction)
    assert_close(nu_dot, expected[:m] @ case.z, 1e-8)
    assert_close(tau, expected[m + case.first :] @ case.z, 1e-8)
