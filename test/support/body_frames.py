# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics, its derivatives and the mass matrix in body frames: a referee of the kernels.

[Featherstone 2008, Tables 5.1 and 6.2; Bos 2022, Tables 4 to 8].
"""

import math
from typing import NamedTuple

import numpy as np

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.kinematics.joints import place_bodies
from geolin_ros.kernels.kinematics.motion import expand_state
from geolin_ros.kernels.packing.types import (
    BODY_WRENCH,
    PRODUCT,
    WORLD_ORIENTED_WRENCH,
    Tree,
    Wrenches,
)
from geolin_ros.kernels.spatial import add_cross_motion, add_cross_wrench, add_matvec


class Workspace(NamedTuple):
    """Scratch, the names of `geolin_ros.kernels.packing.types.Workspace` and more."""

    R: np.ndarray
    o: np.ndarray
    world_R: np.ndarray
    world_o: np.ndarray
    v: np.ndarray
    a: np.ndarray
    f: np.ndarray
    S: np.ndarray
    v_joint: np.ndarray
    wrench: np.ndarray
    inertia: np.ndarray
    articulated: np.ndarray
    U: np.ndarray
    D: np.ndarray
    force: np.ndarray
    upward: np.ndarray
    moved: np.ndarray
    rate: np.ndarray
    dv: np.ndarray
    da: np.ndarray
    df: np.ndarray
    d: np.ndarray
    dh: np.ndarray
    dS: np.ndarray
    touched: np.ndarray
    x: np.ndarray
    nu_dot: np.ndarray
    M: np.ndarray
    M_y: np.ndarray
    chol: np.ndarray
    masked: np.ndarray
    tau: np.ndarray
    tau_y: np.ndarray
    dtau: np.ndarray
    dtau_y: np.ndarray
    response: np.ndarray
    reaction: np.ndarray


def make_workspace(tree: Tree) -> Workspace:
    """Return zeroed scratch for ``tree``."""
    nb, n, n_q = tree.parent.shape[0], tree.armature.shape[0], tree.offset.shape[0]
    m, k = 6 + n, 12 + 2 * n
    m_y = 7 + int(tree.master.max(initial=-1))
    return Workspace(
        R=np.zeros((nb, 3, 3)),
        o=np.zeros((nb, 3)),
        world_R=np.zeros((nb, 3, 3)),
        world_o=np.zeros((nb, 3)),
        v=np.zeros((nb, 6)),
        a=np.zeros((nb, 6)),
        f=np.zeros((nb, 6)),
        S=np.zeros((n, 6)),
        v_joint=np.zeros((nb, 6)),
        wrench=np.zeros((nb, 6)),
        inertia=np.zeros((nb, 6, 6)),
        articulated=np.zeros((nb, 6, 6)),
        U=np.zeros((m, 6)),
        D=np.zeros(m),
        force=np.zeros(m),
        upward=np.zeros(3),
        moved=np.zeros(6),
        rate=np.zeros(6),
        dv=np.zeros((nb, k, 6)),
        da=np.zeros((nb, k, 6)),
        df=np.zeros((nb, k, 6)),
        d=np.zeros((nb, k, 6)),
        dh=np.zeros((nb, 6)),
        dS=np.zeros((n, 6)),
        touched=np.zeros((nb, 2), np.int64),
        x=np.zeros(22 + n_q + n),
        nu_dot=np.zeros(m),
        M=np.zeros((m, m)),
        M_y=np.zeros((m_y, m_y)),
        chol=np.zeros((m_y, m_y)),
        masked=np.zeros((m_y, m_y)),
        tau=np.zeros(m),
        tau_y=np.zeros(m_y),
        dtau=np.zeros((m, k)),
        dtau_y=np.zeros((m_y, 2 * m_y)),
        response=np.zeros(m_y),
        reaction=np.zeros(m_y),
    )


@kernel
def dot6(a, b):
    """Return a' b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@kernel
def add_wrench_to_parent(R, o, f, out):
    """out += _pX^i f: a wrench from child to parent coordinates."""
    f0 = R[0, 0] * f[0] + R[0, 1] * f[1] + R[0, 2] * f[2]
    f1 = R[1, 0] * f[0] + R[1, 1] * f[1] + R[1, 2] * f[2]
    f2 = R[2, 0] * f[0] + R[2, 1] * f[1] + R[2, 2] * f[2]
    out[0] += f0
    out[1] += f1
    out[2] += f2
    out[3] += R[0, 0] * f[3] + R[0, 1] * f[4] + R[0, 2] * f[5] + o[1] * f2 - o[2] * f1
    out[4] += R[1, 0] * f[3] + R[1, 1] * f[4] + R[1, 2] * f[5] + o[2] * f0 - o[0] * f2
    out[5] += R[2, 0] * f[3] + R[2, 1] * f[4] + R[2, 2] * f[5] + o[0] * f1 - o[1] * f0


@kernel
def add_inertia_to_parent(R, o, inertia, out):
    """out += _pX^i I ^iX_p for any 6x6 I.

    With K = blkdiag(R, R) I blkdiag(R', R') = [[P, Q], [T, U]] and o^ the cross matrix:
    [[P, Q - P o^], [T + o^ P, U + o^ Q - T o^ - o^ P o^]].
    """
    P, Q = rotated_block(R, inertia, 0, 0), rotated_block(R, inertia, 0, 3)
    T, U = rotated_block(R, inertia, 3, 0), rotated_block(R, inertia, 3, 3)
    PX, TX = times_cross(P, o), times_cross(T, o)  # P o^, T o^
    for j in range(3):
        for i in range(3):
            out[i, j] += P[3 * i + j]
            out[i, 3 + j] += Q[3 * i + j] - PX[3 * i + j]
            out[3 + i, j] += T[3 * i + j]
            out[3 + i, 3 + j] += U[3 * i + j] - TX[3 * i + j]
        p0, p1, p2 = P[j], P[3 + j], P[6 + j]
        out[3, j] += o[1] * p2 - o[2] * p1
        out[4, j] += o[2] * p0 - o[0] * p2
        out[5, j] += o[0] * p1 - o[1] * p0
        q0, q1, q2 = Q[j] - PX[j], Q[3 + j] - PX[3 + j], Q[6 + j] - PX[6 + j]
        out[3, 3 + j] += o[1] * q2 - o[2] * q1
        out[4, 3 + j] += o[2] * q0 - o[0] * q2
        out[5, 3 + j] += o[0] * q1 - o[1] * q0


@kernel
def rotated_block(R, I6, row, col):
    """Return the nine entries of R B R' for the 3x3 block B of I6 at (row, col)."""
    b00, b01, b02 = I6[row, col], I6[row, col + 1], I6[row, col + 2]
    b10, b11, b12 = I6[row + 1, col], I6[row + 1, col + 1], I6[row + 1, col + 2]
    b20, b21, b22 = I6[row + 2, col], I6[row + 2, col + 1], I6[row + 2, col + 2]
    x0, x1, x2 = R[0, 0], R[0, 1], R[0, 2]
    y0, y1, y2 = R[1, 0], R[1, 1], R[1, 2]
    z0, z1, z2 = R[2, 0], R[2, 1], R[2, 2]
    ax, ay, az = (
        b00 * x0 + b01 * x1 + b02 * x2,
        b00 * y0 + b01 * y1 + b02 * y2,
        b00 * z0 + b01 * z1 + b02 * z2,
    )
    bx, by, bz = (
        b10 * x0 + b11 * x1 + b12 * x2,
        b10 * y0 + b11 * y1 + b12 * y2,
        b10 * z0 + b11 * z1 + b12 * z2,
    )
    cx, cy, cz = (
        b20 * x0 + b21 * x1 + b22 * x2,
        b20 * y0 + b21 * y1 + b22 * y2,
        b20 * z0 + b21 * z1 + b22 * z2,
    )
    return (
        x0 * ax + x1 * bx + x2 * cx,
        x0 * ay + x1 * by + x2 * cy,
        x0 * az + x1 * bz + x2 * cz,
        y0 * ax + y1 * bx + y2 * cx,
        y0 * ay + y1 * by + y2 * cy,
        y0 * az + y1 * bz + y2 * cz,
        z0 * ax + z1 * bx + z2 * cx,
        z0 * ay + z1 * by + z2 * cy,
        z0 * az + z1 * bz + z2 * cz,
    )


@kernel
def times_cross(B, o):
    """Return the nine entries of B o^."""
    x, y, z = o[0], o[1], o[2]
    return (
        B[1] * z - B[2] * y,
        B[2] * x - B[0] * z,
        B[0] * y - B[1] * x,
        B[4] * z - B[5] * y,
        B[5] * x - B[3] * z,
        B[3] * y - B[4] * x,
        B[7] * z - B[8] * y,
        B[8] * x - B[6] * z,
        B[6] * y - B[7] * x,
    )


@kernel
def expand_velocity(tree: Tree, nu_y, nu_out):
    """Nu = T nu_y."""
    for e in range(6):
        nu_out[e] = nu_y[e]
    for c in range(tree.master.shape[0]):
        nu_out[6 + c] = tree.multiplier[c] * nu_y[6 + tree.master[c]]


@kernel
def reduce_force(tree: Tree, tau, tau_y_out):
    """tau_y = T' tau."""
    tau_y_out[:] = 0.0
    for e in range(6):
        tau_y_out[e] = tau[e]
    for c in range(tree.master.shape[0]):
        tau_y_out[6 + tree.master[c]] += tree.multiplier[c] * tau[6 + c]


@kernel
def reduce_matrix(tree: Tree, D, columns, D_y_out):
    """D_y = T' D blkdiag(T, ...) with ``columns`` groups of 6 + n columns: 1 for M, 2 for dtau."""
    n, m, m_y = tree.master.shape[0], D.shape[0], D_y_out.shape[0]
    D_y_out[:, :] = 0.0
    for row in range(m):
        row_y, row_factor = row, 1.0
        if row >= 6:
            row_y, row_factor = 6 + tree.master[row - 6], tree.multiplier[row - 6]
        for group in range(columns):
            at, at_y = group * m, group * m_y
            for e in range(6):
                D_y_out[row_y, at_y + e] += row_factor * D[row, at + e]
            for c in range(n):
                D_y_out[row_y, at_y + 6 + tree.master[c]] += (
                    row_factor * tree.multiplier[c] * D[row, at + 6 + c]
                )


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
def mass_matrix(tree: Tree, ws: Workspace, M_out):
    """Fill ``M_out`` (6 + n, 6 + n), armature included; needs `place_bodies`.

    Mc_p += _pX^i Mc_i ^iX_p;   F = Mc_i S_i carried up the path;   M[j, i] = S_j' F   (1)
    """
    nb = tree.parent.shape[0]
    M_out[:, :] = 0.0
    for i in range(nb):
        ws.inertia[i, :, :] = tree.inertia[i]
    for i in range(nb - 1, 0, -1):
        add_inertia_to_parent(ws.R[i], ws.o[i], ws.inertia[i], ws.inertia[tree.parent[i]])
    for i in range(1, nb):
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            here, above = ws.moved, ws.rate
            for e in range(6):
                here[e] = 0.0
            add_matvec(ws.inertia[i], ws.S[c], here)
            j = i
            while j > 0:
                for b in range(tree.v_start[j], tree.v_start[j] + tree.v_size[j]):
                    M_out[6 + b, 6 + c] = dot6(ws.S[b], here)
                    M_out[6 + c, 6 + b] = M_out[6 + b, 6 + c]
                for e in range(6):
                    above[e] = 0.0
                add_wrench_to_parent(ws.R[j], ws.o[j], here, above)
                for e in range(6):
                    here[e] = above[e]
                j = tree.parent[j]
            for e in range(6):
                M_out[e, 6 + c] = here[e]
                M_out[6 + c, e] = here[e]
            M_out[6 + c, 6 + c] += tree.armature[c]
    for a in range(6):
        for b in range(6):
            M_out[a, b] = ws.inertia[0, a, b]


@kernel
def reduced_mass_matrix(tree: Tree, ws: Workspace, x_y, M_y_out):
    """Fill the mass matrix of the independent coordinates at x = [H (16) | s | v | r]."""
    expand_state(tree, x_y, ws.x)
    place_bodies(tree, ws, ws.x)
    mass_matrix(tree, ws, ws.M)
    reduce_matrix(tree, ws.M, 1, M_y_out)


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
