# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All derivatives of the inverse dynamics in one pass over the tree.

Equal to the four algorithms of [Bos 2022, Tables 5-8] as corrected in `kernels.paper`, without
their 6 x 6 x n tensors: the full acceleration is carried, so that composite inertias need no
derivative. Joints may have several axes: the terms (v_J x) S keep their place then.
"""

import math

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.packing.types import (
    BODY_WRENCH,
    PRODUCT,
    WORLD_ORIENTED_WRENCH,
    Tree,
    Workspace,
    Wrenches,
)
from geolin_ros.kernels.recursions.inverse_dynamics import add_wrench_in_body
from geolin_ros.kernels.spatial import (
    add_cross_motion,
    add_cross_wrench,
    add_matvec,
    add_wrench_to_parent,
    dot6,
    motion_to_child,
)


@kernel
def differentiate_motion(tree: Tree, ws: Workspace, x, nu_dot):
    """Fill ``ws.d``, ``ws.dv``, ``ws.da``; needs `propagate_motion`.

    base: d = 1 (H);  dv = 1 (v);  da = (a_grav,0 x) (H), the gravity part of a_0        (1)
    dv_i = ^iX_p dv_p,  own columns: s += (^iX_p v_p) x S,  r += S                       (2)
    da_i = ^iX_p da_p - v_J x dv_i,  own columns: s += (^iX_p a_p) x S,  r += v_i x S    (3)
    d_i  = ^iX_p d_p,   own columns: s += S                                              (4)

    Products, whose S depends on s, add more to their own columns.
    """
    nb, n = tree.parent.shape[0], tree.armature.shape[0]
    m = 6 + n
    k = 2 * m
    for c in range(k):
        for e in range(6):
            ws.d[0, c, e] = 0.0
            ws.dv[0, c, e] = 0.0
            ws.da[0, c, e] = 0.0
    for e in range(6):
        ws.d[0, e, e] = 1.0
        ws.dv[0, m + e, e] = 1.0
    # upward fictitious acceleration g: (g; 0) x e for an angular e is (g x e; 0)
    g0, g1, g2 = ws.upward[0], ws.upward[1], ws.upward[2]
    ws.da[0, 3, 1], ws.da[0, 3, 2] = g2, -g1
    ws.da[0, 4, 0], ws.da[0, 4, 2] = -g2, g0
    ws.da[0, 5, 0], ws.da[0, 5, 1] = g1, -g0
    for i in range(1, nb):
        p = tree.parent[i]
        for c in range(k):
            motion_to_child(ws.R[i], ws.o[i], ws.d[p, c], ws.d[i, c])
            motion_to_child(ws.R[i], ws.o[i], ws.dv[p, c], ws.dv[i, c])
            motion_to_child(ws.R[i], ws.o[i], ws.da[p, c], ws.da[i, c])
        moved = ws.moved
        motion_to_child(ws.R[i], ws.o[i], ws.v[p], moved)
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            add_cross_motion(moved, ws.S[c], 1.0, ws.dv[i, 6 + c])
            for e in range(6):
                ws.d[i, 6 + c, e] += ws.S[c, e]
                ws.dv[i, m + 6 + c, e] += ws.S[c, e]
        if tree.kind[i] == PRODUCT:
            add_product_twists(tree, ws, i, x)
        for c in range(k):
            add_cross_motion(ws.v_joint[i], ws.dv[i, c], -1.0, ws.da[i, c])
        motion_to_child(ws.R[i], ws.o[i], ws.a[p], moved)
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            add_cross_motion(moved, ws.S[c], 1.0, ws.da[i, 6 + c])
            add_cross_motion(ws.v[i], ws.S[c], 1.0, ws.da[i, m + 6 + c])
        if tree.kind[i] == PRODUCT:
            add_product_accelerations(tree, ws, i, x, nu_dot)


@kernel
def add_product_twists(tree: Tree, ws: Workspace, i, x):
    """dv_i, own columns: s_c += sum over b < c of (S_b x S_c) r_b, the derivative of S r."""
    first, end = tree.v_start[i], tree.v_start[i] + tree.v_size[i]
    rates = x.shape[0] - tree.armature.shape[0]
    for c in range(first, end):
        for b in range(first, c):
            add_cross_motion(ws.S[b], ws.S[c], x[rates + b], ws.dv[i, 6 + c])


@kernel
def add_product_accelerations(tree: Tree, ws: Workspace, i, x, nu_dot):
    """da_i, own columns, of S rdot + v x (S r) + Sdot r [Kim 2012, section 4].

    With W = S_b x S_c, b < c:  s_c += W rdot_b + v x (W r_b),  r_b += W r_c,  r_c += W r_b,
    s_e += dW/ds_e r_b r_c,  dW/ds_e = (S_b x S_e) x S_c (e > b) + S_b x (S_c x S_e) (e > c)
    """
    first, end = tree.v_start[i], tree.v_start[i] + tree.v_size[i]
    n = tree.armature.shape[0]
    m, rates = 6 + n, x.shape[0] - n
    W, turned = ws.moved, ws.rate
    for b in range(first, end):
        for c in range(b + 1, end):
            r_b, r_c = x[rates + b], x[rates + c]
            W[:] = 0.0
            add_cross_motion(ws.S[b], ws.S[c], 1.0, W)
            for e in range(6):
                ws.da[i, 6 + c, e] += W[e] * nu_dot[6 + b]
                ws.da[i, m + 6 + b, e] += W[e] * r_c
                ws.da[i, m + 6 + c, e] += W[e] * r_b
            add_cross_motion(ws.v[i], W, r_b, ws.da[i, 6 + c])
            for e in range(b + 1, end):
                turned[:] = 0.0
                add_cross_motion(ws.S[b], ws.S[e], 1.0, turned)
                add_cross_motion(turned, ws.S[c], r_b * r_c, ws.da[i, 6 + e])
                if e > c:
                    turned[:] = 0.0
                    add_cross_motion(ws.S[c], ws.S[e], 1.0, turned)
                    add_cross_motion(ws.S[b], turned, r_b * r_c, ws.da[i, 6 + e])


@kernel
def differentiate_wrenches(tree: Tree, ws: Workspace, x, wrenches: Wrenches, dtau_out):
    """Fill ``ws.df`` and ``dtau_out`` (6 + n, k); needs the pass above and `project_wrenches`.

    df_i = M da_i + dv_i xb* (M v_i) + v_i xb* (M dv_i) + wrench terms                   (5)
    dtau_i = S_i' df_i + dS_i' f_i                                                       (6)
    df_p += _pX^i df_i,   own columns: s += _pX^i (S xb* f_i)                            (7)
    """
    nb, n = tree.parent.shape[0], tree.armature.shape[0]
    m = 6 + n
    k = 2 * m
    momentum = ws.moved
    rate = ws.rate
    for i in range(nb):
        for e in range(6):
            momentum[e] = 0.0
        add_matvec(tree.inertia[i], ws.v[i], momentum)
        for c in range(k):
            for e in range(6):
                rate[e] = 0.0
                ws.df[i, c, e] = 0.0
            add_matvec(tree.inertia[i], ws.dv[i, c], rate)
            add_matvec(tree.inertia[i], ws.da[i, c], ws.df[i, c])
            add_cross_wrench(ws.dv[i, c], momentum, 1.0, ws.df[i, c])
            add_cross_wrench(ws.v[i], rate, 1.0, ws.df[i, c])
    add_wrench_derivatives(ws, wrenches, m)
    for i in range(nb - 1, 0, -1):
        p = tree.parent[i]
        for b in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            for c in range(k):
                dtau_out[6 + b, c] = dot6(ws.S[b], ws.df[i, c])
        if tree.kind[i] == PRODUCT:  # dS_b/ds_c f = (S_b x S_c)' f for b < c
            for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
                for b in range(tree.v_start[i], c):
                    rate[:] = 0.0
                    add_cross_motion(ws.S[b], ws.S[c], 1.0, rate)
                    dtau_out[6 + b, 6 + c] += dot6(rate, ws.f[i])
        for b in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            add_cross_wrench(ws.S[b], ws.f[i], 1.0, ws.df[i, 6 + b])
        for c in range(k):
            add_wrench_to_parent(ws.R[i], ws.o[i], ws.df[i, c], ws.df[p, c])
    for e in range(6):
        for c in range(k):
            dtau_out[e, c] = ws.df[0, c, e]
    add_passive_derivatives(tree, x, dtau_out)


@kernel
def add_wrench_derivatives(ws: Workspace, wrenches: Wrenches, m):
    """df_i += delta xb* f for the displacement delta of the frame that f is constant in.

    body: delta = 0.  world: delta = d_i.  world oriented, at c: delta = [[0, c^], [0, 1]] d_i,
    the rotation about the point of application.
    """
    delta, f = ws.rate, ws.moved
    for w in range(wrenches.body.shape[0]):
        if wrenches.kind[w] == BODY_WRENCH:
            continue
        i, point = wrenches.body[w], wrenches.point[w]
        for e in range(6):
            f[e] = 0.0
        add_wrench_in_body(ws, wrenches, w, f)
        for c in range(m):
            d = ws.d[i, c]
            for e in range(6):
                delta[e] = d[e]
            if wrenches.kind[w] == WORLD_ORIENTED_WRENCH:
                delta[0] = point[1] * d[5] - point[2] * d[4]
                delta[1] = point[2] * d[3] - point[0] * d[5]
                delta[2] = point[0] * d[4] - point[1] * d[3]
            add_cross_wrench(delta, f, 1.0, ws.df[i, c])


@kernel
def add_passive_derivatives(tree: Tree, x, dtau_out):
    """Add the diagonal terms of damping, smoothed Coulomb friction and springs."""
    n = tree.armature.shape[0]
    rates = x.shape[0] - n
    for c in range(n):
        dtau_out[6 + c, 12 + n + c] += tree.damping[c]
        dtau_out[6 + c, 6 + c] += tree.stiffness[c]
        if tree.friction[c] != 0.0:
            t = math.tanh(x[rates + c] / tree.friction_speed[c])
            dtau_out[6 + c, 12 + n + c] += (
                tree.friction[c] / tree.friction_speed[c] * (1.0 - t * t)
            )
