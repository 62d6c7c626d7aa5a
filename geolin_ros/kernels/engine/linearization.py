# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of a tree of rigid bodies, in one elimination.

The articulated-body recursion [Featherstone 2008, Table 7.1] also solves for the derivatives: the
matrix 2 B of [Singh 2022] is eliminated together with the inertia and the bias force,
ten columns by one projector, and every column of A and B is then one walk up and one walk down the
tree [Bos 2022, Proposition 1, says which entries A and B have].

All vectors are in the frame that coincides with the base now but does not move. No recursion then
holds a transform, and sums over subtrees are plain sums. ``x x y`` is twist on twist, ``x x* f``
twist on wrench, both [linear; angular]; ``ang`` is the angular part.

Arrays are those of `layout`. Nothing is checked here: the caller vouches for sizes. In plain loops
the same is computed by `plain.derivatives`.
"""

from geolin_ros.kernels._jit import inlined_kernel, lean_kernel
from geolin_ros.kernels.packing import layout as at
from geolin_ros.kernels.packing.layout import (
    BLOCK_INTS,
    BLOCK_RECORD,
    DISPLACEMENT_RECORD,
    LANES,
    SLOT_RECORD,
    SMALLEST_SHARE,
    U_ROW,
)
from geolin_ros.kernels.plain.passes import (
    apply_wrenches,
    axes_begin,
    body,
    coordinate,
    linkage,
    outer,
    parent,
    passive_torque,
    times_minus_G,
    work,
)
from geolin_ros.kernels.se3 import is_pose
from geolin_ros.kernels.simd.spatial_vectors import dot, minus, plus
from geolin_ros.kernels.simd.trigonometry import cos_sin_of_eight
from geolin_ros.kernels.simd.vector import (
    even_pairs,
    get,
    get_int,
    high_half,
    high_pairs,
    join,
    lane,
    lane_sum,
    load4,
    load8,
    low_half,
    low_pairs,
    odd_pairs,
    put,
    rotate_up,
    select,
    skew_row_0,
    skew_row_1,
    skew_row_2,
    splat4,
    splat8,
    store4,
    store8,
    store_lanes,
    with_lane,
)
from geolin_ros.kernels.status import NOT_A_STATE, NOT_FINITE, OK, SINGULAR


@lean_kernel
def linearize(ints, floats, x, inputs, ws, out):
    """Fill A and B of the moving reference and nu_dot; return the status.

    Parameters
    ----------
    ints, floats
        The robot, of `layout.Packed`.
    x : (22 + 2 n,)
        [H by rows (16) | s | v | r], joints in the caller's order.
    inputs
        [tau (n) | wrenches], of `layout.make_inputs`; tau in the caller's order.
    ws
        Of `layout.make_workspace`.
    out
        [A (k x k) | B (k x n) | nu_dot (m)] with m = 6 + n, k = 2 m, of `contact_layout`; rows and
        columns [H; s; v; r], joints in the order of the bodies. A fixed base keeps its rows and
        columns and does not accelerate.
    """
    status = reduce_to_base(ints, floats, x, inputs, ws)
    return status if status != OK else expand(ints, x, ws, out)


@lean_kernel
def reduce_to_base(ints, floats, x, inputs, ws):
    """Run the passes up to the motion of the base; return the status."""
    if not is_state(ints, x):
        return NOT_A_STATE
    place(ints, floats, x, inputs, ws)
    return reduce(ints, floats, ws)


@lean_kernel
def is_state(ints, x):
    """Whether the base has a pose and, where it is fixed, no twist."""
    if get_int(ints, at.FLOATING) != 0:
        return is_pose(x)
    v = 16 + get_int(ints, at.NB) - 1
    linear = abs(get(x, v)) + abs(get(x, v + 1)) + abs(get(x, v + 2))
    angular = abs(get(x, v + 3)) + abs(get(x, v + 4)) + abs(get(x, v + 5))
    return is_pose(x) and linear + angular == 0.0


@lean_kernel
def place(ints, floats, x, inputs, ws):
    """Run the passes before any joint is eliminated."""
    turn_joints(ints, floats, x, ws)
    load_joints(ints, floats, x, inputs, ws)
    place_bodies(ints, floats, x, ws)
    move_bodies(ints, floats, x, ws)
    body_rows(ints, floats, ws)
    n = get_int(ints, at.NB) - 1
    put(ws, at.WRENCH_BLOCKS, apply_wrenches(ints, x, inputs, n, ws, displacement(ws, 0)))


@lean_kernel
def reduce(ints, floats, ws):
    """Eliminate the joints; return the status."""
    status = eliminate(ints, floats, ws)
    return status if status != OK else base_solve(ints, ws)


@lean_kernel
def expand(ints, x, ws, out):
    """Run the passes from the motion of the base to the end; return the status."""
    accelerate(ints, ws)
    respond(ints, ws)
    if get(ws, at.WRENCH_BLOCKS) != 0.0:
        displace(ints, ws)
    for block in range(get_int(ints, at.BLOCKS)):
        columns(ints, ws, out, block)
    return closed_forms(ints, x, ws, out)


# --- places in the arrays ---------------------------------------------------------------------


@lean_kernel
def column_lane(ints, ws, j):
    """Return the lane of column j in the first row of its block."""
    return int(get(ws, at.BLOCK_PART)) + get_int(ints, body(j) + at.LANE)


@lean_kernel
def stiffness(ints, ws, i, j):
    """Return where the slope of the effort of joint i by s_j is, both of the same block."""
    row = get_int(ints, body(i) + at.LANE) % BLOCK_RECORD
    return column_lane(ints, ws, j) + at.STIFFNESS_ROWS + LANES * row


@lean_kernel
def displacement(ws, i):
    """Return the offset of the displacement record of body i."""
    return int(get(ws, at.DISPLACEMENTS)) + i * DISPLACEMENT_RECORD


# --- algebra ----------------------------------------------------------------------------------


@lean_kernel
def cross(a, b):
    """Return a x b of the first three of four lanes."""
    return rotate_up(a * rotate_up(b) - rotate_up(a) * b)


@lean_kernel
def three(array, k, stride):
    """Return three numbers, ``stride`` apart."""
    return get(array, k), get(array, k + stride), get(array, k + 2 * stride)


@lean_kernel
def entries(array, k):
    """Return the six entries of a spatial vector."""
    return three(array, k, 1) + three(array, k + 4, 1)


@lean_kernel
def spatial(v):
    """Return the six entries of a spatial vector in eight lanes."""
    return lane(v, 0), lane(v, 1), lane(v, 2), lane(v, 4), lane(v, 5), lane(v, 6)


@lean_kernel
def skew_rows(h):
    """Return the rows of h^."""
    minus_h = splat4(0.0) - h
    return skew_row_0(h, minus_h), skew_row_1(h, minus_h), skew_row_2(h, minus_h)


@lean_kernel
def rows8(array, k, stride):
    """Return six vectors of eight lanes, ``stride`` apart."""
    a, b, c = load8(array, k), load8(array, k + stride), load8(array, k + 2 * stride)
    k += 3 * stride
    return a, b, c, load8(array, k), load8(array, k + stride), load8(array, k + 2 * stride)


@lean_kernel
def rows4(array, k, stride):
    """Return six vectors of four lanes, ``stride`` apart."""
    a, b, c = load4(array, k), load4(array, k + stride), load4(array, k + 2 * stride)
    k += 3 * stride
    return a, b, c, load4(array, k), load4(array, k + stride), load4(array, k + 2 * stride)


# --- passes over the bodies -------------------------------------------------------------------


@lean_kernel
def turn_joints(ints, floats, x, ws):
    """Fill sine and cosine of every joint, eight joints at a time."""
    nb, cosines = get_int(ints, at.NB), int(get(ws, at.TURN_PART))
    for first in range(1, nb, LANES):
        low, high = four_angles(ints, floats, x, first), four_angles(ints, floats, x, first + 4)
        cos, sin = cos_sin_of_eight(join(low, high))
        store8(ws, cosines + first, cos)
        store8(ws, cosines + nb + LANES + first, sin)


@lean_kernel
def four_angles(ints, floats, x, i):
    """Return by how much joints i .. i+3 turn; beyond the last joint that of the last."""
    two = with_lane(splat4(angle(ints, floats, x, i)), 1, angle(ints, floats, x, i + 1))
    three = with_lane(two, 2, angle(ints, floats, x, i + 2))
    return with_lane(three, 3, angle(ints, floats, x, i + 3))


@lean_kernel
def angle(ints, floats, x, i):
    """Return by how much joint i turns, or the last one."""
    i = min(i, get_int(ints, at.NB) - 1)
    return get(floats, linkage(i) + at.BETA) * get(x, 16 + coordinate(ints, i))


@lean_kernel
def load_joints(ints, floats, x, inputs, ws):
    """Fill the net effort of every joint, and the slopes of its passive torque.

    passive torque = d r + f tanh(r / r_0) + k (s - rest)      (1)
    """
    n = get_int(ints, at.NB) - 1
    for i in range(1, n + 1):
        link, c = linkage(i), coordinate(ints, i)
        torque, slope = passive_torque(floats, link, get(x, 16 + c), get(x, 22 + n + c))
        put(ws, work(i) + at.EFFORT, get(inputs, c) - torque)
        put(ws, stiffness(ints, ws, i, i), get(floats, link + at.STIFFNESS))
        put(ws, column_lane(ints, ws, i) + at.SLOPE_LANES, slope)


@lean_kernel
def place_bodies(ints, floats, x, ws):
    """Fill poses and S of every body, parents first.

    With the joint axis along z one formula serves revolute (alpha, beta) = (0, 1), prismatic
    (1, 0) and helical (pitch, 1) joints:

        axes (c Ex + s Ey, c Ey - s Ex, Ez), c = cos(beta s), s = sin(beta s)   (1)
        origin T + alpha s Ez                                                   (2)
        S = (beta o x z + alpha z; beta z)                                      (3)
    """
    n = get_int(ints, at.NB) - 1
    zero = splat4(0.0)
    base = work(0)
    store4(ws, base + at.POSE, with_lane(zero, 0, 1.0))
    store4(ws, base + at.POSE + 4, with_lane(zero, 1, 1.0))
    store4(ws, base + at.POSE + 8, with_lane(zero, 2, 1.0))
    store4(ws, base + at.POSE + 12, zero)
    order, cosines = get_int(ints, at.ORDER), int(get(ws, at.TURN_PART))
    for k in range(order, order + n):
        i = get_int(ints, k)
        here, link = work(i), linkage(i)
        above = work(parent(ints, i)) + at.POSE
        px, py, pz = load4(ws, above), load4(ws, above + 4), load4(ws, above + 8)
        cos, sin = get(ws, cosines + i), get(ws, cosines + n + 1 + LANES + i)
        ex = turned(px, py, pz, floats, link + at.EX)
        ey = turned(px, py, pz, floats, link + at.EY)
        z = turned(px, py, pz, floats, link + at.EZ)
        alpha, beta = get(floats, link + at.ALPHA), get(floats, link + at.BETA)
        s = get(x, 16 + coordinate(ints, i))
        o = load4(ws, above + 12) + turned(px, py, pz, floats, link + at.T) + (alpha * s) * z
        store4(ws, here + at.POSE, cos * ex + sin * ey)
        store4(ws, here + at.POSE + 4, cos * ey - sin * ex)
        store4(ws, here + at.POSE + 8, z)
        store4(ws, here + at.POSE + 12, o)
        store4(ws, here + at.S, beta * cross(o, z) + alpha * z)
        store4(ws, here + at.S + 4, beta * z)


@lean_kernel
def move_bodies(ints, floats, x, ws):
    """Fill Sd, V and AV of every body, parents first.

        Sd = V_o x S;   V = V_p + S r;   AV = AV_p + Sd r                       (1)

    with V_0 the twist of the base, AV_0 = (minus gravity; 0), and o the body that the joint moves
    it against: the parent p unless that is another axis of the same group joint.
    """
    n = get_int(ints, at.NB) - 1
    zero, base = splat4(0.0), work(0)
    g = (
        splat4(get(floats, at.GRAVITY)) * load4(x, 0)
        + splat4(get(floats, at.GRAVITY + 1)) * load4(x, 4)
        + splat4(get(floats, at.GRAVITY + 2)) * load4(x, 8)
    )
    up = with_lane(zero - g, 3, 0.0)
    store4(ws, at.UPWARD, up)
    store4(ws, base + at.V, with_lane(load4(x, 16 + n), 3, 0.0))
    store4(ws, base + at.V + 4, with_lane(load4(x, 19 + n), 3, 0.0))
    store4(ws, base + at.AV, up)
    store4(ws, base + at.AV + 4, zero)
    order = get_int(ints, at.ORDER)
    for k in range(order, order + n):
        i = get_int(ints, k)
        here, above = work(i), work(parent(ints, i))
        r = get(x, 22 + n + coordinate(ints, i))
        before = work(outer(ints, i))
        u, w = load4(ws, before + at.V), load4(ws, before + at.V + 4)
        S_lin, S_ang = load4(ws, here + at.S), load4(ws, here + at.S + 4)
        Sd_lin, Sd_ang = cross(w, S_lin) + cross(u, S_ang), cross(w, S_ang)
        store4(ws, here + at.SD, Sd_lin)
        store4(ws, here + at.SD + 4, Sd_ang)
        store4(ws, here + at.V, load4(ws, above + at.V) + r * S_lin)
        store4(ws, here + at.V + 4, load4(ws, above + at.V + 4) + r * S_ang)
        store4(ws, here + at.AV, load4(ws, above + at.AV) + r * Sd_lin)
        store4(ws, here + at.AV + 4, load4(ws, above + at.AV + 4) + r * Sd_ang)


@lean_kernel
def turned(px, py, pz, array, k):
    """Return the vector with three coordinates at ``k`` along the axes px, py, pz."""
    return get(array, k) * px + get(array, k + 1) * py + get(array, k + 2) * pz


@lean_kernel
def body_rows(ints, floats, ws):
    """Fill the rows [I | 2 B | f] of every body, about the base origin.

    Mass m, h = m c, Ibar = R Ic R' + m (c'c 1 - c c'), twist V = (u; w), momentum (p; l) = I V:

        I = [[m 1, -h^], [h^, Ibar]]                                                     (1)
        2 B = [[0, -2 p^], [0, Sigma - l^]]                                              (2)
        Sigma = w^ Ibar + (w^ Ibar)' - (h u' + u h') + 2 (u'h) 1                         (3)
        f = I AV + V x* (p; l)                                                           (4)

    2 B X = X x* (I V) + V x* (I X) - I (V x X) for any twist X [Singh 2022]; the
    linear part of X drops out, so only three columns are kept.
    """
    for i in range(get_int(ints, at.NB)):
        here, link = work(i), linkage(i)
        pose, rows = here + at.POSE, here + at.ROWS
        m = get(floats, link + at.MASS)
        x, y, z = load4(ws, pose), load4(ws, pose + 4), load4(ws, pose + 8)
        c = load4(ws, pose + 12) + turned(x, y, z, floats, link + at.COM)
        h, zero = m * c, splat4(0.0)
        M = with_lane(zero, 0, m), with_lane(zero, 1, m), with_lane(zero, 2, m)
        I0, I1, I2 = inertia_about_base(floats, link, x, y, z, c, h)
        put(ws, here + at.CARRIED_MASS, m)
        put(ws, here + at.CARRIED_TRACE, lane(I0, 0) + lane(I1, 1) + lane(I2, 2))
        u, w = load4(ws, here + at.V), load4(ws, here + at.V + 4)
        a, b = load4(ws, here + at.AV), load4(ws, here + at.AV + 4)
        u0, u1, u2 = lane(u, 0), lane(u, 1), lane(u, 2)
        w0, w1, w2 = lane(w, 0), lane(w, 1), lane(w, 2)
        p = m * u + cross(w, h)
        q = cross(h, u) + (w0 * I0 + w1 * I1 + w2 * I2)
        f = m * a + (cross(b, h) + cross(w, p))
        t = (cross(h, a) + cross(u, p)) + (
            cross(w, q) + (lane(b, 0) * I0 + lane(b, 1) * I1 + lane(b, 2) * I2)
        )
        h0, h1, h2 = lane(h, 0), lane(h, 1), lane(h, 2)
        uh = 2.0 * (u0 * h0 + u1 * h1 + u2 * h2)
        J0 = cross(w, I0) + (w1 * I2 - w2 * I1) + (with_lane(zero, 0, uh) - u0 * h - h0 * u)
        J1 = cross(w, I1) + (w2 * I0 - w0 * I2) + (with_lane(zero, 1, uh) - u1 * h - h1 * u)
        J2 = cross(w, I2) + (w0 * I1 - w1 * I0) + (with_lane(zero, 2, uh) - u2 * h - h2 * u)
        H, minus_H, minus_Q = skew_rows(h), skew_rows(zero - h), skew_rows(zero - q)
        minus_P, Ibar, J = skew_rows(-2.0 * p), (I0, I1, I2), (J0, J1, J2)
        F, T = (lane(f, 0), lane(f, 1), lane(f, 2)), (lane(t, 0), lane(t, 1), lane(t, 2))
        for e in range(3):
            row, other = rows + 12 * e, rows + 36 + 12 * e
            store4(ws, row, M[e])
            store4(ws, row + 4, minus_H[e])
            store4(ws, row + 8, with_lane(minus_P[e], 3, F[e]))
            store4(ws, other, H[e])
            store4(ws, other + 4, Ibar[e])
            store4(ws, other + 8, with_lane(J[e] + minus_Q[e], 3, T[e]))


@inlined_kernel
def inertia_about_base(floats, link, x, y, z, c, h):
    """Return the columns of Ibar = R Ic R' + c'h 1 - c h' of a body with axes x, y, z."""
    I0, I1, I2 = central_inertia(floats, link, x, y, z)
    h0, h1, h2, zero = lane(h, 0), lane(h, 1), lane(h, 2), splat4(0.0)
    hc = h0 * lane(c, 0) + h1 * lane(c, 1) + h2 * lane(c, 2)
    return (
        I0 + (with_lane(zero, 0, hc) - h0 * c),
        I1 + (with_lane(zero, 1, hc) - h1 * c),
        I2 + (with_lane(zero, 2, hc) - h2 * c),
    )


@inlined_kernel
def central_inertia(floats, link, x, y, z):
    """Return the columns of R Ic R'."""
    wx = turned(x, y, z, floats, link + at.ICX)  # columns of R Ic
    wy = turned(x, y, z, floats, link + at.ICY)
    wz = turned(x, y, z, floats, link + at.ICZ)
    return (
        lane(x, 0) * wx + lane(y, 0) * wy + lane(z, 0) * wz,
        lane(x, 1) * wx + lane(y, 1) * wy + lane(z, 1) * wz,
        lane(x, 2) * wx + lane(y, 2) * wy + lane(z, 2) * wz,
    )


@lean_kernel
def eliminate(ints, floats, ws):
    """Project every joint out of the rows of its parent, children first; return the status.

    Rows accumulate over the children to [IA | BA | pA]:

        [U' | F' | u] = S' [IA | BA | pA] - [0 | 0 | tau]                        (1)
        D = U' S + armature;   Ut = U / D                                        (2)
        Rows_p += Rows - Ut [U' | F' | u]                                        (3)

    D is compared with an upper
    bound of the inertia of the subtree about the joint, 2 m |S_lin|^2 + tr(Ibar) |S_ang|^2.
    """
    n = get_int(ints, at.NB) - 1
    order = get_int(ints, at.ORDER)
    wrenches = get(ws, at.WRENCH_BLOCKS) != 0.0
    for k in range(order + n - 1, order - 1, -1):
        i = get_int(ints, k)
        p = parent(ints, i)
        here, above = work(i), work(p)
        r8, r4 = rows8(ws, here + at.ROWS, 12), rows4(ws, here + at.ROWS + 8, 12)
        S = entries(ws, here + at.S)
        U, Fu = dot(S, r8), dot(S, r4)
        Fu = with_lane(Fu, 3, lane(Fu, 3) - get(ws, here + at.EFFORT))
        D = lane_sum(U * load8(ws, here + at.S)) + get(floats, linkage(i) + at.BALLASTED)
        mass, trace = get(ws, here + at.CARRIED_MASS), get(ws, here + at.CARRIED_TRACE)
        bound = 2.0 * mass * (S[0] * S[0] + S[1] * S[1] + S[2] * S[2])
        bound += trace * (S[3] * S[3] + S[4] * S[4] + S[5] * S[5])
        if not D - SMALLEST_SHARE * bound > 0.0:  # NaN too
            return SINGULAR + 6 + coordinate(ints, i)
        put(ws, above + at.CARRIED_MASS, get(ws, above + at.CARRIED_MASS) + mass)
        put(ws, above + at.CARRIED_TRACE, get(ws, above + at.CARRIED_TRACE) + trace)
        inverse = 1.0 / D
        store8(ws, here + at.UT, inverse * U)
        store4(ws, here + at.FU, Fu)
        put(ws, here + at.D_INVERSE, inverse)
        Ut = entries(ws, here + at.UT)
        r8, r4 = minus(r8, Ut, U), minus(r4, Ut, Fu)
        for e in range(6):
            row = above + at.ROWS + 12 * e
            store8(ws, row, load8(ws, row) + r8[e])
            store4(ws, row + 8, load4(ws, row + 8) + r4[e])
        if wrenches:
            eliminate_displacements(ws, S, Ut, displacement(ws, i), displacement(ws, p))
    return OK


@lean_kernel
def put_rows8(ws, k, stride, r):
    """Store six vectors of eight lanes, ``stride`` apart."""
    for e in range(6):
        store8(ws, k + e * stride, r[e])


@lean_kernel
def put_rows4(ws, k, stride, r):
    """Store six vectors of four lanes, ``stride`` apart."""
    for e in range(6):
        store4(ws, k + e * stride, r[e])


@lean_kernel
def eliminate_displacements(ws, S, Ut, here, above):
    """Project the wrenches N of a displacement alike: FN = S' N, N_p += N - Ut FN."""
    N = rows8(ws, here + at.N, 8)
    FN = dot(S, N)
    store8(ws, here + at.FN, FN)
    put_rows8(ws, above + at.N, 8, plus(rows8(ws, above + at.N, 8), minus(N, Ut, FN), 1.0))


@lean_kernel
def base_solve(ints, ws):
    """Fill G = IA_0^-1 and Fwd_0 = [1 | -G BA_0 | -G pA_0]; return the status.

    G by six exchange steps in place (Gauss-Jordan without pivoting: IA_0 is positive definite).
    A fixed base has G = 0.
    """
    base = work(0)
    rows, zero, one = base + at.ROWS, splat8(0.0), splat8(1.0)
    if get_int(ints, at.FLOATING) != 0:
        put_rows8(ws, at.G, 8, rows8(ws, rows, 12))
        for k in range(6):
            axis = at.AXES[k]
            pivot = get(ws, at.G + 8 * k + axis)
            total = get(ws, base + (at.CARRIED_MASS if k < 3 else at.CARRIED_TRACE))
            if not pivot - SMALLEST_SHARE * total > 0.0:
                return SINGULAR + k
            row = select(1 << axis, one, load8(ws, at.G + 8 * k)) * (1.0 / pivot)
            store8(ws, at.G + 8 * k, row)
            for e in range(6):
                if e != k:
                    factor, other = get(ws, at.G + 8 * e + axis), load8(ws, at.G + 8 * e)
                    store8(ws, at.G + 8 * e, select(1 << axis, zero, other) - factor * row)
    put_rows4(ws, rows + 8, 12, times_minus_G(ws, rows4(ws, rows + 8, 12)))
    for e in range(6):
        store8(ws, rows + 12 * e, select(1 << at.AXES[e], one, zero))
    store8(ws, base + at.ACC, bias_columns(ws, rows + 8)[3])
    return OK


@lean_kernel
def accelerate(ints, ws):
    """Fill the acceleration of every body, parents first, and `sources`."""
    order = get_int(ints, at.ORDER)
    for k in range(order, order + get_int(ints, at.NB) - 1):
        i = get_int(ints, k)
        here, above = work(i), work(parent(ints, i))
        accelerate_joint(ws, here, above)
        for j in range(axes_begin(ints, i), i + 1):
            sources(ints, ws, i, j)


@lean_kernel
def accelerate_joint(ws, here, above):
    """Fill the acceleration a, without AV, of a body; return that of its joint.

    qdd = -(u / D + Ut' a_p);     a = a_p + S qdd      (1)
    """
    a = load8(ws, above + at.ACC)
    u = get(ws, here + at.D_INVERSE) * get(ws, here + at.FU + 3)
    minus_qdd = u + lane_sum(load8(ws, here + at.UT) * a)
    store8(ws, here + at.ACC, a - minus_qdd * load8(ws, here + at.S))
    return -minus_qdd


@lean_kernel
def respond(ints, ws):
    """Fill y and Fwd of every body, parents first: responses to the motion of the base.

        y = -[0 | F' | u] / D - Ut' Fwd_p;     Fwd = Fwd_p + S y             (1)

    Columns 1 to 6 of y are the joint's response to an acceleration of the base: all that acts on
    a joint of another root branch. Columns 7 to 9 answer the angular twist of the base, the last
    one is the joint acceleration.
    """
    order = get_int(ints, at.ORDER)
    for k in range(order, order + get_int(ints, at.NB) - 1):
        i = get_int(ints, k)
        here, above = work(i), work(parent(ints, i))
        f8, f4 = rows8(ws, above + at.FWD, 12), rows4(ws, above + at.FWD + 8, 12)
        S, Ut = entries(ws, here + at.S), entries(ws, here + at.UT)
        y8 = -1.0 * dot(Ut, f8)
        y4 = -1.0 * (get(ws, here + at.D_INVERSE) * load4(ws, here + at.FU) + dot(Ut, f4))
        store8(ws, here + at.Y, y8)
        store4(ws, here + at.Y + 8, y4)
        put_rows8(ws, here + at.FWD, 12, plus(f8, S, y8))
        put_rows4(ws, here + at.FWD + 8, 12, plus(f4, S, y4))


@lean_kernel
def sources(ints, ws, i, j):
    """Fill the sources of the columns of s_j and r_j and the jumps Sdd, 2 Sd.

    Joint j moves body i, against body o, by one axis or together with others; f^C is the wrench
    through it:

        Sdd = (AV_o + a_o) x S + V_o x Sd;     f^C = IA a + pA                   (1)
        2 Sd = (V_o + V_i) x S, twice V_o x S for a single axis                  (2)
        P_s = BA ang(Sd) + IA Sdd + S x* f^C;  P_r = BA ang(S) + IA 2 Sd         (3)

    S x* f^C turns the wrench for the bodies before the joint alone. Axes k that displace with j
    do not turn it, as if by a stiffness -S_k' (S_j x* f^C).
    """
    here, inner, above = work(j), work(i), work(outer(ints, j))
    Sl, Sa = load4(ws, here + at.S), load4(ws, here + at.S + 4)
    Sdl, Sda = load4(ws, here + at.SD), load4(ws, here + at.SD + 4)
    A = load8(ws, above + at.AV) + load8(ws, above + at.ACC)
    b, d = low_half(A), high_half(A)
    u, w = load4(ws, above + at.V), load4(ws, above + at.V + 4)
    jump = join(
        cross(d, Sl) + cross(b, Sa) + (cross(w, Sdl) + cross(u, Sda)), cross(d, Sa) + cross(w, Sda)
    )
    store8(ws, here + at.SDD, jump)
    store8(ws, here + at.JUMP, 2.0 * join(Sdl, Sda))
    begin = axes_begin(ints, i)
    if begin < i:
        u, w = u + load4(ws, inner + at.V), w + load4(ws, inner + at.V + 4)
        store8(ws, here + at.JUMP, join(cross(w, Sl) + cross(u, Sa), cross(w, Sa)))
    IA = rows8(ws, inner + at.ROWS, 12)
    B0, B1, B2, pA = bias_columns(ws, inner + at.ROWS + 8)
    fC = dot(entries(ws, inner + at.ACC), IA) + pA
    f, t = low_half(fC), high_half(fC)
    turned_wrench = join(cross(Sa, f), cross(Sl, f) + cross(Sa, t))
    s0, s1, s2 = lane(Sa, 0), lane(Sa, 1), lane(Sa, 2)
    d0, d1, d2 = lane(Sda, 0), lane(Sda, 1), lane(Sda, 2)
    P_s = dot(entries(ws, here + at.SDD), IA) + (d0 * B0 + d1 * B1 + d2 * B2) + turned_wrench
    P_r = dot(entries(ws, here + at.JUMP), IA) + (s0 * B0 + s1 * B1 + s2 * B2)
    if begin < i:
        for k in range(begin, i + 1):
            if k != j:
                turned = lane_sum(load8(ws, work(k) + at.S) * turned_wrench)
                put(ws, stiffness(ints, ws, k, j), -turned)
    if get(ws, at.WRENCH_BLOCKS) != 0.0:
        N = displacement(ws, i) + at.N
        P_s = P_s + times_rows(ws, N, load8(ws, here + at.S))
    store8(ws, here + at.P_S, P_s)
    store8(ws, here + at.P_R, P_r)


@lean_kernel
def bias_columns(ws, k):
    """Return the four columns of [BA | pA] as spatial vectors: rows of four, 12 apart, at k."""
    return transposed(
        join(load4(ws, k), load4(ws, k + 36)),
        join(load4(ws, k + 12), load4(ws, k + 48)),
        join(load4(ws, k + 24), load4(ws, k + 60)),
        splat8(0.0),
    )


@lean_kernel
def transposed(r0, r1, r2, r3):
    """Return the columns of the two 4 x 4 matrices in the halves of four rows."""
    e0, o0, e1, o1 = even_pairs(r0, r1), odd_pairs(r0, r1), even_pairs(r2, r3), odd_pairs(r2, r3)
    return low_pairs(e0, e1), low_pairs(o0, o1), high_pairs(e0, e1), high_pairs(o0, o1)


@lean_kernel
def three_lanes(ints, ws, first, k):
    """Return three doubles at ``k`` of the bodies first .. first+7, one a lane.

    Lanes beyond the last body are those of the last body.
    """
    n = get_int(ints, at.NB) - 1
    x, y, z, _ = transposed(
        join(load4(ws, work(first) + k), load4(ws, work(min(first + 4, n)) + k)),
        join(load4(ws, work(min(first + 1, n)) + k), load4(ws, work(min(first + 5, n)) + k)),
        join(load4(ws, work(min(first + 2, n)) + k), load4(ws, work(min(first + 6, n)) + k)),
        join(load4(ws, work(min(first + 3, n)) + k), load4(ws, work(min(first + 7, n)) + k)),
    )
    return x, y, z


@lean_kernel
def six_lanes(ints, ws, first, k):
    """Return the spatial vectors at ``k`` alike."""
    return three_lanes(ints, ws, first, k) + three_lanes(ints, ws, first, k + at.ANGULAR)


@lean_kernel
def times_rows(array, k, v):
    """Return six rows of eight lanes at ``k`` times v, a spatial vector."""
    r = rows8(array, k, 8)
    product = with_lane(splat8(0.0), 0, lane_sum(r[0] * v))
    product = with_lane(with_lane(product, 1, lane_sum(r[1] * v)), 2, lane_sum(r[2] * v))
    product = with_lane(with_lane(product, 4, lane_sum(r[3] * v)), 5, lane_sum(r[4] * v))
    return with_lane(product, 6, lane_sum(r[5] * v))


@lean_kernel
def displace(ints, ws):
    """Fill yN and FwdN of every body: the response to a displacement of the base.

    FwdN_0 = -G N_0;   yN = -FN / D - Ut' FwdN_p;   FwdN = FwdN_p + S yN      (1)

    Only wrenches that do not move with their link respond to it.
    """
    base = displacement(ws, 0)
    put_rows8(ws, base + at.FWDN, 8, times_minus_G(ws, rows8(ws, base + at.N, 8)))
    order = get_int(ints, at.ORDER)
    for k in range(order, order + get_int(ints, at.NB) - 1):
        i = get_int(ints, k)
        here, above = displacement(ws, i), displacement(ws, parent(ints, i))
        S, Ut = entries(ws, work(i) + at.S), entries(ws, work(i) + at.UT)
        fwd = rows8(ws, above + at.FWDN, 8)
        inverse = get(ws, work(i) + at.D_INVERSE)
        y = -1.0 * (inverse * load8(ws, here + at.FN) + dot(Ut, fwd))
        store8(ws, here + at.YN, y)
        put_rows8(ws, here + at.FWDN, 8, plus(fwd, S, y))


# --- columns of s, r and tau, eight at a time -------------------------------------------------


@lean_kernel
def columns(ints, ws, out, block):
    """Fill the columns of s_j, r_j and tau_j for the bodies j of a block, one a lane."""
    n = get_int(ints, at.NB) - 1
    table = get_int(ints, at.BLOCK_TABLE) + block * BLOCK_INTS
    first, count = get_int(ints, table + at.FIRST), get_int(ints, table + at.COUNT)
    begin, end = get_int(ints, table + at.BLOCK_BEGIN), get_int(ints, table + at.BLOCK_END)
    source = int(get(ws, at.BLOCK_PART)) + block * BLOCK_RECORD
    relation = get_int(ints, at.RELATIONS) + block
    base_s, base_r, base_t = rise(ints, ws, source, relation, first, count, begin)
    for e in range(6):
        put_columns(out, n, e, first, count, base_s[e], base_r[e], base_t[e])
    other_branches(ws, out, n, 1, begin, first, count, base_s, base_r, base_t)
    other_branches(ws, out, n, end, n + 1, first, count, base_s, base_r, base_t)
    own_branch(ints, ws, out, relation, block, base_s, base_r, base_t)


@inlined_kernel
def rise(ints, ws, source, relation, first, count, begin):
    """Walk up from the bodies j of a block to the base; return their base rows of A and B.

    On the path of j, from j itself on, with right-hand sides (s, r, tau) that start as
    (P_s, P_r, 0) and passive torques of slopes k and d at the joint itself:

        u_ij = S_i' P + (k, d, -1) [i = j];    P <- P - Ut_i u_ij                (1)
        base rows = -G P                                                         (2)

    The path begins at the last axis of a joint with several ones, whose k is a matrix.
    """
    blocks = get_int(ints, at.BLOCKS)
    table = int(get(ws, at.COLUMN_PART))
    zero = splat8(0.0)
    P_s, P_r = six_lanes(ints, ws, first, at.P_S), six_lanes(ints, ws, first, at.P_R)
    P_t = (zero, zero, zero, zero, zero, zero)
    slope = load8(ws, source + at.SLOPE_LANES)
    for i in range(first + count - 1, begin - 1, -1):
        u = table + i * U_ROW
        related = get_int(ints, relation + i * blocks)
        above = related & 255  # lanes that i supports
        if above == 0:
            if related != 0:
                store8(ws, u, zero)
                store8(ws, u + 8, zero)
                store8(ws, u + 16, zero)
            continue
        here = work(i)
        S, Ut = entries(ws, here + at.S), entries(ws, here + at.UT)
        own, row = 0, source + at.NO_STIFFNESS
        if i >= first:
            own, row = 1 << (i - first), source + at.STIFFNESS_ROWS + LANES * (i - first)
        u_s = select(above, dot(S, P_s) + load8(ws, row), zero)
        u_r = select(above, dot(S, P_r) + select(own, slope, zero), zero)
        u_t = select(above, dot(S, P_t) - select(own, splat8(1.0), zero), zero)
        P_s, P_r, P_t = minus(P_s, Ut, u_s), minus(P_r, Ut, u_r), minus(P_t, Ut, u_t)
        store8(ws, u, u_s)
        store8(ws, u + 8, u_r)
        store8(ws, u + 16, u_t)
    return times_minus_G(ws, P_s), times_minus_G(ws, P_r), times_minus_G(ws, P_t)


@lean_kernel
def other_branches(ws, out, n, begin, end, first, count, base_s, base_r, base_t):
    """Fill the rows of the bodies begin .. end-1 of other root branches.

    Column j acts on them through the acceleration of the base alone: x_i = y_i[:6]' (base rows).
    """
    for i in range(begin, end):
        y = entries(ws, work(i) + at.Y)
        put_columns(out, n, 5 + i, first, count, dot(y, base_s), dot(y, base_r), dot(y, base_t))


@inlined_kernel
def own_branch(ints, ws, out, relation, block, base_s, base_r, base_t):
    """Fill the rows of the root branches of a block, walking down from the base.

    The acceleration a of column j starts as its base rows; below j it holds the jump, an
    acceleration that all bodies there share:

        x_i = -u_ij / D_i - Ut_i' a_p;   a_i = a_p + S_i x_i + [i = j] (Sdd_j, 2 Sd_j, 0)   (1)
        u_ij = F_i' (ang Sd_j, ang S_j, 0) for i strictly below j, else that of `rise`        (2)

    (2) is closed because below j the motion is that of a rigid displacement, for which BA already
    holds the sum over the subtree. u_ij = 0 where i and j do not support each other.
    """
    n, blocks = get_int(ints, at.NB) - 1, get_int(ints, at.BLOCKS)
    table = get_int(ints, at.BLOCK_TABLE) + block * BLOCK_INTS
    first, count = get_int(ints, table + at.FIRST), get_int(ints, table + at.COUNT)
    begin, end = get_int(ints, table + at.BLOCK_BEGIN), get_int(ints, table + at.BLOCK_END)
    us, slots = int(get(ws, at.COLUMN_PART)), int(get(ws, at.SLOT_PART))
    wrenches = get(ws, at.WRENCH_BLOCKS) != 0.0
    zero = splat8(0.0)
    t0, t1, t2 = three_lanes(ints, ws, first, at.S + at.ANGULAR)
    d0, d1, d2 = three_lanes(ints, ws, first, at.SD + at.ANGULAR)
    i = begin
    while i < end:
        p = parent(ints, i)
        a_s, a_r, a_t = base_s, base_r, base_t
        if p != 0:
            slot = slots + get_int(ints, body(p) + at.SLOT) * SLOT_RECORD
            a_s, a_r, a_t = rows8(ws, slot, 8), rows8(ws, slot + 48, 8), rows8(ws, slot + 96, 8)
        goes_on = True
        while goes_on:  # along a chain a stays in registers
            here = work(i)
            related = get_int(ints, relation + i * blocks)
            u_s, u_r, u_t = zero, zero, zero
            if related != 0:
                below = related >> 8  # lanes that support i
                f = here + at.FU
                F0, F1, F2 = get(ws, f), get(ws, f + 1), get(ws, f + 2)
                u_s = select(below, F0 * d0 + F1 * d1 + F2 * d2, zero)
                u_r = select(below, F0 * t0 + F1 * t1 + F2 * t2, zero)
                if wrenches:
                    FN = entries(ws, displacement(ws, i) + at.FN)
                    S_lanes = six_lanes(ints, ws, first, at.S)
                    u_s = u_s + select(below, dot(FN, S_lanes), zero)
                if i < first + count:
                    u = us + i * U_ROW
                    u_s, u_r, u_t = u_s + load8(ws, u), u_r + load8(ws, u + 8), load8(ws, u + 16)
                inverse = -get(ws, here + at.D_INVERSE)
                u_s, u_r, u_t = inverse * u_s, inverse * u_r, inverse * u_t
            S, Ut = entries(ws, here + at.S), entries(ws, here + at.UT)
            x_s, x_r, x_t = response(u_s, Ut, a_s), response(u_r, Ut, a_r), response(u_t, Ut, a_t)
            put_columns(out, n, 5 + i, first, count, x_s, x_r, x_t)
            a_s, a_r, a_t = plus(a_s, S, x_s), plus(a_r, S, x_r), plus(a_t, S, x_t)
            if first <= i < first + count:
                for j in range(axes_begin(ints, i), i + 1):
                    own = select(1 << (j - first), splat8(1.0), zero)
                    a_s = plus(a_s, entries(ws, work(j) + at.SDD), own)
                    a_r = plus(a_r, entries(ws, work(j) + at.JUMP), own)
            slot = get_int(ints, body(i) + at.SLOT)
            if slot >= 0:
                slot = slots + slot * SLOT_RECORD
                put_rows8(ws, slot, 8, a_s)
                put_rows8(ws, slot + 48, 8, a_r)
                put_rows8(ws, slot + 96, 8, a_t)
            i += 1
            goes_on = i < end and parent(ints, i) == i - 1


@lean_kernel
def response(u, Ut, a):
    """Return u - Ut' a in three short chains: the walk down waits for it at every step."""
    return ((u - Ut[0] * a[0] - Ut[1] * a[1]) - (Ut[2] * a[2] + Ut[3] * a[3])) - (
        Ut[4] * a[4] + Ut[5] * a[5]
    )


@lean_kernel
def put_columns(out, n, row, first, count, s, r, tau):
    """Store a row of accelerations at the columns of a block: of A by s and r, of B."""
    m = 6 + n
    in_A = (m + row) * 2 * m + 5 + first
    in_B = 4 * m * m + (m + row) * n + first - 1
    if count == LANES:
        store8(out, in_A, s)
        store8(out, in_A + m, r)
        store8(out, in_B, tau)
    else:
        bits = (1 << count) - 1
        store_lanes(out, in_A, bits, s)
        store_lanes(out, in_A + m, bits, r)
        store_lanes(out, in_B, bits, tau)


# --- columns of the base ----------------------------------------------------------------------


@lean_kernel
def closed_forms(ints, x, ws, out):
    """Fill the rows of H, the columns of H and v, and nu_dot; return the status.

    V_0 = (u; w), g minus gravity, K columns 7 to 9 of Fwd_0 and of y:

        dH_dot = -(V_0 x) dH + dv                                                        (1)
        base rows by H: -(g; 0) x = [[0, -g^], [0, 0]];   by v: -(V_0 x) + [0 | K]       (2)
        joint rows by H: 0;   by v: [0 | K]                                              (3)

    A uniform gravity field accelerates all bodies alike, so neither a turn nor a
    translation of the whole robot loads a joint; a wrench that stays where it is adds FwdN, yN.
    """
    n = get_int(ints, at.NB) - 1
    m = 6 + n
    k = 2 * m
    zero = splat4(0.0)
    u, w = load4(ws, work(0) + at.V), load4(ws, work(0) + at.V + 4)
    minus_u, minus_w = skew_rows(zero - u), skew_rows(zero - w)
    gravity, K = skew_rows(zero - load4(ws, at.UPWARD)), rows4(ws, work(0) + at.FWD + 8, 12)
    for e in range(3):
        put_six(out, e * k, minus_w[e], minus_u[e])
        put_six(out, (3 + e) * k, zero, minus_w[e])
        put_six(out, (m + e) * k, zero, gravity[e])
        put_six(out, (m + 3 + e) * k, zero, zero)
        put_six(out, (m + e) * k + m, minus_w[e], minus_u[e] + K[e])
        put_six(out, (m + 3 + e) * k + m, zero, minus_w[e] + K[3 + e])
    nu_dot = k * k + k * n
    total = get(x, 3) + get(x, 7) + get(x, 11)
    for e in range(6):
        put(out, nu_dot + e, lane(K[e], 3))
        total += lane(K[e], 3)
    for i in range(1, n + 1):
        row = (m + 5 + i) * k
        y = load4(ws, work(i) + at.Y + 8)
        put_six(out, row, zero, zero)
        put_six(out, row + m, zero, y)
        put(out, nu_dot + 5 + i, lane(y, 3))
        total += lane(y, 3)
    if get(ws, at.WRENCH_BLOCKS) != 0.0:
        add_displacements(ints, ws, out)
    return OK if total - total == 0.0 else NOT_FINITE


@lean_kernel
def put_six(out, k, linear, angular):
    """Store three entries of each of two vectors."""
    store4(out, k, linear)
    put(out, k + 3, lane(angular, 0))
    put(out, k + 4, lane(angular, 1))
    put(out, k + 5, lane(angular, 2))


@lean_kernel
def add_displacements(ints, ws, out):
    """Add FwdN and yN to the columns of H."""
    m = get_int(ints, at.NB) + 5
    for row in range(m):
        k, to = displacement(ws, row - 5) + at.YN, (m + row) * 2 * m
        if row < 6:
            k = displacement(ws, 0) + at.FWDN + 8 * row
        for e in range(6):
            put(out, to + e, get(out, to + e) + get(ws, k + at.AXES[e]))
