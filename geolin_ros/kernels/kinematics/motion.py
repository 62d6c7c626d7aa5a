# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Twists and accelerations of the bodies, and derivatives of twists by the state [Kim 2012].

[Kim 2012, Eqs. (30), (31)].

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
def differentiate_motion(tree: Tree, ws: Workspace, x):
    """Fill ``ws.dv``; needs `propagate_motion`.

    base: dv = 1 (v)                                                                     (1)
    dv_i = ^iX_p dv_p,  own columns: s += (^iX_p v_p) x S,  r += S                       (2)

    Products, whose S depends on s, add to their own columns: s_c += sum over b < c of
    (S_b x S_c) r_b, the derivative of S r.
    """
    nb, n = tree.parent.shape[0], tree.armature.shape[0]
    m, rates = 6 + n, x.shape[0] - n
    for c in range(2 * m):
        for e in range(6):
            ws.dv[0, c, e] = 0.0
    for e in range(6):
        ws.dv[0, m + e, e] = 1.0
    for i in range(1, nb):
        p, first, end = tree.parent[i], tree.v_start[i], tree.v_start[i] + tree.v_size[i]
        for c in range(2 * m):
            motion_to_child(ws.R[i], ws.o[i], ws.dv[p, c], ws.dv[i, c])
        moved = ws.moved
        motion_to_child(ws.R[i], ws.o[i], ws.v[p], moved)
        for c in range(first, end):
            add_cross_motion(moved, ws.S[c], 1.0, ws.dv[i, 6 + c])
            for e in range(6):
                ws.dv[i, m + 6 + c, e] += ws.S[c, e]
            if tree.kind[i] == PRODUCT:
                for b in range(first, c):
                    add_cross_motion(ws.S[b], ws.S[c], x[rates + b], ws.dv[i, 6 + c])
