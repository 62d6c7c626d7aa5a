# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Accelerations by forces at rest in O(n): articulated bodies, some velocities prescribed.

The part of [Kim 2012, Tables 3 and 4] without velocities and gravity, solved for one force after
another with the same inertias [Featherstone 2008, section 7.3]. The velocities of a joint are
eliminated one by one, last first, so that any of them may be prescribed; the floating base is a
joint of six, S = 1.
"""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.packing.types import Tree, Workspace
from geolin_ros.kernels.spatial import (
    add_inertia_to_parent,
    add_matvec,
    add_wrench_to_parent,
    dot6,
    motion_to_child,
)
from geolin_ros.kernels.status import OK, SINGULAR

SMALLEST_SHARE = 1e-14  # of a body's inertia that must be left for a free velocity


@kernel
def eliminate_velocities(tree: Tree, ws: Workspace, free):
    """Fill ``ws.U``, ``ws.D``, ``ws.articulated``; needs `place_bodies`; return the status.

    ``free`` (6 + n,) tells which velocities move under forces. From the last velocity c of a body
    to its first, then on to the parent:

        U_c = IA S_c;   D_c = S_c' U_c + armature;   if free: IA -= U_c U_c' / D_c        (1)
        IA_p += _pX^i IA ^iX_p                                                         (2)
    """
    nb = tree.parent.shape[0]
    for i in range(nb):
        ws.articulated[i, :, :] = tree.inertia[i]
    for i in range(nb - 1, 0, -1):
        IA = ws.articulated[i]
        mass, turning = IA[0, 0] + IA[1, 1] + IA[2, 2], IA[3, 3] + IA[4, 4] + IA[5, 5]
        for c in range(tree.v_start[i] + tree.v_size[i] - 1, tree.v_start[i] - 1, -1):
            S, U = ws.S[c], ws.U[6 + c]
            U[:] = 0.0
            add_matvec(IA, S, U)
            D = dot6(S, U) + tree.armature[c]
            if free[6 + c]:
                u2, w2 = S[0] ** 2 + S[1] ** 2 + S[2] ** 2, S[3] ** 2 + S[4] ** 2 + S[5] ** 2
                if not SMALLEST_SHARE * (u2 * mass + w2 * turning) < D:
                    return SINGULAR + 6 + c
                subtract_square(U, D, IA)
            ws.D[6 + c] = D
        add_inertia_to_parent(ws.R[i], ws.o[i], IA, ws.articulated[tree.parent[i]])
    IA = ws.articulated[0]
    mass, turning = IA[0, 0] + IA[1, 1] + IA[2, 2], IA[3, 3] + IA[4, 4] + IA[5, 5]
    for c in range(5, -1, -1):
        for e in range(6):
            ws.U[c, e] = IA[e, c]
        D = IA[c, c]
        if free[c]:
            if not SMALLEST_SHARE * (mass if c < 3 else turning) < D:
                return SINGULAR + c
            subtract_square(ws.U[c], D, IA)
        ws.D[c] = D
    return OK


@kernel
def subtract_square(U, D, IA):
    """IA -= U U' / D."""
    for a in range(6):
        scaled = U[a] / D
        for b in range(6):
            IA[a, b] -= scaled * U[b]


@kernel
def respond_articulated(tree: Tree, ws: Workspace, free, force, nu_dot_out, reaction_out):
    """Fill accelerations and reactions (6 + n,) by ``force`` at rest; needs the pass above.

    Free velocities move, M_vv nu_dot_v = force_v; prescribed ones stay, nu_dot_u = 0, under
    reaction_u = M_uv nu_dot_v (zero where free). Leaves first to root, then root to leaves:

        if free: force_c -= S_c' p,  p += U_c force_c / D_c;   p_p += _pX^i p            (3)
        nu_dot_c = (force_c - U_c' a) / D_c,  a += S_c nu_dot_c                          (4)
        prescribed: reaction_c = S_c' p + U_c' a                                         (5)
    """
    nb = tree.parent.shape[0]
    for i in range(nb):
        ws.f[i, :] = 0.0
    for i in range(nb - 1, 0, -1):
        p = ws.f[i]
        for c in range(tree.v_start[i] + tree.v_size[i] - 1, tree.v_start[i] - 1, -1):
            load = dot6(ws.S[c], p)
            if free[6 + c]:
                ws.force[6 + c] = force[6 + c] - load
                add_scaled(ws.U[6 + c], ws.force[6 + c] / ws.D[6 + c], p)
            else:
                ws.force[6 + c] = load
        add_wrench_to_parent(ws.R[i], ws.o[i], p, ws.f[tree.parent[i]])
    for c in range(5, -1, -1):
        if free[c]:
            ws.force[c] = force[c] - ws.f[0, c]
            add_scaled(ws.U[c], ws.force[c] / ws.D[c], ws.f[0])
        else:
            ws.force[c] = ws.f[0, c]
    ws.a[0, :] = 0.0
    for c in range(6):
        share = dot6(ws.U[c], ws.a[0])
        nu_dot_out[c] = (ws.force[c] - share) / ws.D[c] if free[c] else 0.0
        reaction_out[c] = 0.0 if free[c] else ws.force[c] + share
        ws.a[0, c] += nu_dot_out[c]
    for i in range(1, nb):
        a = ws.a[i]
        motion_to_child(ws.R[i], ws.o[i], ws.a[tree.parent[i]], a)
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            share = dot6(ws.U[6 + c], a)
            if free[6 + c]:
                nu_dot_out[6 + c] = (ws.force[6 + c] - share) / ws.D[6 + c]
                reaction_out[6 + c] = 0.0
                add_scaled(ws.S[c], nu_dot_out[6 + c], a)
            else:
                nu_dot_out[6 + c] = 0.0
                reaction_out[6 + c] = ws.force[6 + c] + share


@kernel
def add_scaled(vector, scale, out):
    """out += scale vector, of six."""
    for e in range(6):
        out[e] += scale * vector[e]
