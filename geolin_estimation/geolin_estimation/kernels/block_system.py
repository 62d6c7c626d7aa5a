# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The Newton-Euler equations as one system [Nori, Eqs. (3)-(5)], and its forward substitution.

A column of T holds the constant part of variables, then one number for each of those that stay
open. No kernel allocates.
"""

import math

from geolin_ros.kernels._jit import kernel, lean_kernel
from geolin_ros.kernels.kinematics.joints import place_bodies
from geolin_ros.kernels.kinematics.motion import expand_state, propagate_motion
from geolin_ros.kernels.packing.types import PRODUCT, Tree, Workspace
from geolin_ros.kernels.spatial import add_cross_motion, motion_to_child


@kernel
def assemble(tree: Tree, ws: Workspace, x, gravity, X, slot, source, values, b):
    """Fill X (nb, 6, 6), the entries of D that change, and b of the model's 12 nb + m rows.

    [Nori, Eqs. (2)-(5), Remark 1].

    X_i = ^iX_p = [[R', -R' o^], [0, R']];  values[slot] = [X.flat, S.flat][source]   (1)
    b of a_i:    v_i x S_i r_i + Sdot_i r_i (base: -gravity)                          (2)
    b of f_i:    v_i xb* M_i v_i                                                      (3)
    b of tau_i:  damping, friction and spring, of a joint and those that follow it     (4)
    """
    nb, n = tree.parent.shape[0], tree.armature.shape[0]
    row_tau = 12 * nb + tree.v_size[0]
    ws.nu_dot[:] = 0.0
    ws.tau[:] = 0.0
    b[:row_tau] = 0.0
    expand_state(tree, x, ws.x)
    place_bodies(tree, ws, ws.x)
    propagate_motion(tree, ws, ws.x, gravity, ws.nu_dot)
    for e in range(3):
        b[e] = ws.upward[e]
    for i in range(nb):
        R, o = ws.R[i], ws.o[i]
        for row in range(3):
            r0, r1, r2 = R[0, row], R[1, row], R[2, row]
            for column in range(3):
                X[i, row, column] = X[i, 3 + row, 3 + column] = R[column, row]
                X[i, 3 + row, column] = 0.0
            X[i, row, 3] = o[1] * r2 - o[2] * r1
            X[i, row, 4] = o[2] * r0 - o[0] * r2
            X[i, row, 5] = o[0] * r1 - o[1] * r0
        if i > 0:
            bias = b[6 * i : 6 * i + 6]
            if tree.kind[i] == PRODUCT:  # S moves: a_i at nu_dot = 0, less that of the parent
                motion_to_child(ws.R[i], o, ws.a[tree.parent[i]], ws.moved)
                for e in range(6):
                    bias[e] = ws.a[i, e] - ws.moved[e]
            else:
                add_cross_motion(ws.v[i], ws.v_joint[i], 1.0, bias)
        for e in range(6):
            ws.moved[e] = 0.0
        add_matvec(tree.inertia[i], ws.v[i], ws.moved)
        add_cross_wrench(ws.v[i], ws.moved, 1.0, b[6 * (nb + i) : 6 * (nb + i) + 6])
    of_poses, of_joints = X.reshape(36 * nb), ws.S.reshape(6 * n)
    for k in range(slot.shape[0]):
        at = source[k]
        values[slot[k]] = of_poses[at] if at < 36 * nb else of_joints[at - 36 * nb]
    add_passive_torque(tree, ws.x, ws.tau)
    for c in range(n):
        b[row_tau + tree.master[c]] = 0.0
    for c in range(n):
        b[row_tau + tree.master[c]] += tree.multiplier[c] * ws.tau[6 + c]


@kernel
def add_passive_torque(tree: Tree, x, tau_out):
    """tau_i += d_i r_i + f_i tanh(r_i / v0_i) + k_i (s_i - rest_i)."""
    n = tree.armature.shape[0]
    rates = x.shape[0] - n
    for i in range(1, tree.parent.shape[0]):
        for e in range(tree.v_size[i]):
            c = tree.v_start[i] + e
            r = x[rates + c]
            tau_out[6 + c] += tree.damping[c] * r
            if tree.friction[c] != 0.0:
                tau_out[6 + c] += tree.friction[c] * math.tanh(r / tree.friction_speed[c])
            if tree.stiffness[c] != 0.0:
                s = x[16 + tree.q_start[i] + e]
                tau_out[6 + c] += tree.stiffness[c] * (s - tree.rest[c])


@kernel
def add_cross_wrench(v, f, scale, out):
    """out += scale (v xb* f): twist v acting on wrench f."""
    out[0] += scale * (v[4] * f[2] - v[5] * f[1])
    out[1] += scale * (v[5] * f[0] - v[3] * f[2])
    out[2] += scale * (v[3] * f[1] - v[4] * f[0])
    out[3] += scale * (v[1] * f[2] - v[2] * f[1] + v[4] * f[5] - v[5] * f[4])
    out[4] += scale * (v[2] * f[0] - v[0] * f[2] + v[5] * f[3] - v[3] * f[5])
    out[5] += scale * (v[0] * f[1] - v[1] * f[0] + v[3] * f[4] - v[4] * f[3])


@kernel
def add_matvec(M, v, out):
    """out += M v for a 6x6 M."""
    for i in range(6):
        out[i] += (
            M[i, 0] * v[0]
            + M[i, 1] * v[1]
            + M[i, 2] * v[2]
            + M[i, 3] * v[3]
            + M[i, 4] * v[4]
            + M[i, 5] * v[5]
        )


@lean_kernel
def substitute_columns(row_of, column_of, start, column, entry, values, b, T):
    """Fill row ``column_of[k]`` of T by equation ``row_of[k]``, one after another.

    The pivot of each equation is -1 and not among its entries, so that

        T[column_of[k]] = sum_e values[e] T[column[e]] + b[row_of[k]] (1, 0, ..., 0)
    """
    for k in range(row_of.shape[0]):
        add_entries(start[k], start[k + 1], column, entry, values, T, T[column_of[k]])
        T[column_of[k], 0] += b[row_of[k]]


@lean_kernel
def evaluate_rows(row_of, start, column, entry, values, b, T, out):
    """Fill out[k] with row ``row_of[k]`` of D T + b (1, 0, ..., 0)."""
    for k in range(row_of.shape[0]):
        add_entries(start[k], start[k + 1], column, entry, values, T, out[k])
        out[k, 0] += b[row_of[k]]


@lean_kernel
def add_entries(first, last, column, entry, values, T, out):
    """out = sum of values[entry[e]] T[column[e]] over e."""
    for c in range(out.shape[0]):
        out[c] = 0.0
    for e in range(first, last):
        value, source = values[entry[e]], T[column[e]]
        for c in range(out.shape[0]):
            out[c] += value * source[c]
