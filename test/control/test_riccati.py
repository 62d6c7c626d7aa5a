# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Riccati solutions beside SciPy's, and the checks that refuse what is none."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from geolin_ros.control import riccati
from geolin_ros.control.riccati import solve_care, solve_dare
from geolin_ros.errors import ConfigurationError, NotFiniteError, NotStabilizableError, ShapeError

SOLVERS = {'discrete': solve_dare, 'continuous': solve_care}


def system(rng, n, m, discrete, dt=0.002):
    """Return A, B of n second-order equations, unstable, and a cost with cross terms."""
    A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, m))
    A[:n, n:] = np.eye(n)
    A[n:, :n], A[n:, n:] = 5.0 * rng.normal(size=(n, n)), 0.1 * rng.normal(size=(n, n))
    B[n:] = rng.normal(size=(n, m))
    if discrete:
        held = scipy.linalg.expm(dt * np.block([[A, B], [np.zeros((m, 2 * n + m))]]))
        A, B = held[: 2 * n, : 2 * n], held[: 2 * n, 2 * n :]
    C = rng.normal(size=(2 * n + m, 2 * n + m)) / (2 * n + m)
    cost = C.T @ C + np.diag(rng.uniform(0.1, 10.0, 2 * n + m))
    return A, B, cost[: 2 * n, : 2 * n], cost[2 * n :, 2 * n :], cost[: 2 * n, 2 * n :]


def scipy_gain(A, B, Q, R, S, discrete):
    if discrete:
        P = scipy.linalg.solve_discrete_are(A, B, Q, R, s=S)
        return np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A + S.T)
    return np.linalg.solve(R, B.T @ scipy.linalg.solve_continuous_are(A, B, Q, R, s=S) + S.T)


def decay(A, B, K, discrete):
    """Return a number below 0 for a stable closed loop."""
    poles = np.linalg.eigvals(A - B @ K)
    return np.max(np.abs(poles)) - 1.0 if discrete else np.max(poles.real)


def loop_decays(problem, K, P):
    F, _ = problem.close(K)
    return problem.decays(F, P, P - F.T @ P @ F)


def error(K, expected):
    return np.linalg.norm(K - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize('kind', SOLVERS)
@pytest.mark.parametrize(('n', 'm'), [(1, 1), (6, 12), (32, 32)])
def test_cold_solution__equals_scipy(kind, n, m):
    discrete = kind == 'discrete'
    problem = system(np.random.default_rng(n), n, m, discrete)
    found = SOLVERS[kind](*problem)
    assert found.method == ('doubling' if discrete else 'scipy')
    assert error(found.K, scipy_gain(*problem, discrete)) < 1e-8
    assert found.residual < 1e-12
    assert decay(*problem[:2], found.K, discrete) < 0.0
    if discrete:
        assert np.array_equal(found.F, problem[0] - problem[1] @ found.K)


def test_warm_solution__follows_a_slowly_changing_system():
    rng = np.random.default_rng(7)
    first, last = system(rng, 12, 10, True), system(rng, 12, 10, True)
    K = solve_dare(*first).K
    for share in np.linspace(0.002, 0.01, 5):
        A = (1.0 - share) * first[0] + share * last[0]
        problem = (A, *first[1:])
        found = solve_dare(*problem, K0=K)
        assert found.method == 'warm'
        exact = scipy_gain(*problem, True)
        assert error(found.K, exact) < 10.0 * found.correction**2
        assert error(found.K, exact) < 0.1 * error(K, exact)
        K = found.K


def test_warm_gain__is_within_a_percent_or_solved_cold():
    """Of the first plant a single Newton step is 1 to 2 % off, with a residual of 1e-7."""
    found = []
    for seed in (44, *range(20)):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 7)), int(rng.integers(1, 3))
        first = system(rng, n, m, True, 10 ** rng.uniform(-3, -1.5))
        other = system(rng, n, m, True)[0]
        share = 10 ** rng.uniform(-3.5, -1.0)
        A = first[0] + 0.01 * share * (other - np.eye(2 * n))
        warm = solve_dare(A, *first[1:], K0=solve_dare(*first).K)
        assert error(warm.K, scipy_gain(A, *first[1:], True)) < 0.01, (seed, warm)
        found.append(warm.method)
    assert found.count('warm') > 0.5 * len(found)


def test_useless_start__is_noticed_and_solved_cold():
    problem = system(np.random.default_rng(11), 8, 6, True)
    K0 = np.zeros((6, 16))
    assert decay(*problem[:2], K0, True) > 0.0
    found = solve_dare(*problem, K0=K0)
    assert found.method == 'doubling'
    assert error(found.K, scipy_gain(*problem, True)) < 1e-8


@given(seed=st.integers(0, 2**32 - 1))
def test_certificate__never_passes_an_unstable_gain(seed):
    rng = np.random.default_rng(seed)
    problem = system(rng, 3, 3, True)
    found = solve_dare(*problem)
    K = found.K * rng.normal(1.0, rng.uniform(0.0, 2.0), found.K.shape)
    checked = riccati._checked(*problem)
    assert loop_decays(checked, found.K, found.P)
    if decay(*problem[:2], K, True) >= 0.0:
        assert not loop_decays(checked, K, found.P)


def test_newton__gives_back_the_digits_that_doubling_loses():
    A, B, Q, *_ = system(np.random.default_rng(5), 6, 4, True)
    graded = A, B, Q, np.diag(np.logspace(0.0, -14.0, 4))
    for problem in (graded, np.reshape([3.0, 1.0, 1.0, 1.0], (4, 1, 1))):
        found = solve_dare(*problem)
        assert found.residual < 1e-9
        assert decay(*problem[:2], found.K, True) < 0.0


@pytest.mark.parametrize('scale', [1e-8, 1e8])
def test_cost__may_be_in_any_unit(scale):
    A, B, Q, R, S = system(np.random.default_rng(2), 6, 4, True)
    found = solve_dare(A, B, scale * Q, scale * R, scale * S)
    assert error(found.K, solve_dare(A, B, Q, R, S).K) < 1e-9


@pytest.mark.parametrize('kind', SOLVERS)
@pytest.mark.parametrize('growth', [-0.01, 0.0, 0.05])
def test_unreached_mode__is_refused_unless_it_decays(kind, growth):
    """On either side of the border of stability, and on it; with the mode in the cost."""
    discrete, solve = kind == 'discrete', SOLVERS[kind]
    A, B, Q, R, S = system(np.random.default_rng(4), 4, 3, discrete)
    A, B = scipy.linalg.block_diag(A, float(discrete) + growth), np.vstack((B, np.zeros((1, 3))))
    Q, S = scipy.linalg.block_diag(Q, 1.0), np.vstack((S, np.zeros((1, 3))))
    if growth < 0.0:
        assert error(solve(A, B, Q, R, S).K, scipy_gain(A, B, Q, R, S, discrete)) < 1e-8
        return
    with pytest.raises(NotStabilizableError, match='9 states'):
        solve(A, B, Q, R, S)


@pytest.mark.parametrize('kind', SOLVERS)
def test_unseen_mode__that_neither_grows_nor_decays_is_refused(kind):
    discrete = kind == 'discrete'
    A, B = np.diag([float(discrete), 0.5 - discrete]), np.eye(2)
    for seen in (0.0, 1.0):
        with pytest.raises(NotStabilizableError):
            SOLVERS[kind](A, B, np.diag([0.0, seen]), np.eye(2))


@pytest.mark.parametrize('kind', SOLVERS)
@pytest.mark.parametrize(
    ('change', 'error', 'said'),
    [
        (lambda A, B, Q, R, S: (A, B, Q, R, S.T), ShapeError, 'S has shape'),
        (lambda A, B, Q, R, S: (A, B[0], Q, R), ShapeError, 'two matrices'),
        (lambda A, B, Q, R, S: (A, B[:, :0], Q, R[:0, :0]), ShapeError, r'\(4, 0\), expected'),
        (lambda A, B, Q, R, S: (A, B, np.nan * Q, R), NotFiniteError, 'Q holds NaN'),
        (lambda A, B, Q, R, S: (A, B, Q, 0.0 * R), ConfigurationError, 'R has the eigenvalue 0'),
        (lambda A, B, Q, R, S: (A, B, -Q, R), ConfigurationError, 'indefinite'),
        (lambda A, B, Q, R, S: (A, B, Q, R, 100.0 * S + 10.0), ConfigurationError, 'indefinite'),
    ],
)
def test_wrong_arguments__are_named(kind, change, error, said):
    problem = system(np.random.default_rng(1), 2, 2, kind == 'discrete')
    with pytest.raises(error, match=said):
        SOLVERS[kind](*change(*problem))
    with pytest.raises(ShapeError, match='K0 has shape'):
        solve_dare(*problem, K0=problem[1])
