# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The system that contacts admit: spectra and feedback at rest, bases and flows in motion."""

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from numpy.random import default_rng
from support.close import assert_close
from support.constrained_reference import ConstrainedReference
from support.finite_difference import derivative
from support.pinocchio_oracle import PinocchioOracle
from support.robots import read_robot

from geolin_ros import Linearizer, TreeModel, Wrench, bias_force, mass_matrix, robots
from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.linearization.reduction import reduce

FEET = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]


@pytest.fixture(scope='module')
def model():
    return TreeModel.from_urdf(robots.path('quadruped'))


def standing(model):
    """Return a crouched posture and the efforts that hold it, forces of least norm."""
    state = model.neutral_state()
    state.s[:] = np.tile((0.1, 0.7, -1.4), 4)
    J = Linearizer(model, [Contact(f) for f in FEET])(state, np.zeros(model.n)).J
    h = bias_force(model, state)
    lam = np.linalg.lstsq(J[:, :6].T, h[:6], rcond=None)[0]
    return state, (h - J.T @ lam)[6:]


def distance_between(ours, theirs):
    """Return the largest distance of paired eigenvalues."""
    gaps = np.abs(ours[:, np.newaxis] - theirs)
    row, column = scipy.optimize.linear_sum_assignment(gaps)
    return gaps[row, column].max()


def test_at_rest__projections_are_those_of_velocities_twice(model):
    state, tau = standing(model)
    C = Linearizer(model, [Contact(f) for f in FEET])(state, tau)
    assert_close(C.nu_dot, np.zeros(model.m), 1e-10, scale=9.81)
    R = reduce(C)
    zeros = np.zeros_like(R.N)
    assert_close(R.P, np.block([[R.N, zeros], [zeros, R.N]]), 1e-12)
    assert_close(R.L, np.block([[R.W, zeros.T], [zeros.T, R.W]]), 1e-12)
    assert_close(R.W @ R.N, np.eye(6), 1e-12)
    assert_close(C.J @ R.N, np.zeros((12, 6)), 1e-12, scale=1.0)
    assert_close(R.P @ R.A, C.A @ R.P, 1e-11)  # what is admissible stays it
    assert_close(R.P @ R.B, C.B, 1e-11)
    assert R.A.shape == R.wrench_by_state.shape == (12, 12)


def test_spectrum__is_that_of_the_full_system_and_of_the_descriptor_pencil(model):
    state, tau = standing(model)
    feet = [Contact(f) for f in FEET]
    C = Linearizer(model, feet)(state, tau)
    R, m = reduce(C), model.m
    own = np.linalg.eigvals(R.A)
    zeros = np.zeros(2 * m - 12)
    # the constraint modes form Jordan blocks at 0, which rounding scatters
    assert distance_between(np.linalg.eigvals(C.A), np.concatenate((own, zeros))) < 1e-5
    # M zdd + D z = J' lam, J z = 0 by generalized eigenvalues: no A of ours, D of free dynamics
    lam = C.wrenches.reshape(4, 3)
    wrenches = [Wrench(foot, force) for foot, force in zip(FEET, lam, strict=True)]
    free = Linearizer(model)(state, tau, wrenches=wrenches)
    M, zero = mass_matrix(model, state), np.zeros
    E = scipy.linalg.block_diag(np.eye(m), M, zero((12, 12)))
    A = np.block([[free.A[:m], zero((m, 12))], [M @ free.A[m:], C.J.T], [C.J, zero((12, m + 12))]])
    pencil = scipy.linalg.eig(A, E, right=False, homogeneous_eigvals=True)
    finite = np.abs(pencil[1]) > 1e-6 * np.abs(pencil[0])
    assert finite.sum() == 12
    assert distance_between(own, pencil[0, finite] / pencil[1, finite]) < 1e-8 * np.abs(own).max()


def test_lqr_gain__acts_on_the_full_system_as_on_the_reduced_one(model):
    state, tau = standing(model)
    C = Linearizer(model, [Contact(f) for f in FEET])(state, tau)
    R = reduce(C)
    assert np.linalg.eigvals(R.A).real.max() > 1.0  # falls by itself
    X = scipy.linalg.solve_continuous_are(R.A, R.B, np.eye(12), np.eye(12))
    K = R.B.T @ X
    closed = np.linalg.eigvals(C.A - C.B @ R.full_gain(K))
    expected = np.linalg.eigvals(R.A - R.B @ K)
    assert expected.real.max() < 0.0
    assert distance_between(closed, np.concatenate((expected, np.zeros(24)))) < 1e-4


def test_discretize__is_the_exponential(model):
    state, tau = standing(model)
    R = reduce(Linearizer(model, [Contact(f) for f in FEET])(state, tau))
    Phi, Gamma = R.discretize(0.02)
    augmented = np.zeros((24, 24))
    augmented[:12, :12], augmented[:12, 12:] = R.A, R.B
    expected = scipy.linalg.expm(0.02 * augmented)
    assert_close(Phi, expected[:12, :12], 1e-12)
    assert_close(Gamma, expected[:12, 12:], 1e-12)
    with pytest.raises(ConfigurationError, match='dt is 0'):
        R.discretize(0)


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
        return moving.reference.forward_dynamics(moving.state.retract(t * R.P @ y), moving.tau)[1]

    assert_close(R.wrench_by_state @ y, derivative(forces, step=2e-3), 1e-7)


def test_steps__are_the_derivative_of_the_constrained_flow(moving):
    dt, steps, state, lin = 0.001, 5, moving.state, moving.linearizer
    Phi, Gamma = np.eye(12), np.zeros((12, moving.model.n))
    start = end = reduce(lin(state, moving.tau))
    for _ in range(steps):
        step, here = lin.discretize(state, moving.tau, dt, method='rkmk4'), end
        state = step.next_state
        end = reduce(lin(state, moving.tau), previous=here)
        over = end.P.T @ step.Phi @ here.P
        Phi, Gamma = over @ Phi, over @ Gamma + end.P.T @ step.Gamma

    def flow(z, du):
        at = moving.state.retract(z)
        return moving.reference.flow(at, moving.tau + du, dt * steps, 10)

    arrived = flow(np.zeros(36), np.zeros(12))
    assert_close(state.data, arrived.data, 1e-8)
    rng = default_rng(12)
    for y, du in zip(rng.normal(size=(3, 12)), rng.normal(size=(3, 12)), strict=True):
        z = derivative(
            lambda t, y=y, du=du: arrived.difference(flow(t * start.P @ y, t * du)), step=2e-3
        )
        assert_close(end.P.T @ z, Phi @ y + Gamma @ du, 1e-7)
        assert_close(end.P @ (end.P.T @ z), z, 1e-7)  # stays admissible


def test_bases__move_little_in_little_time_and_start_afresh_after_a_switch(moving):
    first = reduce(moving.linearizer(moving.state, moving.tau).copy())
    for time in (1e-4, 1e-6):
        later = reduce(moving.linearizer(moving.at(time), moving.tau).copy(), previous=first)
        assert np.abs(later.P - first.P).max() < 100.0 * time
        assert np.abs(later.N - first.N).max() < 100.0 * time
    moving.linearizer.activate(FEET[1:])
    three = reduce(moving.linearizer(moving.state, moving.tau).copy(), previous=first)
    moving.linearizer.activate(FEET)
    assert three.P.shape == (36, 18)


def test_frozen_reference__is_refused_while_the_state_moves(moving):
    with pytest.raises(ConfigurationError, match="expected 'moving'"):
        reduce(moving.linearizer(moving.state, moving.tau).frozen())
