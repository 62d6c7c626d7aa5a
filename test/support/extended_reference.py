# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A, B and nu_dot of a tree in extended precision: the referee between two rounded results.

Derivatives of the inverse dynamics in body frames [Bos 2022, Tables 5-8 in one pass] and a dense
Cholesky factor, all in ``np.longdouble`` (64 bits of mantissa on x86).
"""

import numpy as np

REAL = np.longdouble


def cross(w):
    x, y, z = w
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=REAL)


def ad(v):
    """Return v x, twist on twist."""
    out = np.zeros((6, 6), REAL)
    out[:3, :3] = out[3:, 3:] = cross(v[3:])
    out[:3, 3:] = cross(v[:3])
    return out


def dual(f):
    """Return N with N v = v xb* f."""
    out = np.zeros((6, 6), REAL)
    out[:3, 3:] = out[3:, :3] = -cross(f[:3])
    out[3:, 3:] = -cross(f[3:])
    return out


def to_child(R, o):
    """Return ^iX_p for the pose (R, o) of frame i in p."""
    out = np.zeros((6, 6), REAL)
    out[:3, :3] = out[3:, 3:] = R.T
    out[:3, 3:] = -R.T @ cross(o)
    return out


def joint_transform(tree, i, s):
    S = tree.subspace[tree.v_start[i]].astype(REAL)
    u, w = S[:3], S[3:]
    c, turn = np.cos(s), np.any(w)
    E = np.eye(3, dtype=REAL) + (np.sin(s) * cross(w) + (1 - c) * cross(w) @ cross(w)) * turn
    R = tree.rotation[i].astype(REAL)
    return to_child(R @ E, tree.translation[i] + R @ (u * s)), S


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


def linearization(model, state, tau):
    """Return the rows of nu_dot of A and B, and nu_dot, of a floating base without wrenches."""
    tree, n = model.tree, model.n
    nb, m = n + 1, n + 6
    transforms = [joint_transform(tree, i, REAL(state.s[tree.v_start[i]])) for i in range(1, nb)]
    X, S = [None] + [t[0] for t in transforms], [None] + [t[1] for t in transforms]
    inertia = tree.inertia.astype(REAL)
    up = np.concatenate((-state.H[:3, :3].T.astype(REAL) @ model.gravity, np.zeros(3, REAL)))
    r = state.r.astype(REAL)

    def inverse_dynamics(nu_dot):
        k = 2 * m
        V, A, f = (np.zeros((nb, 6), REAL) for _ in range(3))
        dV, dA, df = (np.zeros((nb, 6, k), REAL) for _ in range(3))
        V[0], A[0] = state.v, nu_dot[:6] + up
        dV[0][:, m : m + 6] = np.eye(6)
        dA[0][:, :6] = ad(up)
        for i in range(1, nb):
            p, c = tree.parent[i], tree.v_start[i]
            v_p, a_p = X[i] @ V[p], X[i] @ A[p]
            V[i] = v_p + S[i] * r[c]
            A[i] = a_p + S[i] * nu_dot[6 + c] + ad(V[i]) @ S[i] * r[c]
            dV[i] = X[i] @ dV[p]
            dV[i][:, 6 + c] += ad(v_p) @ S[i]
            dV[i][:, m + 6 + c] += S[i]
            dA[i] = X[i] @ dA[p] - r[c] * ad(S[i]) @ dV[i]
            dA[i][:, 6 + c] += ad(a_p) @ S[i]
            dA[i][:, m + 6 + c] += ad(V[i]) @ S[i]
        for i in range(nb):
            momentum = inertia[i] @ V[i]
            f[i] = inertia[i] @ A[i] - ad(V[i]).T @ momentum
            df[i] = inertia[i] @ dA[i] + (dual(momentum) - ad(V[i]).T @ inertia[i]) @ dV[i]
        torque, rate = np.zeros(m, REAL), np.zeros((m, k), REAL)
        for i in reversed(range(1, nb)):
            p, c = tree.parent[i], tree.v_start[i]
            torque[6 + c] = S[i] @ f[i] + tree.damping[c] * r[c]
            rate[6 + c] = S[i] @ df[i]
            rate[6 + c, m + 6 + c] += tree.damping[c]
            f[p] += X[i].T @ f[i]
            df[i][:, 6 + c] -= ad(S[i]).T @ f[i]
            df[p] += X[i].T @ df[i]
        torque[:6], rate[:6] = f[0], df[0]
        return torque, rate

    M = np.zeros((m, m), REAL)
    composite = inertia.copy()
    for i in reversed(range(1, nb)):
        composite[tree.parent[i]] += X[i].T @ composite[i] @ X[i]
    for i in range(1, nb):
        F, j, c = composite[i] @ S[i], i, 6 + tree.v_start[i]
        while j > 0:
            M[6 + tree.v_start[j], c] = M[c, 6 + tree.v_start[j]] = S[j] @ F
            F, j = X[j].T @ F, tree.parent[j]
        M[:6, c] = M[c, :6] = F
    M[:6, :6] = composite[0]
    applied = np.concatenate((np.zeros(6, REAL), np.asarray(tau, REAL)))
    bias, _ = inverse_dynamics(np.zeros(m, REAL))
    nu_dot = cholesky_solve(M, applied - bias)
    solved = cholesky_solve(M, np.hstack((inverse_dynamics(nu_dot)[1], np.eye(m)[:, 6:])))
    return -solved[:, : 2 * m], solved[:, 2 * m :], nu_dot
