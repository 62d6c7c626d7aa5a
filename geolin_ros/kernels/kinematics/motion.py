# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Twists and accelerations of the bodies, and their derivatives by the state [Kim 2012].

Equal to the motion part of [Bos 2022, Tables 4, 6-8]. Joints may have several axes: the terms
(v_J x) S keep their place then. Mimic joints follow independent ones: s = G y + s0.
"""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.packing.types import PRODUCT, Tree, Workspace
from geolin_ros.kernels.spatial import add_cross_motion, motion_to_child


@kernel
def expand_state(tree: Tree, x, x_out):
    """Fill ``x_out`` = [H | s | v | r] of the tree from ``x`` = [H | y | v | y_dot]."""
    n, n_q = tree.master.shape[0], tree.offset.shape[0]
    more = n_q - n  # mimic joints have one axis: as many positions more than rates in y as in s
    n_y = (x.shape[0] - 22 - more) // 2
    for e in range(16):
        x_out[e] = x[e]
    for e in range(6):
        x_out[16 + n_q + e] = x[16 + n_y + more + e]
    for c in range(n_q):
        x_out[16 + c] = tree.position_multiplier[c] * x[16 + tree.position_master[c]]
        x_out[16 + c] += tree.offset[c]
    for c in range(n):
        x_out[22 + n_q + c] = tree.multiplier[c] * x[22 + n_y + more + tree.master[c]]


@kernel
def propagate_motion(tree: Tree, ws: Workspace, x, gravity, nu_dot):
    """Fill ``ws.v``, ``ws.v_joint``, ``ws.a``; needs the poses of `place_bodies`.

    v_0 = v;                     a_0 = nu_dot_b + (upward; 0), upward = -^0R_A gravity   (1)
    v_i = ^iX_p v_p + S_i r_i;   a_i = ^iX_p a_p + S_i rdot_i + v_i x S_i r_i + Sdot_i r_i   (2)
    """
    nb = tree.parent.shape[0]
    twist = x.shape[0] - 6 - tree.armature.shape[0]
    rates = twist + 6
    for e in range(6):
        ws.v[0, e] = x[twist + e]
        ws.a[0, e] = nu_dot[e]
    R = ws.R[0]
    for e in range(3):
        ws.upward[e] = -(R[0, e] * gravity[0] + R[1, e] * gravity[1] + R[2, e] * gravity[2])
        ws.a[0, e] += ws.upward[e]
    for i in range(1, nb):
        p = tree.parent[i]
        motion_to_child(ws.R[i], ws.o[i], ws.v[p], ws.v[i])
        motion_to_child(ws.R[i], ws.o[i], ws.a[p], ws.a[i])
        for e in range(6):
            ws.v_joint[i, e] = 0.0
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            for e in range(6):
                ws.v_joint[i, e] += ws.S[c, e] * x[rates + c]
                ws.a[i, e] += ws.S[c, e] * nu_dot[6 + c]
        for e in range(6):
            ws.v[i, e] += ws.v_joint[i, e]
        add_cross_motion(ws.v[i], ws.v_joint[i], 1.0, ws.a[i])
        if tree.kind[i] == PRODUCT:  # Sdot r: dS_b/ds_c = S_b x S_c for c > b, else zero
            for b in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
                for c in range(b + 1, tree.v_start[i] + tree.v_size[i]):
                    add_cross_motion(ws.S[b], ws.S[c], x[rates + b] * x[rates + c], ws.a[i])


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
