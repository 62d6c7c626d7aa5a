# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of hybrid dynamics in plain loops, column by column, for one sample or for eight.

With nothing prescribed they are those of `linearization`, whose oracle this is and in whose
docstrings the equations stand; `passes` says what is prescribed, and what one and eight samples
have in common. With everything prescribed they are the derivatives of inverse dynamics, the mass
matrix included.
"""

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.packing import layout as at
from geolin_ros.kernels.packing.layout import DISPLACEMENT_RECORD
from geolin_ros.kernels.plain.passes import (
    axes_begin,
    body,
    displacements,
    hybrid_dynamics,
    is_free,
    last,
    linkage,
    outer,
    parent,
    put_cross,
    times_minus_G,
    work,
)
from geolin_ros.kernels.simd.spatial_vectors import (
    cross_force,
    cross_motion,
    dot,
    minus,
    plus,
    put_six,
    put_strided,
    six,
    strided,
    three,
)
from geolin_ros.kernels.simd.vector import get_int


@lean_kernel
def differentiate(arguments, out):
    """Fill what `passes.hybrid_dynamics` fills, whose arguments these are, and its derivatives.

    ``out`` (6 + n, 3 (6 + n)), flat, rows as in the result: by [H; s; v; r; what is given], joints
    in the order of the bodies.
    """
    ints, floats, _, _, _, ws, _, _, _ = arguments
    moving = hybrid_dynamics(*arguments)
    for i in range(1, ints[at.NB]):
        sources(ints, ws, i, moving)
    base_rows(ints, ws, out, moving)
    respond(ints, ws)
    if moving:
        displace(ints, ws)
    joint_rows(ints, ws, out, moving)
    for j in range(1, ints[at.NB]):
        column(ints, floats, ws, out, j, moving)


@lean_kernel
def fields(ints):
    """Return the offset of the fields; the columns and slots follow."""
    return displacements(ints) + ints[at.NB] * DISPLACEMENT_RECORD


@lean_kernel
def column_record(ints, i):
    """Return the offset of what body i keeps for the columns."""
    return fields(ints) + at.FIELD_PART + i * at.PLAIN_COLUMN


@lean_kernel
def slot(ints, i):
    """Return where body i keeps the accelerations of a column; it has several children."""
    k = get_int(ints, body(i) + at.SLOT)
    return column_record(ints, ints[at.NB]) + k * at.PLAIN_SLOT


@lean_kernel
def end(ints, i):
    """Return one past the last body of the subtree of i."""
    return get_int(ints, body(i) + at.END)


@lean_kernel
def sources(ints, ws, i, moving):
    """Fill the jumps Sdd and 2 Sd, P_s, P_r and, if prescribed, P of its acceleration: IA S.

    The axes of a group joint displace its last body together, as in `linearization.sources`.
    """
    here, above, P = work(i), work(outer(ints, i)), column_record(ints, i) + at.PLAIN_P
    moved = last(ints, i)
    inner = work(moved)
    S, SD = six(ws, here + at.S), six(ws, here + at.SD)
    A = plus(six(ws, above + at.AV), six(ws, above + at.ACC), 1.0)
    jump = plus(cross_motion(A, S), cross_motion(six(ws, above + at.V), SD), 1.0)
    put_six(ws, here + at.SDD, jump)
    rate = plus(SD, SD, 1.0)
    if moved != i or axes_begin(ints, i) != i:
        rate = plus(SD, cross_motion(six(ws, inner + at.V), S), 1.0)
    put_six(ws, here + at.JUMP, rate)
    a, rows = six(ws, inner + at.ACC), inner + at.ROWS
    for e in range(6):
        IA, row = six(ws, rows + 12 * e), rows + 12 * e
        BA = three(ws, row + 8)
        ws[P + e] = dot(IA, jump) + (BA[0] * SD[3] + BA[1] * SD[4] + BA[2] * SD[5])
        ws[P + 6 + e] = dot(IA, rate) + (BA[0] * S[3] + BA[1] * S[4] + BA[2] * S[5])
        ws[P + 12 + e] = 0.0 if is_free(ints, i) else dot(IA, S)
        ws[at.SCRATCH + e] = dot(IA, a) + ws[row + 11]  # wrench through the joint
        if moving:
            N = displacements(ints) + moved * DISPLACEMENT_RECORD + at.N + 8 * e
            ws[P + e] += dot(six(ws, N), S)
    turned_wrench = cross_force(S, strided(ws, at.SCRATCH, 1))
    put_strided(ws, P, 1, plus(strided(ws, P, 1), turned_wrench, 1.0))
    put_strided(ws, P + at.PLAIN_TURNED - at.PLAIN_P, 1, turned_wrench)


@lean_kernel
def base_rows(ints, ws, out, moving):
    """Fill the rows of the base but for the joints' columns, and Fwd_0.

    A displacement of the base leaves the field W = (g; 0) x over, a twist V_0 x: uniform
    accelerations, which a free base follows, -W, and a prescribed one resists, IA_0 W.
    """
    m = ints[at.NB] + 5
    base, F = work(0), fields(ints)
    rows, free = base + at.ROWS, is_free(ints, 0)
    for e in range(at.FIELD_PART):
        ws[F + e] = 0.0
    g, u, w = three(ws, at.UPWARD), three(ws, base + at.V), three(ws, base + at.V + 4)
    put_cross(ws, F + 3, g)
    put_cross(ws, F + 6, w)
    put_cross(ws, F + 9, u)
    put_cross(ws, F + 45, w)
    for e in range(6):
        IA, G, row = six(ws, rows + 12 * e), six(ws, at.G + 8 * e), 3 * m * e
        for c in range(12):
            to = row + c + (0 if c < 6 else m - 6)
            out[to] = -ws[F + 12 * e + c] if free else dot(IA, strided(ws, F + c, 12))
        for c in range(3):
            B = ws[rows + 12 * e + 8 + c]
            if free:
                B = -dot(G, strided(ws, rows + 8 + c, 12))
            out[row + m + 3 + c] += B
            ws[at.SCRATCH + 3 * e + c] = B
        for c in range(6):
            out[row + 2 * m + c] = ws[(at.G + 8 * e if free else rows + 12 * e) + at.AXES[c]]
            if moving:
                N = displacements(ints) + at.N
                fixed = ws[N + 8 * e + at.AXES[c]]
                out[row + c] += -dot(G, strided(ws, N + at.AXES[c], 8)) if free else fixed
    for e in range(6):
        for c in range(6):
            ws[rows + 12 * e + at.AXES[c]] = 1.0 if c == e else 0.0
        for c in range(3):
            ws[rows + 12 * e + 8 + c] = ws[at.SCRATCH + 3 * e + c] if free else 0.0


@lean_kernel
def respond(ints, ws):
    """Fill y and Fwd of every body; of a prescribed joint y is the force, U' Fwd_p + [0 | F']."""
    for i in range(1, ints[at.NB]):
        here, above = work(i), work(parent(ints, i))
        S, Ut, free = six(ws, here + at.S), six(ws, here + at.UT), is_free(ints, i)
        for k in at.RESPONSES:
            fwd = strided(ws, above + at.FWD + k, 12)
            y = dot(Ut, fwd)
            if k >= 8:
                y += ws[here + at.D_INVERSE] * ws[here + at.FU + k - 8]
            ws[here + at.Y + k] = -y if free else y
            put_strided(ws, here + at.FWD + k, 12, minus(fwd, S, y) if free else fwd)


@lean_kernel
def displace(ints, ws):
    """Fill yN and FwdN of every body."""
    blocks = displacements(ints)
    for k in at.AXES:
        N = strided(ws, blocks + at.N + k, 8)
        put_strided(ws, blocks + at.FWDN + k, 8, times_minus_G(ws, N))
    for i in range(1, ints[at.NB]):
        here = blocks + i * DISPLACEMENT_RECORD
        above = blocks + parent(ints, i) * DISPLACEMENT_RECORD
        body, free = work(i), is_free(ints, i)
        for k in at.AXES:
            fwd = strided(ws, above + at.FWDN + k, 8)
            y = ws[here + at.FN + k] * ws[body + at.D_INVERSE] + dot(six(ws, body + at.UT), fwd)
            ws[here + at.YN + k] = -y if free else y
            fwd = minus(fwd, six(ws, body + at.S), y) if free else fwd
            put_strided(ws, here + at.FWDN + k, 8, fwd)


@lean_kernel
def joint_rows(ints, ws, out, moving):
    """Fill the rows of the joints at the columns of the base."""
    m, F = ints[at.NB] + 5, fields(ints)
    free = is_free(ints, 0)
    for i in range(1, ints[at.NB]):
        y, row = six(ws, work(i) + at.Y), (5 + i) * 3 * m
        for c in range(6):
            YN = displacements(ints) + i * DISPLACEMENT_RECORD + at.YN + at.AXES[c]
            if free:
                out[row + c], out[row + m + c] = 0.0, 0.0
                out[row + 2 * m + c] = dot(y, six(ws, at.G + 8 * c))
            else:
                out[row + c] = dot(y, strided(ws, F + c, 12))
                out[row + m + c] = dot(y, strided(ws, F + 6 + c, 12))
                out[row + 2 * m + c] = y[c]
            if moving:
                out[row + c] += ws[YN]
            if c >= 3:
                out[row + m + c] += ws[work(i) + at.Y + 5 + c]


@lean_kernel
def column(ints, floats, ws, out, j, moving):
    """Fill the columns of s_j, r_j and what is given: up the tree, across the base, down.

    A prescribed joint does not yield, so its row holds u + U' a; the column of its own
    acceleration starts with P = IA S and jumps by S.
    """
    nb, m = ints[at.NB], ints[at.NB] + 5
    P = column_record(ints, j) + at.PLAIN_P
    P_s, P_r, P_g = strided(ws, P, 1), strided(ws, P + 6, 1), strided(ws, P + 12, 1)
    i = last(ints, j)
    root, begin = i, axes_begin(ints, i)
    while i > 0:
        here, u = work(i), column_record(ints, i) + at.PLAIN_U
        S, Ut = six(ws, here + at.S), six(ws, here + at.UT)
        u_s, u_r, u_g = dot(S, P_s), dot(S, P_r), dot(S, P_g)
        if i >= begin and i != j:  # an axis that turns with j does not see its wrench turn
            u_s = u_s - dot(S, strided(ws, P + at.PLAIN_TURNED - at.PLAIN_P, 1))
        if i == j:
            link = linkage(j)
            u_s, u_r = u_s + floats[link + at.STIFFNESS], u_r + ws[here + at.SLOPE]
            u_g = u_g + (-1.0 if is_free(ints, j) else floats[link + at.ARMATURE])
        ws[u], ws[u + 1], ws[u + 2] = u_s, u_r, u_g
        if is_free(ints, i):
            P_s, P_r, P_g = minus(P_s, Ut, u_s), minus(P_r, Ut, u_r), minus(P_g, Ut, u_g)
        root, i = i, parent(ints, i)
    b_s, b_r, b_g = times_minus_G(ws, P_s), times_minus_G(ws, P_r), times_minus_G(ws, P_g)
    to = 5 + j
    s, r, g = (b_s, b_r, b_g) if is_free(ints, 0) else (P_s, P_r, P_g)
    for e in range(6):
        put(out, m, e, to, s[e], r[e], g[e])
    for i in range(1, nb):
        if root <= i < end(ints, root):
            continue
        y = six(ws, work(i) + at.Y)
        put(out, m, 5 + i, to, dot(y, b_s), dot(y, b_r), dot(y, b_g))
    own_branch(ints, ws, out, j, root, moving, b_s, b_r, b_g)


@lean_kernel
def own_branch(ints, ws, out, j, root, moving, b_s, b_r, b_g):
    """Fill the rows of the root branch of j, walking down from the base."""
    m, to, moved = ints[at.NB] + 5, 5 + j, last(ints, j)
    SDj, Sj = three(ws, work(j) + at.SD + 4), three(ws, work(j) + at.S + 4)
    a_s, a_r, a_g = b_s, b_r, b_g
    zero = 0.0 * b_s[0]
    for i in range(root, end(ints, root)):
        here, p = work(i), parent(ints, i)
        if 0 < p != i - 1:
            k = slot(ints, p)
            a_s, a_r, a_g = strided(ws, k, 1), strided(ws, k + 6, 1), strided(ws, k + 12, 1)
        u_s, u_r, u_g = zero, zero, zero
        if moved < i < end(ints, moved):
            F = three(ws, here + at.FU)
            u_s = F[0] * SDj[0] + F[1] * SDj[1] + F[2] * SDj[2]
            u_r = F[0] * Sj[0] + F[1] * Sj[1] + F[2] * Sj[2]
            if moving:
                FN = displacements(ints) + i * DISPLACEMENT_RECORD + at.FN
                u_s = u_s + dot(six(ws, FN), six(ws, work(j) + at.S))
        elif i <= moved < end(ints, i):
            u_s, u_r, u_g = three(ws, column_record(ints, i) + at.PLAIN_U)
        inverse, Ut = ws[here + at.D_INVERSE], six(ws, here + at.UT)
        x_s = inverse * u_s + dot(Ut, a_s)
        x_r = inverse * u_r + dot(Ut, a_r)
        x_g = inverse * u_g + dot(Ut, a_g)
        if is_free(ints, i):
            S = six(ws, here + at.S)
            a_s, a_r, a_g = minus(a_s, S, x_s), minus(a_r, S, x_r), minus(a_g, S, x_g)
            x_s, x_r, x_g = -x_s, -x_r, -x_g
        put(out, m, 5 + i, to, x_s, x_r, x_g)
        if i == moved:
            a_s = plus(a_s, six(ws, work(j) + at.SDD), 1.0)
            a_r = plus(a_r, six(ws, work(j) + at.JUMP), 1.0)
            if not is_free(ints, j):
                a_g = plus(a_g, six(ws, work(j) + at.S), 1.0)
        if get_int(ints, body(i) + at.SLOT) >= 0:
            k = slot(ints, i)
            put_strided(ws, k, 1, a_s)
            put_strided(ws, k + 6, 1, a_r)
            put_strided(ws, k + 12, 1, a_g)


@lean_kernel
def put(out, m, row, to, s, r, given):
    """Store a row of the three columns of a joint."""
    out[3 * m * row + to] = s
    out[3 * m * row + m + to] = r
    out[3 * m * row + 2 * m + to] = given
