# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the bodies of a tree of any joints are and how they move, in body frames.

[Kim 2012, Eqs. (1)-(13), (30), (31); Traversaro 2019, sections 2-4, 8].

Equal to the motion part of [Bos 2022, Tables 4, 6-8]. A pose of frame i in its parent frame p is
(R, o): p_x = R i_x + o. Joints may have several axes: the terms (v_J x) S keep their place then.
Mimic joints follow independent ones: s = G y + s0. Outputs never alias inputs.
"""

import math

from geolin_ros.kernels._jit import kernel, lean_kernel
from geolin_ros.kernels.packing.types import (
    FLOATING,
    PLANAR,
    SINGLE_AXIS,
    SPHERICAL,
    Tree,
    Workspace,
)
from geolin_ros.kernels.se3 import rotation

# --- joints -----------------------------------------------------------------------------------


@kernel
def single_axis_transform(S, s, R_out, o_out):
    """(R, o) = exp(S^ s) for a revolute, prismatic or helical unit twist S = (u; w).

    R = 1 + sin(s) w^ + (1 - cos(s)) w^ w^                                (1)
    o = s u + (1 - cos(s)) w x u + (s - sin(s)) w x (w x u)               (2)
    """
    sin, cos = math.sin(s), math.cos(s)
    u0, u1, u2, x, y, z = S[0], S[1], S[2], S[3], S[4], S[5]
    if x == 0.0 and y == 0.0 and z == 0.0:
        sin, cos = 0.0, 1.0
    c = 1.0 - cos
    turn_about(x, y, z, cos, sin, R_out)
    c0, c1, c2 = y * u2 - z * u1, z * u0 - x * u2, x * u1 - y * u0  # w x u
    e = s - sin
    o_out[0] = s * u0 + c * c0 + e * (y * c2 - z * c1)
    o_out[1] = s * u1 + c * c1 + e * (z * c0 - x * c2)
    o_out[2] = s * u2 + c * c2 + e * (x * c1 - y * c0)


@lean_kernel
def turn_about(x, y, z, cos, sin, R_out):
    """Fill R by Eq. (1) for the unit axis (x, y, z)."""
    c = 1.0 - cos
    R_out[0, 0], R_out[1, 1], R_out[2, 2] = cos + c * x * x, cos + c * y * y, cos + c * z * z
    R_out[0, 1], R_out[1, 0] = c * x * y - sin * z, c * x * y + sin * z
    R_out[2, 0], R_out[0, 2] = c * x * z - sin * y, c * x * z + sin * y
    R_out[1, 2], R_out[2, 1] = c * y * z - sin * x, c * y * z + sin * x


@lean_kernel
def group_transform(kind, S, q, R_out, o_out):
    """(R, o) = the group element at ``q``; (cos, sin) and quaternions may have any length.

    planar, S = [(a; 0), (b; 0), (0; n)]: turn about n, o = x a + y b
    """
    for e in range(3):
        o_out[e] = 0.0
    if kind == SPHERICAL:
        rotation(q[0], q[1], q[2], q[3], R_out)
    elif kind == FLOATING:
        rotation(q[3], q[4], q[5], q[6], R_out)
        for e in range(3):
            o_out[e] = q[e]
    elif kind == PLANAR:
        length = math.sqrt(q[2] * q[2] + q[3] * q[3])
        turn_about(S[2, 3], S[2, 4], S[2, 5], q[2] / length, q[3] / length, R_out)
        for e in range(3):
            o_out[e] = q[0] * S[0, e] + q[1] * S[1, e]


@kernel
def compose(R1, o1, R2, o2, R_out, o_out):
    """(R, o) = (R1, o1) (R2, o2)."""
    for a in range(3):
        for b in range(3):
            R_out[a, b] = R1[a, 0] * R2[0, b] + R1[a, 1] * R2[1, b] + R1[a, 2] * R2[2, b]
        o_out[a] = o1[a] + R1[a, 0] * o2[0] + R1[a, 1] * o2[1] + R1[a, 2] * o2[2]


# --- bodies -----------------------------------------------------------------------------------


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
def place_bodies(tree: Tree, ws: Workspace, x_y):
    """Fill ``ws.x``, ``ws.R``, ``ws.o`` and the world poses.

    ^pH_i = ^pH_joint E_i(s_i);  ^AH_i = ^AH_p ^pH_i.
    """
    expand_state(tree, x_y, ws.x)
    x = ws.x
    for a in range(3):
        for b in range(3):
            ws.R[0, a, b] = x[4 * a + b]
        ws.o[0, a] = x[4 * a + 3]
    ws.world_R[0], ws.world_o[0] = ws.R[0], ws.o[0]
    for i in range(1, tree.parent.shape[0]):
        # the joint's own transform first, in the slots of the world pose
        E, t, p = ws.world_R[i], ws.world_o[i], tree.parent[i]
        first, end = tree.v_start[i], tree.v_start[i] + tree.v_size[i]
        q = x[16 + tree.q_start[i] : 16 + tree.q_start[i] + tree.q_size[i]]
        if tree.kind[i] == SINGLE_AXIS:
            single_axis_transform(tree.subspace[first], q[0], E, t)
        else:
            group_transform(tree.kind[i], tree.subspace[first:end], q, E, t)
        compose(tree.rotation[i], tree.translation[i], E, t, ws.R[i], ws.o[i])
        compose(ws.world_R[p], ws.world_o[p], ws.R[i], ws.o[i], E, t)


@kernel
def move_bodies(tree: Tree, ws: Workspace, x_y, gravity):
    """Fill poses, ``ws.v``, ``ws.v_joint``, ``ws.a`` at x = [H (16) | s | v | r] and nu_dot = 0.

    v_0 = v;                     a_0 = (-^0R_A gravity; 0)                                (1)
    v_i = ^iX_p v_p + S_i r_i;   a_i = ^iX_p a_p + v_i x S_i r_i                          (2)
    """
    place_bodies(tree, ws, x_y)
    x, R = ws.x, ws.R[0]
    rates = x.shape[0] - tree.armature.shape[0]
    ws.v[0] = x[rates - 6 : rates]
    ws.a[0] = 0.0
    for e in range(3):
        ws.a[0, e] = -(R[0, e] * gravity[0] + R[1, e] * gravity[1] + R[2, e] * gravity[2])
    for i in range(1, tree.parent.shape[0]):
        p, end = tree.parent[i], tree.v_start[i] + tree.v_size[i]
        motion_to_child(ws.R[i], ws.o[i], ws.v[p], ws.v[i])
        motion_to_child(ws.R[i], ws.o[i], ws.a[p], ws.a[i])
        for e in range(6):
            ws.v_joint[i, e] = 0.0
        for c in range(tree.v_start[i], end):
            for e in range(6):
                ws.v_joint[i, e] += tree.subspace[c, e] * x[rates + c]
        for e in range(6):
            ws.v[i, e] += ws.v_joint[i, e]
        add_cross_motion(ws.v[i], ws.v_joint[i], 1.0, ws.a[i])


@kernel
def differentiate_motion(tree: Tree, ws: Workspace, dv_out):
    """Fill the derivatives (nb, m_y, 6) of twists by [H; y], by rows; needs `move_bodies`.

    dv_0 = 0;  dv_i = ^iX_p dv_p + ((^iX_p v_p) x S_i) G_i; those by nu_y are Jacobians
    """
    dv_out[0] = 0.0
    for i in range(1, dv_out.shape[0]):
        p, moved = tree.parent[i], ws.moved
        for c in range(dv_out.shape[1]):
            motion_to_child(ws.R[i], ws.o[i], dv_out[p, c], dv_out[i, c])
        motion_to_child(ws.R[i], ws.o[i], ws.v[p], moved)
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            row = dv_out[i, 6 + tree.master[c]]
            add_cross_motion(moved, tree.subspace[c], tree.multiplier[c], row)


@kernel
def propagate_jacobians(tree: Tree, ws: Workspace, J_out, J_dot_out):
    """Fill J and Jdot (nb, m_y, 6) by rows, v_i = J_i' nu_y; needs `move_bodies`.

    J_0 = [1, 0];  J_i = ^iX_p J_p + S_i G_i, G_i the rows of joint i in s = G y + s0    (1)
    Jdot_i = ^iX_p Jdot_p - (v_J x) ^iX_p J_p,  for d/dt ^iX_p = -(v_J x) ^iX_p            (2)
    """
    nb, m_y = J_out.shape[0], J_out.shape[1]
    J_out[0] = 0.0
    J_dot_out[0] = 0.0
    for e in range(6):
        J_out[0, e, e] = 1.0
    for i in range(1, nb):
        p = tree.parent[i]
        for c in range(m_y):
            motion_to_child(ws.R[i], ws.o[i], J_out[p, c], J_out[i, c])
            motion_to_child(ws.R[i], ws.o[i], J_dot_out[p, c], J_dot_out[i, c])
            add_cross_motion(ws.v_joint[i], J_out[i, c], -1.0, J_dot_out[i, c])
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            for e in range(6):
                J_out[i, 6 + tree.master[c], e] += tree.multiplier[c] * tree.subspace[c, e]


@kernel
def place_points(tree: Tree, ws: Workspace, states, bodies, places, h, R, J):
    """Fill h (N, K, 3), R (N, K, 3, 3), J (N, K, 6, m_y) of points at ``places`` on ``bodies``.

    At N states [H (16) | s | v | r] of the independent coordinates: h is in the world, R holds the
    axes of the bodies; J takes nu_y to [linear; angular] of the points in world axes.
    """
    for k in range(states.shape[0]):
        place_bodies(tree, ws, states[k])
        for i in range(bodies.shape[0]):
            for e in range(3):
                h[k, i, e] = ws.world_o[bodies[i], e]
                for c in range(3):
                    R[k, i, e, c] = ws.world_R[bodies[i], e, c]
                    h[k, i, e] += R[k, i, e, c] * places[i, c]
            _point_jacobian(tree, ws, bodies[i], h[k, i], J[k, i])


@kernel
def _point_jacobian(tree: Tree, ws: Workspace, body, point, J):
    """Fill J (6, m_y) of a point (3,) of the world on a body, joint by joint down to the base.

    A joint with the subspace (u; w) in its body i turns it by R_i w, and moves it by
    R_i u + R_i w x (point - o_i)
    """
    J[:, :] = 0.0
    i = body
    while i > 0:
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            column, factor = 6 + tree.master[c], tree.multiplier[c]
            _add_column(ws, i, tree.subspace[c], factor, point, J[:, column])
        i = tree.parent[i]
    for e in range(6):
        ws.moved[:] = 0.0
        ws.moved[e] = 1.0
        _add_column(ws, 0, ws.moved, 1.0, point, J[:, e])


@kernel
def _add_column(ws: Workspace, i, S, factor, point, column):
    R, o = ws.world_R[i], ws.world_o[i]
    x, y, z = point[0] - o[0], point[1] - o[1], point[2] - o[2]
    w0 = R[0, 0] * S[3] + R[0, 1] * S[4] + R[0, 2] * S[5]
    w1 = R[1, 0] * S[3] + R[1, 1] * S[4] + R[1, 2] * S[5]
    w2 = R[2, 0] * S[3] + R[2, 1] * S[4] + R[2, 2] * S[5]
    for e in range(3):
        column[e] += factor * (R[e, 0] * S[0] + R[e, 1] * S[1] + R[e, 2] * S[2])
    column[0] += factor * (w1 * z - w2 * y)
    column[1] += factor * (w2 * x - w0 * z)
    column[2] += factor * (w0 * y - w1 * x)
    column[3] += factor * w0
    column[4] += factor * w1
    column[5] += factor * w2


# --- spatial vectors --------------------------------------------------------------------------


@kernel
def motion_to_child(R, o, v, out):
    """out = ^iX_p v: a twist from parent to child coordinates."""
    a0 = v[0] - (o[1] * v[5] - o[2] * v[4])
    a1 = v[1] - (o[2] * v[3] - o[0] * v[5])
    a2 = v[2] - (o[0] * v[4] - o[1] * v[3])
    for j in range(3):
        out[j] = R[0, j] * a0 + R[1, j] * a1 + R[2, j] * a2
        out[3 + j] = R[0, j] * v[3] + R[1, j] * v[4] + R[2, j] * v[5]


@kernel
def add_cross_motion(v, y, scale, out):
    """out += scale (v x y): twist v acting on twist y."""
    out[0] += scale * (v[4] * y[2] - v[5] * y[1] + v[1] * y[5] - v[2] * y[4])
    out[1] += scale * (v[5] * y[0] - v[3] * y[2] + v[2] * y[3] - v[0] * y[5])
    out[2] += scale * (v[3] * y[1] - v[4] * y[0] + v[0] * y[4] - v[1] * y[3])
    out[3] += scale * (v[4] * y[5] - v[5] * y[4])
    out[4] += scale * (v[5] * y[3] - v[3] * y[5])
    out[5] += scale * (v[3] * y[4] - v[4] * y[3])
