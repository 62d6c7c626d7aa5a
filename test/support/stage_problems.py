# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What problems over stages cost, and PIQP's solutions of them."""

import numpy as np
import pytest
import scipy.sparse


def cost(problem, z, w):
    """Return what z and w cost above the least of each stage."""
    total = 0.0
    for k, x in enumerate(z):
        H, h = problem.Q[k], problem.q[k]
        if k < len(w):
            H = np.block([[H, problem.S[k].T], [problem.S[k], problem.R[k]]])
            h, x = np.append(h, problem.r[k]), np.append(x, w[k])
        away = x + np.linalg.lstsq(H, h, rcond=None)[0]
        total += 0.5 * away @ H @ away
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
    P, A, G = map(scipy.sparse.csc_matrix, (P, A, G))
    solver.setup(P, c, A, b, G, np.full(len(h), -np.inf), h, lower, upper)
    assert solver.solve() == piqp.PIQP_SOLVED
    x = np.append(solver.result.x, np.zeros(n_u)).reshape(N + 1, step)
    return x[:, :n_x], x[:-1, n_x:]
