# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Problems over stages beside PIQP's solutions, SciPy's Riccati equation, and hopeless ones."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

from geolin_ros.control.stages import StageProblem
from geolin_ros.errors import ConfigurationError, ShapeError


def random_problem(seed, N=8, n_x=7, n_u=3, rows=4, scale=1.0):
    """Return a problem with cross terms whose rows and bounds are active, feasible at w = 0."""
    rng = np.random.default_rng(seed)
    problem = StageProblem(N, n_x, n_u, rows)
    problem.A[:] = np.eye(n_x) + 0.2 * rng.normal(size=(N, n_x, n_x))
    problem.B[:] = 0.4 * rng.normal(size=(N, n_x, n_u)) / scale
    problem.c[:] = 0.1 * rng.normal(size=(N, n_x))
    for k in range(N + 1):
        root = rng.normal(size=(n_x + n_u, n_x + n_u))
        H = root.T @ root / (n_x + n_u) + 0.1 * np.eye(n_x + n_u)
        problem.Q[k], problem.q[k] = H[:n_x, :n_x], rng.normal(size=n_x)
        if k < N:
            problem.S[k], problem.R[k] = H[n_x:, :n_x] / scale, H[n_x:, n_x:] / scale**2
            problem.r[k] = rng.normal(size=n_u) / scale
    problem.C[:] = 0.1 * rng.normal(size=(N, rows, n_x))
    problem.D[:] = rng.normal(size=(N, rows, n_u)) / scale
    problem.e[:] = -rng.uniform(0.5, 1.5, (N, rows))
    problem.lower[:], problem.upper[:] = -0.6 * scale, 0.5 * scale
    problem.row_weights[:], problem.bound_weights[:] = 300.0, 300.0 / scale**2
    return problem, 0.3 * rng.normal(size=n_x)


def cost(problem, z, w):
    total = 0.5 * z[-1] @ problem.Q[-1] @ z[-1] + problem.q[-1] @ z[-1]
    for k, (x, u) in enumerate(zip(z, w, strict=False)):
        total += 0.5 * x @ problem.Q[k] @ x + problem.q[k] @ x
        total += u @ problem.S[k] @ x + 0.5 * u @ problem.R[k] @ u + problem.r[k] @ u
    return total


def by_piqp(problem, z0):
    """Return z and w of PIQP's multistage backend, variables z_0, w_0, z_1, w_1, ..."""
    piqp = pytest.importorskip('piqp')
    (N, n_x, n_u), rows = problem.B.shape, problem.e.shape[1]
    step = n_x + n_u
    size = N * step + n_x
    P, c = np.zeros((size, size)), np.zeros(size)
    A, b = np.zeros(((N + 1) * n_x, size)), np.zeros((N + 1) * n_x)
    G, h = np.zeros((N * rows, size)), -problem.e.ravel()
    lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
    A[:n_x, :n_x], b[:n_x] = np.eye(n_x), z0
    for k in range(N + 1):
        z = slice(k * step, k * step + n_x)
        P[z, z], c[z] = problem.Q[k], problem.q[k]
        if k == N:
            break
        w, after = slice(z.stop, z.stop + n_u), slice((k + 1) * step, (k + 1) * step + n_x)
        P[w, w], c[w], P[w, z], P[z, w] = (
            *(problem.R[k], problem.r[k]),
            *(problem.S[k], problem.S[k].T),
        )
        own = slice((k + 1) * n_x, (k + 2) * n_x)
        A[own, z], A[own, w], A[own, after] = problem.A[k], problem.B[k], -np.eye(n_x)
        b[own] = -problem.c[k]
        G[k * rows : (k + 1) * rows, z] = problem.C[k]
        G[k * rows : (k + 1) * rows, w] = problem.D[k]
        lower[w], upper[w] = problem.lower[k], problem.upper[k]
    solver = piqp.SparseSolver()
    solver.settings.kkt_solver = piqp.sparse_multistage
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
    sparse = (scipy.sparse.csc_matrix(M) for M in (P, A, G))
    P, A, G = sparse
    solver.setup(P, c, A, b, G, np.full(len(h), -np.inf), h, lower, upper)
    assert solver.solve() == piqp.PIQP_SOLVED
    x = np.append(solver.result.x, np.zeros(n_u)).reshape(N + 1, step)
    return x[:, :n_x], x[:-1, n_x:]


@pytest.mark.parametrize('scale', [1.0, 1e4], ids=['ones', 'inputs of 1e4'])
@pytest.mark.parametrize('seed', range(4))
def test_solution__is_that_of_piqp(seed, scale):
    problem, z0 = random_problem(seed, scale=scale)
    z, w = by_piqp(problem, z0)
    found = problem.solve(z0, rounds=60, newton_steps=30)
    assert found.status == 'solved'
    assert found.row_violation < 1e-8
    assert found.bound_violation < 1e-8 * scale
    assert np.count_nonzero(found.multipliers > 1e-6) > 0, 'rows are active'
    np.testing.assert_allclose(found.z, z, atol=1e-6)
    np.testing.assert_allclose(found.w / scale, w / scale, atol=1e-6)
    assert cost(problem, found.z, found.w) == pytest.approx(cost(problem, z, w), rel=1e-8)
    again = problem.solve(z0)
    assert again.steps <= 4, 'from its own multipliers'


def test_two_rounds__are_near():
    problem, z0 = random_problem(1)
    z, w = by_piqp(problem, z0)
    found = problem.solve(z0)
    assert cost(problem, found.z, found.w) == pytest.approx(cost(problem, z, w), rel=0.05)
    assert max(found.row_violation, found.bound_violation) < 0.03


def test_gains__are_the_derivative_of_the_solution():
    problem, z0 = random_problem(2)
    found = problem.solve(z0, rounds=1, newton_steps=30)
    shift = 1e-7 * np.random.default_rng(0).normal(size=z0.size)
    problem.forget()
    moved = problem.solve(z0 + shift, rounds=1, newton_steps=30)
    np.testing.assert_allclose(moved.w[0] - found.w[0], found.K[0] @ shift, atol=1e-11)


def test_long_horizon__ends_in_the_gain_of_scipys_riccati_equation():
    rng = np.random.default_rng(5)
    problem = StageProblem(400, 6, 2)
    A, B = np.eye(6) + 0.3 * rng.normal(size=(6, 6)), rng.normal(size=(6, 2))
    S = 0.1 * rng.normal(size=(2, 6))
    problem.A[:], problem.B[:], problem.Q[:], problem.R[:], problem.S[:] = (
        *(A, B, np.eye(6)),
        *(np.eye(2), S),
    )
    P = scipy.linalg.solve_discrete_are(A, B, np.eye(6), np.eye(2), s=S.T)
    K = -np.linalg.solve(np.eye(2) + B.T @ P @ B, B.T @ P @ A + S)
    found = problem.solve(np.ones(6), rounds=1)
    assert (found.status, found.steps) == ('solved', 1)
    np.testing.assert_allclose(found.K[0], K, rtol=1e-9, atol=1e-10)


def test_hopeless_problems__end_with_a_status_and_no_nan_lives_on():
    problem, z0 = random_problem(3)
    good = problem.solve(z0)

    problem.R[4] = -100.0 * np.eye(3)
    found = problem.solve(z0)
    assert 'not positive definite' in found.status
    assert not found.is_finite

    problem, z0 = random_problem(3)
    problem.A[:] *= 1e60
    assert not problem.solve(z0).is_finite
    problem.A[:] *= 1e-60
    again = problem.solve(z0)
    assert again.is_finite
    np.testing.assert_allclose(again.w, good.w, atol=1e-6)

    problem.C[2], problem.D[2], problem.e[2] = 0.0, 0.0, 1.0  # 1 <= 0
    found = problem.solve(z0, rounds=5)
    assert found.is_finite
    assert found.row_violation == pytest.approx(1.0)

    problem.C[2, 0, 0] = np.nan
    assert not problem.solve(z0).is_finite


def test_problem__names_what_is_wrong():
    with pytest.raises(ConfigurationError, match='0 stages'):
        StageProblem(0, 2, 1)
    with pytest.raises(ShapeError, match=r'z0 has shape \(3,\), expected \(2,\)'):
        StageProblem(4, 2, 1).solve(np.zeros(3))
