# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of inverse and hybrid dynamics by any scalar p [Kim 2012, section 4].

Inverse dynamics is differentiated statement by statement (Table 5). Hybrid dynamics is the
solution of tau(nu_dot) = tau, so that its derivative is the response to what the derivative of
inverse dynamics leaves over: Tables 6 and 7 without the derivatives of articulated inertias.
"""

import math

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.packing.types import (
    BODY_WRENCH,
    PRODUCT,
    WORLD_ORIENTED_WRENCH,
    Direction,
    Tree,
    Workspace,
    Wrenches,
)
from geolin_ros.kernels.recursions.hybrid_dynamics import evaluate, hybrid_dynamics, respond
from geolin_ros.kernels.recursions.inverse_dynamics import add_wrench_value
from geolin_ros.kernels.recursions.mimic import reduce_force
from geolin_ros.kernels.spatial import (
    add_cross_motion,
    add_cross_wrench,
    add_matvec,
    add_wrench_to_parent,
    dot6,
    motion_to_child,
)
from geolin_ros.kernels.status import OK

MOTION = 0  # columns of ws.touched
WRENCH = 1


@kernel
def vary_inverse_dynamics(
    tree: Tree, ws: Workspace, nu_dot, wrenches: Wrenches, by: Direction, dtau_out
):
    """Fill ``dtau_out`` (6 + n,) of the tree; needs `inverse_dynamics`, whose result it varies."""
    vary_motion(tree, ws, nu_dot, by)
    vary_external_wrenches(tree, ws, wrenches, by)
    vary_wrenches(tree, ws, by, dtau_out)
    vary_passive_torque(tree, ws, nu_dot, by, dtau_out)


@kernel
def vary_motion(tree: Tree, ws: Workspace, nu_dot, by: Direction):
    """Fill dh, dS, d, dv, da of the bodies that p moves; the others are zero.

    base:  dh = d = displacement;   da = acceleration + (a_grav,0 x) dh - (R' dg; 0)     (1)
    dh_i = S_i ds_i + ^iX_p placement_i + joint_i;   d_i = ^iX_p d_p + dh_i              (2)
    dv_i = ^iX_p dv_p + (^iX_p v_p) x dh_i + d(S_i r_i)                                  (3)
    da_i = ^iX_p da_p + (^iX_p a_p) x dh_i + d(S_i rdot_i) + dv_i x S_i r_i + v_i x d(S_i r_i)
           + d(Sdot_i r_i)                                                           (4)

    Row 0 of ``ws.d[i]``, ``ws.dv[i]``, ``ws.da[i]`` holds them.
    """
    d, dv, da = ws.d[0, 0], ws.dv[0, 0], ws.da[0, 0]
    R, upward = ws.R[0], ws.upward
    g0, g1, g2 = by.gravity[0], by.gravity[1], by.gravity[2]
    for e in range(6):
        d[e] = by.displacement[e]
        ws.dh[0, e] = d[e]
        dv[e] = by.velocity[e]
        da[e] = by.acceleration[e]
    for e in range(3):
        da[e] -= R[0, e] * g0 + R[1, e] * g1 + R[2, e] * g2
    da[0] += upward[1] * d[5] - upward[2] * d[4]
    da[1] += upward[2] * d[3] - upward[0] * d[5]
    da[2] += upward[0] * d[4] - upward[1] * d[3]
    ws.touched[0, MOTION] = nonzero(d) or nonzero(dv) or nonzero(da)
    for i in range(1, tree.parent.shape[0]):
        p, d, dv, da = tree.parent[i], ws.d[i, 0], ws.dv[i, 0], ws.da[i, 0]
        own = moves_joint(tree, by, i)
        ws.touched[i, MOTION] = own or ws.touched[p, MOTION] != 0
        ws.dh[i, :] = 0.0
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            ws.dS[c, :] = 0.0
        if ws.touched[i, MOTION] == 0:
            d[:], dv[:], da[:] = 0.0, 0.0, 0.0
            continue
        motion_to_child(ws.R[i], ws.o[i], ws.d[p, 0], d)
        motion_to_child(ws.R[i], ws.o[i], ws.dv[p, 0], dv)
        motion_to_child(ws.R[i], ws.o[i], ws.da[p, 0], da)
        if own:
            vary_joint(tree, ws, nu_dot, by, i)
        add_cross_motion(dv, ws.v_joint[i], 1.0, da)


@kernel
def moves_joint(tree: Tree, by: Direction, i):
    """Whether p moves joint i itself."""
    for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
        moved = by.displacement[6 + c] != 0.0 or by.velocity[6 + c] != 0.0
        if moved or by.acceleration[6 + c] != 0.0 or nonzero(by.subspace[c]):
            return True
    return nonzero(by.placement[i]) or nonzero(by.joint[i])


@kernel
def vary_joint(tree: Tree, ws: Workspace, nu_dot, by: Direction, i):
    """Fill dh_i, dS_i and add what joint i has to d_i, dv_i and da_i, but for dv_i x S_i r_i."""
    p, first, end = tree.parent[i], tree.v_start[i], tree.v_start[i] + tree.v_size[i]
    rates = ws.x.shape[0] - tree.armature.shape[0]
    d, dv, da, dh = ws.d[i, 0], ws.dv[i, 0], ws.da[i, 0], ws.dh[i]
    carried, d_joint = ws.moved, ws.rate
    motion_to_child(ws.R[i], ws.o[i], by.placement[i], dh)
    for e in range(6):
        dh[e] += by.joint[i, e]
    for c in range(first, end):
        for e in range(6):
            dh[e] += ws.S[c, e] * by.displacement[6 + c]
            ws.dS[c, e] = by.subspace[c, e]
    if tree.kind[i] == PRODUCT:
        for b in range(first, end):
            for c in range(b + 1, end):
                add_cross_motion(ws.S[b], ws.S[c], by.displacement[6 + c], ws.dS[b])
    d_joint[:] = 0.0  # d(S r)
    for c in range(first, end):
        r, dr = ws.x[rates + c], by.velocity[6 + c]
        for e in range(6):
            d_joint[e] += ws.dS[c, e] * r + ws.S[c, e] * dr
            da[e] += ws.dS[c, e] * nu_dot[6 + c] + ws.S[c, e] * by.acceleration[6 + c]
    motion_to_child(ws.R[i], ws.o[i], ws.v[p], carried)
    add_cross_motion(carried, dh, 1.0, dv)
    motion_to_child(ws.R[i], ws.o[i], ws.a[p], carried)
    add_cross_motion(carried, dh, 1.0, da)
    for e in range(6):
        d[e] += dh[e]
        dv[e] += d_joint[e]
    add_cross_motion(ws.v[i], d_joint, 1.0, da)
    if tree.kind[i] == PRODUCT:  # d(Sdot r), Sdot r = sum of (S_b x S_c) r_b r_c over b < c
        for b in range(first, end):
            r_b, dr_b = ws.x[rates + b], by.velocity[6 + b]
            for c in range(b + 1, end):
                r_c, dr_c = ws.x[rates + c], by.velocity[6 + c]
                add_cross_motion(ws.dS[b], ws.S[c], r_b * r_c, da)
                add_cross_motion(ws.S[b], ws.dS[c], r_b * r_c, da)
                add_cross_motion(ws.S[b], ws.S[c], dr_b * r_c + r_b * dr_c, da)


@kernel
def vary_external_wrenches(tree: Tree, ws: Workspace, wrenches: Wrenches, by: Direction):
    """Fill ``ws.wrench`` with the derivative of each body's external wrench.

    That of its value, less delta xb* f where it is constant in a frame displaced by delta.
    """
    for i in range(tree.parent.shape[0]):
        ws.wrench[i, :] = 0.0
        ws.touched[i, WRENCH] = 0
    delta, f = ws.rate, ws.moved
    for w in range(wrenches.body.shape[0]):
        i, c = wrenches.body[w], wrenches.point[w]
        add_wrench_value(ws, wrenches, w, by.wrench[w], ws.wrench[i])
        if wrenches.kind[w] != BODY_WRENCH:
            f[:] = 0.0
            add_wrench_value(ws, wrenches, w, wrenches.value[w], f)
            d = ws.d[i, 0]
            for e in range(6):
                delta[e] = d[e]
            if wrenches.kind[w] == WORLD_ORIENTED_WRENCH:
                delta[0] = c[1] * d[5] - c[2] * d[4]
                delta[1] = c[2] * d[3] - c[0] * d[5]
                delta[2] = c[0] * d[4] - c[1] * d[3]
            add_cross_wrench(delta, f, -1.0, ws.wrench[i])
        ws.touched[i, WRENCH] = ws.touched[i, WRENCH] != 0 or nonzero(ws.wrench[i])


@kernel
def vary_wrenches(tree: Tree, ws: Workspace, by: Direction, dtau_out):
    """Fill ``dtau_out``; bodies without any derivative are passed over.

    df_i = dM_i a_i + M_i da_i + dv_i xb* M_i v_i + v_i xb* (dM_i v_i + M_i dv_i) - df_ext,i
           + sum over children of _iX^j (df_j + dh_j xb* f_j)                            (5)
    dtau_i = dS_i' f_i + S_i' df_i                                                       (6)
    """
    nb = tree.parent.shape[0]
    momentum, change = ws.moved, ws.rate
    for i in range(nb):
        df = ws.df[i, 0]
        for e in range(6):
            df[e] = -ws.wrench[i, e]
        heavier = False
        for row in range(6):
            heavier = heavier or nonzero(by.inertia[i, row])
        if ws.touched[i, MOTION] == 0 and not heavier:
            continue
        ws.touched[i, WRENCH] = 1
        momentum[:], change[:] = 0.0, 0.0
        add_matvec(tree.inertia[i], ws.v[i], momentum)
        add_matvec(tree.inertia[i], ws.dv[i, 0], change)
        add_matvec(tree.inertia[i], ws.da[i, 0], df)
        if heavier:
            add_matvec(by.inertia[i], ws.v[i], change)
            add_matvec(by.inertia[i], ws.a[i], df)
        add_cross_wrench(ws.dv[i, 0], momentum, 1.0, df)
        add_cross_wrench(ws.v[i], change, 1.0, df)
    for i in range(nb - 1, 0, -1):
        df, p = ws.df[i, 0], tree.parent[i]
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            dtau_out[6 + c] = 0.0
            if ws.touched[i, WRENCH]:
                dtau_out[6 + c] = dot6(ws.S[c], df) + dot6(ws.dS[c], ws.f[i])
        if ws.touched[i, WRENCH]:
            ws.touched[p, WRENCH] = 1
            add_cross_wrench(ws.dh[i], ws.f[i], 1.0, df)
            add_wrench_to_parent(ws.R[i], ws.o[i], df, ws.df[p, 0])
    for e in range(6):
        dtau_out[e] = ws.df[0, 0, e]


@kernel
def vary_passive_torque(tree: Tree, ws: Workspace, nu_dot, by: Direction, dtau_out):
    """Add the derivative of rotors, damping, smoothed Coulomb friction and springs."""
    n = tree.armature.shape[0]
    rates = ws.x.shape[0] - n
    for c in range(n):
        slope = tree.damping[c]
        if tree.friction[c] != 0.0:
            t = math.tanh(ws.x[rates + c] / tree.friction_speed[c])
            slope += tree.friction[c] / tree.friction_speed[c] * (1.0 - t * t)
        dtau_out[6 + c] += (
            tree.armature[c] * by.acceleration[6 + c]
            + slope * by.velocity[6 + c]
            + tree.stiffness[c] * by.displacement[6 + c]
            + by.armature[c] * nu_dot[6 + c]
            + by.passive[c]
        )


@kernel
def nonzero(vector):
    """Whether an entry of a six-vector is not zero."""
    linear = vector[0] != 0.0 or vector[1] != 0.0 or vector[2] != 0.0
    return linear or vector[3] != 0.0 or vector[4] != 0.0 or vector[5] != 0.0


@kernel
def vary_hybrid_dynamics(
    tree: Tree,
    ws: Workspace,
    x_y,
    gravity,
    wrenches: Wrenches,
    free,
    nu_dot_y,
    tau_y,
    by: Direction,
    dtau_y,
    dnu_dot_out,
    dtau_out,
):
    """Fill the derivatives (6 + n,) of what hybrid dynamics returns; return the status.

    ``by.acceleration`` holds d nu_dot_u and zeros, ``dtau_y`` d tau_v on the independent
    coordinates, as the results; d nu_dot_u is zero among these. ``nu_dot_y`` and ``tau_y`` are
    completed on the way.
    """
    m_y = nu_dot_y.shape[0]
    status = hybrid_dynamics(tree, ws, x_y, gravity, wrenches, free, nu_dot_y, tau_y)
    if status != OK:
        return status
    evaluate(tree, ws, gravity, nu_dot_y, ws.tau_y)
    vary_inverse_dynamics(tree, ws, ws.nu_dot, wrenches, by, ws.tau)
    reduce_force(tree, ws.tau, dtau_out)
    for row in range(m_y):
        ws.tau_y[row] = dtau_y[row] - dtau_out[row]
        if free[row]:
            dtau_out[row] = dtau_y[row]
    respond(tree, ws, free, ws.tau_y, dnu_dot_out, ws.reaction)
    for row in range(m_y):
        if not free[row]:
            dtau_out[row] += ws.reaction[row]
    return OK
