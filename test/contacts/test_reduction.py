# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The system that contacts admit: spectra, transfer functions, flows, and feedback on it."""

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from support.close import assert_close

from geolin_ros import Linearizer, TreeModel, Wrench, bias_force, mass_matrix, robots
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.contacts import Contact, anchored
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
    assert_close(R.lift(R.A), C.A @ R.P, 1e-11)  # what is admissible stays it
    assert_close(R.lift(R.B), C.B, 1e-11)
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
    A = np.block(
        [
            [free.A[:m], zero((m, 12))],
            [M @ free.A[m:], C.J.T],
            [C.J, zero((12, m + 12))],
        ]
    )
    pencil = scipy.linalg.eig(A, E, right=False, homogeneous_eigvals=True)
    finite = np.abs(pencil[1]) > 1e-6 * np.abs(pencil[0])
    assert finite.sum() == 12
    assert distance_between(own, pencil[0, finite] / pencil[1, finite]) < 1e-8 * np.abs(own).max()


def test_spectrum__gains_add_their_roots_and_change_nothing_else(model):
    state, tau = standing(model)
    plain = reduce(Linearizer(model, [Contact(f) for f in FEET])(state, tau))
    kp, kd = 49.0, 14.5
    held = anchored(model, state, [Contact(f, 'point', kp=kp, kd=kd) for f in FEET])
    C = Linearizer(model, held)(state, tau)
    R = reduce(C)
    own = np.linalg.eigvals(plain.A)
    assert distance_between(np.linalg.eigvals(R.A), own) < 1e-9 * np.abs(own).max()
    roots = np.roots((1.0, kd, kp))
    assert distance_between(np.linalg.eigvals(C.A), np.concatenate((own, *12 * [roots]))) < 1e-8


def test_transfer_function__is_that_of_the_full_system(model):
    state, tau = standing(model)
    C = Linearizer(model, [Contact(f) for f in FEET])(state, tau)
    R = reduce(C)
    for s in (0.3 + 2.0j, 10.0, -1.0 + 30.0j):
        ours = R.P @ np.linalg.solve(s * np.eye(12) - R.A, R.B)
        full = np.linalg.solve(s * np.eye(2 * model.m) - C.A, C.B)
        assert_close(
            np.abs(ours - full), np.zeros_like(full, dtype=float), 1e-9, scale=np.abs(full).max()
        )


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


def test_contact_forces__through_the_constraint_or_fixed_in_the_world_are_the_same(model):
    state, tau = standing(model)
    C = Linearizer(model, [Contact(f) for f in FEET])(state, tau)
    R, m, at = reduce(C), model.m, Kinematics(model, state)

    def stiffness(wrenches):
        """Return the block (velocities, positions) of N'M zdd = -N'D z + N'S du."""
        free = Linearizer(model)(state, tau, wrenches=wrenches)
        return R.W @ free.A[m:, :m] @ R.N

    forces = C.wrenches.reshape(4, 3)
    in_world = [
        Wrench(foot, at.pose(foot)[:3, :3] @ force, kind='world_oriented')
        for foot, force in zip(FEET, forces, strict=True)
    ]
    assert_close(stiffness(in_world), R.A[6:, :6], 1e-10)
    left_out = stiffness([])
    assert np.abs(left_out - R.A[6:, :6]).max() > 0.2 * np.abs(R.A[6:, :6]).max()
