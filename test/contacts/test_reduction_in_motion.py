# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The system that contacts admit along a motion: bases that turn, steps, and flows."""

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close
from support.constrained_reference import ConstrainedReference
from support.finite_difference import derivative
from support.pinocchio_oracle import PinocchioOracle
from support.robots import read_robot

from geolin_ros import robots
from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.reduction import reduce, reduce_step

pytest.importorskip('pinocchio')
FEET = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]


class Moving:
    """The quadruped on four feet, base and legs in motion, random efforts."""

    def __init__(self):
        path = robots.path('quadruped')
        _, self.model = read_robot(path)
        model, rng = self.model, default_rng(11)
        contacts = [Contact(foot) for foot in FEET]
        self.linearizer = Linearizer(model, contacts)
        self.reference = ConstrainedReference(PinocchioOracle.read_urdf(path, model), contacts)
        self.tau = 5.0 * rng.normal(size=model.n)
        state = model.random_state(rng)
        state.s[:] = np.tile((0.1, 0.7, -1.4), 4) + 0.2 * rng.normal(size=model.n)
        nu = reduce(self.linearizer(state, self.tau)).N @ rng.normal(size=6)
        state.v[:], state.r[:] = nu[:6], nu[6:]
        self.state = state

    def at(self, time):
        """Return the state later on, by Pinocchio's accelerations."""
        return self.reference.flow(self.state, self.tau, time, 8) if time else self.state


@pytest.fixture(scope='module')
def moving():
    return Moving()


def test_basis__spans_what_position_and_velocity_admit(moving):
    C = moving.linearizer(moving.state, moving.tau)
    R, m = reduce(C), moving.model.m
    assert R.P.shape == (2 * m, 12)
    assert_close(R.P.T @ R.P, np.eye(12), 1e-12)
    assert_close(R.L @ R.P, np.eye(12), 1e-11)
    # J nu of the displaced state, by Pinocchio, stays 0 to first order; positions move along J
    J, _ = moving.reference.rows(moving.state)
    assert_close(J @ R.P[:m], np.zeros((12, 12)), 1e-11, scale=1.0)
    for z in R.P.T:

        def velocity(t, z=z):
            at = moving.state.retract(t * z)
            return moving.reference.rows(at)[0] @ np.concatenate((at.v, at.r))

        assert_close(derivative(velocity, step=1e-3), np.zeros(12), 1e-8, scale=1.0)
    off_diagonal = np.abs(R.P[m:, :6]).max()
    assert off_diagonal > 1e-2, 'blkdiag(N, N) would not do'
    weighed = R.P.T @ np.kron(np.eye(2), C.geometry.M)
    assert_close(weighed @ R.P @ R.L, weighed, 1e-10)  # L leaves what is orthogonal by M
    y = default_rng(13).normal(size=12)

    def forces(t):
        return moving.reference.forward_dynamics(moving.state.retract(t * R.lift(y)), moving.tau)[
            1
        ]

    assert_close(R.wrench_by_state @ y, derivative(forces, step=2e-3), 1e-7)


def test_steps__are_the_derivative_of_the_constrained_flow(moving):
    dt, steps, state, previous = 0.001, 5, moving.state, None
    Phi, Gamma = np.eye(12), np.zeros((12, moving.model.n))
    for _ in range(steps):
        step = reduce_step(moving.linearizer, state, moving.tau, dt, 'rkmk4', previous=previous)
        if previous is None:
            start = step.start
        Phi, Gamma = step.Phi @ Phi, step.Phi @ Gamma + step.Gamma
        state, previous = step.full.next_state, step.start
    end = step.end

    def flow(z, du):
        at = moving.state.retract(z)
        return moving.reference.flow(at, moving.tau + du, dt * steps, 10)

    arrived = flow(np.zeros(36), np.zeros(12))
    assert_close(state.data, arrived.data, 1e-8)
    rng = default_rng(12)
    for y, du in zip(rng.normal(size=(3, 12)), rng.normal(size=(3, 12)), strict=True):
        z = derivative(
            lambda t, y=y, du=du: arrived.difference(flow(t * start.lift(y), t * du)), step=2e-3
        )
        assert_close(end.P.T @ z, Phi @ y + Gamma @ du, 1e-7)
        assert_close(end.lift(end.P.T @ z), z, 1e-7)  # stays admissible


def test_bases_that_are_carried_on__make_a_differential_equation(moving):
    """Midpoint steps of ydot = A y approach the flow with order 2, without any dP/dt."""
    duration, errors = 0.04, []
    first = reduce(moving.linearizer(moving.state, moving.tau).copy())
    arrived, y = moving.at(duration), np.eye(12)[:, ::2]
    z = [
        derivative(
            lambda t, z=z: arrived.difference(
                moving.reference.flow(moving.state.retract(t * z), moving.tau, duration, 8)
            ),
            step=2e-3,
        )
        for z in (first.P @ y).T
    ]
    for steps in (10, 20):
        h, Phi, R = duration / steps, np.eye(12), first
        for k in range(steps):
            R = reduce(moving.linearizer(moving.at((k + 0.5) * h), moving.tau).copy(), R)
            half = 0.5 * h * R.A
            Phi = np.linalg.solve(np.eye(12) - half, (np.eye(12) + half) @ Phi)
        end = reduce(moving.linearizer(arrived, moving.tau).copy(), R)
        expected = end.P.T @ np.array(z).T
        errors.append(np.linalg.norm(Phi @ y - expected) / np.linalg.norm(expected))
    assert errors[1] < 2e-3
    assert 3.0 < errors[0] / errors[1] < 5.0


def test_bases__move_little_in_little_time_and_start_afresh_after_a_switch(moving):
    first = reduce(moving.linearizer(moving.state, moving.tau).copy())
    for time in (1e-4, 1e-6):
        later = reduce(moving.linearizer(moving.at(time), moving.tau).copy(), first)
        assert np.abs(later.P - first.P).max() < 100.0 * time
        assert np.abs(later.N - first.N).max() < 100.0 * time
    moving.linearizer.activate(FEET[1:])
    three = reduce(moving.linearizer(moving.state, moving.tau).copy(), first)
    moving.linearizer.activate(FEET)
    assert three.P.shape == (36, 18)


def test_frozen_reference__is_refused_while_the_state_moves(moving):
    with pytest.raises(ConfigurationError, match="expected 'moving'"):
        reduce(moving.linearizer(moving.state, moving.tau).frozen())
