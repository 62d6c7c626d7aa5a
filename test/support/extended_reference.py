# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A, B and nu_dot of a tree in extended precision: the referee between two rounded results.

Newton and Euler's equations, their derivatives by complex steps, and a dense Cholesky factor, all
in ``np.longdouble`` (64 bits of mantissa on x86).
"""

import numpy as np

from support.finite_difference import ad, cross

REAL, STEP = np.longdouble, np.longdouble('1e-200')


def joint_transform(tree, i, s):
    """Return ^iX_p, and the unit twist of the joint."""
    S = tree.subspace[tree.v_start[i]].astype(REAL)
    W, turn = cross(S[3:]), np.any(S[3:])
    E = np.eye(3, dtype=REAL) + (np.sin(s) * W + (1 - np.cos(s)) * W @ W) * turn
    R = tree.rotation[i].astype(REAL)
    o, R = tree.translation[i] + R @ S[:3] * s, R @ E
    X = np.zeros((6, 6), R.dtype)
    X[:3, :3] = X[3:, 3:] = R.T
    X[:3, 3:] = -R.T @ cross(o)
    return X, S


def cholesky_solve(M, columns):
    """Return M^-1 columns."""
    m = M.shape[0]
    L, y = np.zeros_like(M), columns.copy()
    for i in range(m):
        L[i, i] = np.sqrt(M[i, i] - L[i, :i] @ L[i, :i])
        L[i + 1 :, i] = (M[i + 1 :, i] - L[i + 1 :, :i] @ L[i, :i]) / L[i, i]
    for i in range(m):
        y[i] = (y[i] - L[i, :i] @ y[:i]) / L[i, i]
    for i in reversed(range(m)):
        y[i] = (y[i] - L[i + 1 :, i] @ y[i + 1 :]) / L[i, i]
    return y


def inverse_dynamics(model, s, nu, nu_dot, up):
    """Return M nu_dot + h; ``up`` is the acceleration that stands for gravity, in base axes."""
    tree, n = model.tree, model.n
    V, A, X, S = [nu[:6]], [nu_dot[:6] + up], [None], [None]
    for i in range(1, n + 1):
        p, c = tree.parent[i], tree.v_start[i]
        transform, subspace = joint_transform(tree, i, s[c])
        X.append(transform)
        S.append(subspace)
        V.append(transform @ V[p] + subspace * nu[6 + c])
        coriolis = ad(V[i]) @ subspace * nu[6 + c]
        A.append(transform @ A[p] + subspace * nu_dot[6 + c] + coriolis)
    inertia = tree.inertia.astype(REAL)
    f = [M @ a - ad(v).T @ M @ v for M, a, v in zip(inertia, A, V, strict=True)]
    torque = np.zeros(n + 6, np.result_type(*f))
    for i in reversed(range(1, n + 1)):
        c = tree.v_start[i]
        torque[6 + c] = S[i] @ f[i] + tree.damping[c] * nu[6 + c]
        f[tree.parent[i]] = f[tree.parent[i]] + X[i].T @ f[i]
    torque[:6] = f[0]
    return torque


def linearization(model, state, tau):
    """Return the rows of nu_dot of A and B, and nu_dot, of a floating base without wrenches."""
    m, none = model.m, np.zeros(model.m, REAL)
    s, nu = state.s.astype(REAL), np.concatenate((state.v, state.r)).astype(REAL)
    unit, R = np.eye(m, dtype=REAL), state.H[:3, :3].astype(REAL)
    M = np.array([inverse_dynamics(model, s, none, e, none[:6]) for e in unit]).T

    def residual(nu_dot, z):
        """Return M nu_dot + h displaced by z = [H; s; v; r], to first order."""
        upward = -((R + R @ cross(z[3:6])).T @ model.gravity)
        up = np.concatenate((upward, none[:3]))
        return inverse_dynamics(model, s + z[6:m], nu + z[m:], nu_dot, up)

    applied = np.concatenate((none[:6], np.asarray(tau, REAL)))
    nu_dot = cholesky_solve(M, applied - residual(none, np.zeros(2 * m, REAL)))
    D = [residual(nu_dot, 1j * STEP * e).imag / STEP for e in np.eye(2 * m, dtype=REAL)]
    return -cholesky_solve(M, np.array(D).T), cholesky_solve(M, unit[:, 6:]), nu_dot
