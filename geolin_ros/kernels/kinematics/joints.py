# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint transforms: where body i stands in its parent."""

import math

from geolin_ros.kernels._jit import kernel, lean_kernel
from geolin_ros.kernels.packing.types import (
    FLOATING,
    PLANAR,
    PRODUCT,
    SINGLE_AXIS,
    SPHERICAL,
    Tree,
    Workspace,
)
from geolin_ros.kernels.se3 import rotation
from geolin_ros.kernels.spatial import motion_to_child


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
def product_transform(axes, q, S_out, step_R, step_o, R_out, o_out):
    """(R, o) = exp(axes_0^ q_0) exp(axes_1^ q_1) ... and its Jacobian [Kim 2012, section 2.1].

    S_k = Ad of (exp(axes_k+1^ q_k+1) ...)^-1 on axes_k;  ``step_R``, ``step_o`` are scratch
    """
    single_axis_transform(axes[0], q[0], R_out, o_out)
    for e in range(6):
        S_out[0, e] = axes[0, e]
    for k in range(1, axes.shape[0]):
        single_axis_transform(axes[k], q[k], step_R, step_o)
        for b in range(k):
            turned = S_out[k]  # still free
            motion_to_child(step_R, step_o, S_out[b], turned)
            for e in range(6):
                S_out[b, e] = turned[e]
        for e in range(6):
            S_out[k, e] = axes[k, e]
        append(R_out, o_out, step_R, step_o)


@kernel
def append(R, o, step_R, step_o):
    """(R, o) := (R, o) (step_R, step_o), in place."""
    for a in range(3):
        r0, r1, r2 = R[a, 0], R[a, 1], R[a, 2]
        o[a] += r0 * step_o[0] + r1 * step_o[1] + r2 * step_o[2]
        for b in range(3):
            R[a, b] = r0 * step_R[0, b] + r1 * step_R[1, b] + r2 * step_R[2, b]


@kernel
def place_bodies(tree: Tree, ws: Workspace, x):
    """Fill ``ws.R``, ``ws.o``, the world poses and ``ws.S`` from ``x`` = [H (16) | s | v | r].

    ^pH_i = ^pH_joint E_i(s_i);  ^AH_i = ^AH_p ^pH_i.
    """
    for a in range(3):
        for b in range(3):
            ws.R[0, a, b] = x[4 * a + b]
            ws.world_R[0, a, b] = x[4 * a + b]
        ws.o[0, a] = x[4 * a + 3]
        ws.world_o[0, a] = x[4 * a + 3]
    for i in range(1, tree.parent.shape[0]):
        # the joint's own transform first, in the slots of the world pose
        E, t = ws.world_R[i], ws.world_o[i]
        first, end = tree.v_start[i], tree.v_start[i] + tree.v_size[i]
        q = x[16 + tree.q_start[i] : 16 + tree.q_start[i] + tree.q_size[i]]
        for c in range(first, end):
            for e in range(6):
                ws.S[c, e] = tree.subspace[c, e]
        if tree.kind[i] == SINGLE_AXIS:
            single_axis_transform(tree.subspace[first], q[0], E, t)
        elif tree.kind[i] == PRODUCT:
            axes = tree.subspace[first:end]
            product_transform(axes, q, ws.S[first:end], ws.R[i], ws.o[i], E, t)
        else:
            group_transform(tree.kind[i], tree.subspace[first:end], q, E, t)
        compose(tree.rotation[i], tree.translation[i], E, t, ws.R[i], ws.o[i])
        p = tree.parent[i]
        compose(ws.world_R[p], ws.world_o[p], ws.R[i], ws.o[i], E, t)


@kernel
def compose(R1, o1, R2, o2, R_out, o_out):
    """(R, o) = (R1, o1) (R2, o2)."""
    for a in range(3):
        for b in range(3):
            R_out[a, b] = R1[a, 0] * R2[0, b] + R1[a, 1] * R2[1, b] + R1[a, 2] * R2[2, b]
        o_out[a] = o1[a] + R1[a, 0] * o2[0] + R1[a, 1] * o2[1] + R1[a, 2] * o2[2]
