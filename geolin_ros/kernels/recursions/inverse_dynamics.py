# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics in body frames (RNEA) [Featherstone 2008, Table 5.1; Bos 2022, Table 4]."""

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
from geolin_ros.kernels.recursions.joints import place_bodies
from geolin_ros.kernels.spatial import (
    add_cross_motion,
    add_cross_wrench,
    add_matvec,
    add_wrench_to_parent,
    dot6,
    motion_to_child,
)


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
def place_wrenches(tree: Tree, ws: Workspace, wrenches: Wrenches):
    """Fill ``ws.wrench``: the sum of the external wrenches on each body, in its frame.

    body: f_i = f.  world: f_i = (^AX_i)' f_A.  world oriented: f_i = [R'F; R'T + c x R'F].
    """
    for i in range(tree.parent.shape[0]):
        for e in range(6):
            ws.wrench[i, e] = 0.0
    for w in range(wrenches.body.shape[0]):
        i = wrenches.body[w]
        add_wrench_in_body(ws, wrenches, w, ws.wrench[i])


@kernel
def add_wrench_in_body(ws: Workspace, wrenches: Wrenches, w, out):
    """out += wrench number w in the frame of its body."""
    add_wrench_value(ws, wrenches, w, wrenches.value[w], out)


@kernel
def add_wrench_value(ws: Workspace, wrenches: Wrenches, w, value, out):
    """out += ``value`` (6,), read as that of wrench number w, in the frame of its body."""
    i = wrenches.body[w]
    if wrenches.kind[w] == BODY_WRENCH:
        for e in range(6):
            out[e] += value[e]
        return
    R, o, c = ws.world_R[i], ws.world_o[i], wrenches.point[w]
    t0, t1, t2 = value[3], value[4], value[5]
    if wrenches.kind[w] != WORLD_ORIENTED_WRENCH:  # moment about the world origin, to that about o
        t0 -= o[1] * value[2] - o[2] * value[1]
        t1 -= o[2] * value[0] - o[0] * value[2]
        t2 -= o[0] * value[1] - o[1] * value[0]
    f0 = R[0, 0] * value[0] + R[1, 0] * value[1] + R[2, 0] * value[2]
    f1 = R[0, 1] * value[0] + R[1, 1] * value[1] + R[2, 1] * value[2]
    f2 = R[0, 2] * value[0] + R[1, 2] * value[1] + R[2, 2] * value[2]
    out[0] += f0
    out[1] += f1
    out[2] += f2
    for e in range(3):
        out[3 + e] += R[0, e] * t0 + R[1, e] * t1 + R[2, e] * t2
    if wrenches.kind[w] == WORLD_ORIENTED_WRENCH:
        out[3] += c[1] * f2 - c[2] * f1
        out[4] += c[2] * f0 - c[0] * f2
        out[5] += c[0] * f1 - c[1] * f0


@kernel
def project_wrenches(tree: Tree, ws: Workspace, x, nu_dot, tau_out):
    """Fill ``ws.f`` and ``tau_out`` (6 + n,), base wrench first; needs the two passes above.

    f_i = M_i a_i + v_i xb* M_i v_i - f_ext,i + sum over children of _iX^j f_j      (3)
    tau_i = S_i' f_i + passive torque;  tau_b = f_0                                 (4)
    """
    nb = tree.parent.shape[0]
    for i in range(nb):
        for e in range(6):
            ws.moved[e] = 0.0
            ws.f[i, e] = -ws.wrench[i, e]
        add_matvec(tree.inertia[i], ws.v[i], ws.moved)
        add_matvec(tree.inertia[i], ws.a[i], ws.f[i])
        add_cross_wrench(ws.v[i], ws.moved, 1.0, ws.f[i])
    for i in range(nb - 1, 0, -1):
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            tau_out[6 + c] = dot6(ws.S[c], ws.f[i])
        p = tree.parent[i]
        add_wrench_to_parent(ws.R[i], ws.o[i], ws.f[i], ws.f[p])
    for e in range(6):
        tau_out[e] = ws.f[0, e]
    add_passive_torque(tree, x, nu_dot, tau_out)


@kernel
def add_passive_torque(tree: Tree, x, nu_dot, tau_out):
    """tau_i += a_i rdot_i + d_i r_i + f_i tanh(r_i / v0_i) + k_i (s_i - rest_i)."""
    n = tree.armature.shape[0]
    rates = x.shape[0] - n
    for i in range(1, tree.parent.shape[0]):
        for e in range(tree.v_size[i]):
            c = tree.v_start[i] + e
            r = x[rates + c]
            tau_out[6 + c] += tree.armature[c] * nu_dot[6 + c] + tree.damping[c] * r
            if tree.friction[c] != 0.0:
                tau_out[6 + c] += tree.friction[c] * math.tanh(r / tree.friction_speed[c])
            if tree.stiffness[c] != 0.0:
                s = x[16 + tree.q_start[i] + e]
                tau_out[6 + c] += tree.stiffness[c] * (s - tree.rest[c])


@kernel
def inverse_dynamics(tree: Tree, ws: Workspace, x, gravity, nu_dot, wrenches: Wrenches, tau_out):
    """Fill ``tau_out`` = M nu_dot + h - J' f, base wrench first (RNEA)."""
    place_bodies(tree, ws, x)
    place_wrenches(tree, ws, wrenches)
    propagate_motion(tree, ws, x, gravity, nu_dot)
    project_wrenches(tree, ws, x, nu_dot, tau_out)
