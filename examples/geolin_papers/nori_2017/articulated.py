# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The articulated-body algorithm as a triangular system [Nori, Property 2 and appendix B].

With errata N1, N2: (W_L D W_R) d' + W_L b = 0, d = W_R d'; in d' the bias wrench
p_i^A = f_i - M_i^A a_i stands where f_i was. For reading and testing; an LU in the
order `articulated_body_order` gets the same.
"""

from typing import TYPE_CHECKING

import numpy as np

from geolin_papers.nori_2017.factorization import Order, PatternedSystem
from geolin_papers.nori_2017.orders import given_order
from geolin_ros.optional import optional
from geolin_ros.typing import Array

if TYPE_CHECKING:
    from scipy import sparse
else:
    sparse = optional('scipy.sparse', extra='estimation')


def articulated_inertias(system: PatternedSystem) -> Array:
    """Return M_i^A (nb, 6, 6) at the last state [Nori, Eqs. (12 I^a), (12 I^A)]."""
    tree, X = system.model.tree, system.X
    M_A: Array = tree.inertia.copy()
    for i in range(system.nb - 1, 0, -1):
        S, rotors = joint(system, i)
        U = M_A[i] @ S
        M_a = M_A[i] - U @ np.linalg.solve(S.T @ U + rotors, U.T)
        M_A[tree.parent[i]] += X[i].T @ M_a @ X[i]
    return M_A


def joint(system: PatternedSystem, body: int) -> tuple[Array, Array]:
    """Return S (6, k) and the rotor inertia (k, k) of the joint that moves a body."""
    rates = system.joint_columns(body)
    return system.S[body][:, rates], np.diag(system.rotors[rates])


def factors(system: PatternedSystem) -> 'tuple[list[sparse.csr_matrix], sparse.csr_matrix]':
    """Return the factors W_L,1 to W_L,4 (rows, rows) of W_L, and W_R (size, size) [Nori, App. B].

    At the last state: Eqs. (28)-(32).
    """
    tree, nb, X = system.model.tree, system.nb, system.X
    M_A = articulated_inertias(system)
    right = sparse.lil_matrix(sparse.identity(system.size))
    left = [sparse.lil_matrix(sparse.identity(system.rows)) for _ in range(4)]
    for i in range(nb):
        a = slice(6 * i, 6 * i + 6)
        f = slice(6 * (nb + i), 6 * (nb + i) + 6)
        right[f, a] = M_A[i]  # (28)
        rates = system.joint_columns(i)
        if rates:
            S, rotors = joint(system, i)
            tau = slice(12 * nb + rates[0], 12 * nb + rates[-1] + 1)
            left[0][tau, a] = S.T @ M_A[i]  # (29)
            left[1][tau, tau] = np.linalg.inv(S.T @ M_A[i] @ S + rotors)  # (30)
            left[2][a, tau] = -S  # (31)
        if i > 0:
            p = int(tree.parent[i])
            left[3][6 * (nb + p) : 6 * (nb + p) + 6, a] = X[i].T @ M_A[i]  # (32)
    return [step.tocsr() for step in left], right.tocsr()


def property_two(system: PatternedSystem) -> 'tuple[sparse.csr_matrix, sparse.csr_matrix, Order]':
    """Return W_L (rows, rows), W_R (size, size) at the last state, and the order.

    The sensors must be those of forward dynamics, and no joint mimic another; in the order,
    W_L D W_R is lower triangular [Nori, Eqs. (28)-(33)]: fx_1, tau_1, ... fx_N, tau_N,
    f_N ... f_1, a_1 ... a_N, qdd_1 ... qdd_N.
    """
    nb, m = system.nb, system.m
    (W1, W2, W3, W4), right = factors(system)
    bodies = [np.arange(6 * i, 6 * i + 6) for i in range(nb)]
    joints = [np.array(system.joint_columns(i), dtype=np.int64) for i in range(nb)]
    inward = [6 * nb + body for body in reversed(bodies)]
    given = given_order(system, 18 * nb)
    columns = [given.columns, *inward, *bodies, *(18 * nb + m + rates for rates in joints)]
    rows = [given.rows, *inward, *bodies, *(12 * nb + rates for rates in joints)]
    order = Order(np.concatenate(rows), np.concatenate(columns))
    return (W4 @ W3 @ W2 @ W1).tocsr(), right, order
