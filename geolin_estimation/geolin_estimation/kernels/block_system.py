# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The Newton-Euler equations as one system [Nori, Eqs. (3)-(5)], and its forward substitution."""

from geolin_ros.kernels._jit import kernel, lean_kernel
from geolin_ros.kernels.kinematics import motion_to_child, move_bodies
from geolin_ros.kernels.packing.types import Tree, Workspace


@kernel
def assemble(tree: Tree, ws: Workspace, x, gravity, unit, body, rate, X, S, b_a, b_f):
    """Fill X = ^iX_p (nb, 6, 6), S (nb, 6, m) of joints, and b (nb, 6) of equations of a and f.

    [Nori, Eqs. (2)-(5), Remark 1]. ``unit`` is the identity (6, 6); ``body`` and ``rate`` (n,) are
    those that belong to a coordinate of the tree.

    b of a_i:    v_i x S_i r_i + Sdot_i r_i (base: -gravity), a_i - ^iX_p a_p at nu_dot = 0   (1)
    b of f_i:    v_i xb* M_i v_i                                                              (2)
    """
    move_bodies(tree, ws, x, gravity)
    for c in range(body.shape[0]):
        for e in range(6):
            S[body[c], e, rate[c]] = tree.multiplier[c] * tree.subspace[c, e]
    for i in range(tree.parent.shape[0]):
        for c in range(6):
            motion_to_child(ws.R[i], ws.o[i], unit[c], X[i, :, c])
        ws.moved[:] = 0.0
        if i > 0:
            motion_to_child(ws.R[i], ws.o[i], ws.a[tree.parent[i]], ws.moved)
        for e in range(6):
            b_a[i, e] = ws.a[i, e] - ws.moved[e]
            ws.moved[e] = 0.0
            for c in range(6):
                ws.moved[e] += tree.inertia[i, e, c] * ws.v[i, c]
        _cross_wrench(ws.v[i], ws.moved, b_f[i])


@kernel
def _cross_wrench(v, f, out):
    """out = v xb* f: twist v acting on wrench f."""
    out[0] = v[4] * f[2] - v[5] * f[1]
    out[1] = v[5] * f[0] - v[3] * f[2]
    out[2] = v[3] * f[1] - v[4] * f[0]
    out[3] = v[1] * f[2] - v[2] * f[1] + v[4] * f[5] - v[5] * f[4]
    out[4] = v[2] * f[0] - v[0] * f[2] + v[5] * f[3] - v[3] * f[5]
    out[5] = v[0] * f[1] - v[1] * f[0] + v[3] * f[4] - v[4] * f[3]


@lean_kernel
def substitute(parent, first, last, inertia, X, S, a, f, fx, tau, qdd):
    """Add to a, f, fx (nb, 6, k) and tau (m, k), which are b, what fx and qdd (m, k) cause.

    The order of inverse dynamics [Nori, Eqs. (10), (11)]: pivots are -1. S (nb, 6, m) is zero but
    for columns ``first`` to ``last`` of each body.
    """
    for i in range(parent.shape[0]):
        own = slice(first[i], last[i])
        add_product(S[i, :, own], qdd[own], a[i])
        if i > 0:
            add_product(X[i], a[parent[i]], a[i])
    for i in range(parent.shape[0] - 1, -1, -1):
        add_product(inertia[i], a[i], f[i])
        for e in range(6):
            for c in range(fx.shape[2]):
                f[i, e, c] -= fx[i, e, c]
        own = slice(first[i], last[i])
        add_product(S[i, :, own].T, f[i], tau[own])
        if i > 0:
            add_product(X[i].T, f[i], f[parent[i]])


@lean_kernel
def add_product(A, B, out):
    """out += A B, for an A with many zeros."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] != 0.0:
                for c in range(B.shape[1]):
                    out[i, c] += A[i, j] * B[j, c]
