# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse and forward dynamics and mass matrix of a packed robot: `linearization` cut short.

All in base axes about the base origin, as there. Results are in the caller's order, without the
rows of a fixed base.
"""

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.engine.linearization import (
    accelerate_joint,
    central_inertia,
    cross,
    inertia_about_base,
    is_state,
    move_bodies,
    place_bodies,
    reduce_to_base,
    spatial,
    turn_joints,
    turned,
)
from geolin_ros.kernels.packing import layout as at
from geolin_ros.kernels.plain.passes import coordinate, linkage, parent, passive_torque, work
from geolin_ros.kernels.simd.vector import (
    get,
    get_int,
    high_half,
    join,
    lane,
    lane_sum,
    load4,
    load8,
    low_half,
    put,
    select,
    splat4,
    splat8,
    store4,
    store8,
)
from geolin_ros.kernels.status import NOT_A_STATE, NOT_FINITE, OK


@lean_kernel
def forward_dynamics(ints, floats, x, tau, ws, out):
    """Fill ``out`` (m,) with the accelerations by ``tau`` (n,); return the status."""
    status = reduce_to_base(ints, floats, x, tau, ws)
    if status != OK:
        return status
    first = put_base(ints, out, load8(ws, work(0) + at.ACC))
    total = lane_sum(load8(ws, work(0) + at.ACC))
    order = get_int(ints, at.ORDER)
    for k in range(order, order + get_int(ints, at.NB) - 1):
        i = get_int(ints, k)
        qdd = accelerate_joint(ws, work(i), work(parent(ints, i)))
        put(out, first + coordinate(ints, i), qdd)
        total += qdd
    return OK if total - total == 0.0 else NOT_FINITE


@lean_kernel
def inverse_dynamics(ints, floats, x, given, ws, out):
    """Fill ``out`` (m,) with the forces that produce ``given`` (m,); return the status.

    a = a_p + S qdd;     F = I A + V x* (I V) + sum of F over the children              (1)
    tau = S' F + armature qdd + passive torque                                          (2)
    """
    if not is_state(ints, x):
        return NOT_A_STATE
    turn_joints(ints, floats, x, ws)
    place_bodies(ints, floats, x, ws)
    move_bodies(ints, floats, x, ws)
    n = get_int(ints, at.NB) - 1
    first, order, a = 0, get_int(ints, at.ORDER), splat8(0.0)
    if get_int(ints, at.FLOATING) != 0:
        first = 6
        put(ws, at.SCRATCH + 3, 0.0)
        put(ws, at.SCRATCH + 7, 0.0)
        for e in range(6):
            put(ws, at.SCRATCH + at.AXES[e], get(given, e))
        a = load8(ws, at.SCRATCH)
    store8(ws, work(0) + at.ACC, a)
    for k in range(order, order + n):
        i = get_int(ints, k)
        qdd = get(given, first + coordinate(ints, i))
        a = load8(ws, work(parent(ints, i)) + at.ACC)
        store8(ws, work(i) + at.ACC, a + qdd * load8(ws, work(i) + at.S))
    for i in range(n + 1):
        store8(ws, work(i) + at.ROWS, wrench(floats, ws, i))
    total = 0.0
    for k in range(order + n - 1, order - 1, -1):
        i = get_int(ints, k)
        here, above = work(i), work(parent(ints, i))
        link, c = linkage(i), coordinate(ints, i)
        F = load8(ws, here + at.ROWS)
        store8(ws, above + at.ROWS, load8(ws, above + at.ROWS) + F)
        tau, _ = passive_torque(floats, link, get(x, 16 + c), get(x, 22 + n + c))
        tau += lane_sum(F * load8(ws, here + at.S))
        tau += get(floats, link + at.ARMATURE) * get(given, first + c)
        put(out, first + c, tau)
        total += tau
    F = load8(ws, work(0) + at.ROWS)
    put_base(ints, out, F)
    total += lane_sum(F)
    return OK if total - total == 0.0 else NOT_FINITE


@lean_kernel
def wrench(floats, ws, i):
    """Return I A + V x* (I V) of a body, by Newton and Euler about its centre of mass c.

    f = m (a + b x c + w x (u + w x c)),   t = c x f + Ic b + w x Ic w     (1)
    """
    here, link = work(i), linkage(i)
    pose = here + at.POSE
    x, y, z = load4(ws, pose), load4(ws, pose + 4), load4(ws, pose + 8)
    c = load4(ws, pose + 12) + turned(x, y, z, floats, link + at.COM)
    u, w = load4(ws, here + at.V), load4(ws, here + at.V + 4)
    A = load8(ws, here + at.AV) + load8(ws, here + at.ACC)
    a, b = low_half(A), high_half(A)
    f = get(floats, link + at.MASS) * (a + cross(b, c) + cross(w, u + cross(w, c)))
    columns = central_inertia(floats, link, x, y, z)
    t = cross(c, f) + times(columns, b) + cross(w, times(columns, w))
    return join(f, t)


@lean_kernel
def times(columns, v):
    """Return the matrix with three columns times v."""
    return lane(v, 0) * columns[0] + lane(v, 1) * columns[1] + lane(v, 2) * columns[2]


@lean_kernel
def put_base(ints, out, v):
    """Store the rows of the base, if it moves; return where those of the joints begin."""
    if get_int(ints, at.FLOATING) == 0:
        return 0
    put_six(out, 0, 1, v)
    return 6


@lean_kernel
def put_six(out, k, stride, v):
    """Store the six entries of a spatial vector, ``stride`` apart."""
    entry = spatial(v)
    for e in range(6):
        put(out, k + e * stride, entry[e])


@lean_kernel
def mass_matrix(ints, floats, x, ws, out):
    """Fill ``out`` (m, m) by composite rigid bodies; return the status.

    Mass m, h = m c and Ibar of a subtree are sums. With S = (u; w) of joint j, for i = j and the
    joints above:

        P = I S = (m u + w x h; h x u + Ibar w);     M_ij = S_i' P          (1)
    """
    if not is_state(ints, x):
        return NOT_A_STATE
    turn_joints(ints, floats, x, ws)
    place_bodies(ints, floats, x, ws)
    n, order = get_int(ints, at.NB) - 1, get_int(ints, at.ORDER)
    first = 0 if get_int(ints, at.FLOATING) == 0 else 6
    m = first + n
    for k in range(m * m):  # of joints that move no body in common
        put(out, k, 0.0)
    for i in range(n + 1):
        own_inertia(floats, ws, i)
    total = 0.0
    for k in range(order + n - 1, order - 1, -1):
        j = get_int(ints, k)
        i, rows, c = parent(ints, j), work(j) + at.ROWS, first + coordinate(ints, j)
        above = work(i) + at.ROWS
        store8(ws, above, load8(ws, above) + load8(ws, rows))
        store8(ws, above + 8, load8(ws, above + 8) + load8(ws, rows + 8))
        store4(ws, above + 16, load4(ws, above + 16) + load4(ws, rows + 16))
        S = work(j) + at.S
        P = times_inertia(ws, rows, load4(ws, S), load4(ws, S + 4))
        share = lane_sum(P * load8(ws, S)) + get(floats, linkage(j) + at.ARMATURE)
        put(out, c * m + c, share)
        total += share
        while i > 0:
            share, r = lane_sum(P * load8(ws, work(i) + at.S)), first + coordinate(ints, i)
            put(out, c * m + r, share)
            put(out, r * m + c, share)
            i = parent(ints, i)
        if first != 0:
            put_six(out, c * m, 1, P)
            put_six(out, c, m, P)
    if first != 0:
        for e in range(6):
            axis = select(1 << at.AXES[e], splat8(1.0), splat8(0.0))
            rows = work(0) + at.ROWS
            put_six(out, e * m, 1, times_inertia(ws, rows, low_half(axis), high_half(axis)))
    return OK if total - total == 0.0 else NOT_FINITE


@lean_kernel
def own_inertia(floats, ws, i):
    """Store [m | h | columns of Ibar] of a body."""
    here, link = work(i), linkage(i)
    pose, rows, m = here + at.POSE, here + at.ROWS, get(floats, link + at.MASS)
    x, y, z = load4(ws, pose), load4(ws, pose + 4), load4(ws, pose + 8)
    c = load4(ws, pose + 12) + turned(x, y, z, floats, link + at.COM)
    h = m * c
    Ibar = inertia_about_base(floats, link, x, y, z, c, h)
    store4(ws, rows, splat4(m))
    store4(ws, rows + 4, h)
    for e in range(3):
        store4(ws, rows + 8 + 4 * e, Ibar[e])


@lean_kernel
def times_inertia(ws, rows, u, w):
    """Return I (u; w)."""
    h = load4(ws, rows + 4)
    columns = load4(ws, rows + 8), load4(ws, rows + 12), load4(ws, rows + 16)
    return join(load4(ws, rows) * u + cross(w, h), cross(h, u) + times(columns, w))
