# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows of accelerations that a contact keeps zero, and how these change with its body.

Spatial vectors of all rows of a contact are six vectors of eight, one row a lane.
"""

import math

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.engine.linearization import cross, entries, put_rows8, rows8, turned, work
from geolin_ros.kernels.packing import contact_layout as on
from geolin_ros.kernels.packing import layout as at
from geolin_ros.kernels.packing.contact_layout import CONTACT_RECORD, SITE_HEADER, SITE_INTS
from geolin_ros.kernels.se3 import left_jacobian_inverse, log
from geolin_ros.kernels.simd.spatial_vectors import dot
from geolin_ros.kernels.simd.vector import (
    get,
    get_int,
    lane,
    load4,
    load8,
    put,
    square,
    store8,
    with_lane,
)


@lean_kernel
def site(c):
    """Return the offset of contact c in the integers."""
    return SITE_HEADER + c * SITE_INTS


@lean_kernel
def path_body(sites, c, k):
    """Return body k on the path from the base to contact c."""
    return get_int(sites, get_int(sites, site(c) + on.SUPPORT) + 6 + k) - 5


@lean_kernel
def contact_rows(x, ws, sites, cw, c):
    """Fill the rows W of a contact, what they measure, and how it changes with the body.

    Axes x_r and origin p of the contact frame in the base; the body has the twist (u; w) and,
    but for the accelerations of the velocities, the acceleration (a; b); g is minus gravity and
    v = u + w x p. Rows r < 3 and r > 2:

        W_r = (x_r; p x x_r),  (0; x_r-3);     [f; t] = W by components                     (1)
        surface: gamma = W'(a; b) + kd W'(u; w) + kp e,   e = log(H_ref^-1 H)               (2)
            by twist (w x f; u x f + w x t) + kd W;   by pose (0; g x f) + kp J_r^-1(e) W   (3)
        point: gamma = x_r'(a + b x p + w x v + kd v + kp (p - q))                          (4)
            by twist (0; 2 v x f) + kd W;   by pose (0; g x f) + kp (f; q x f)              (5)

    with the origin q of the reference. Of a ball it is the point that touches the ground now
    that is constrained, as if it were one of the body: as it rolls another one will. A surface
    holds the acceleration of its frame as a spatial vector, a point the classical one.
    """
    body, record = work(get_int(sites, site(c) + on.BODY)), c * CONTACT_RECORD
    px, py, pz = load4(ws, body), load4(ws, body + 4), load4(ws, body + 8)
    origin = load4(ws, body + 12) + turned(px, py, pz, cw, record + on.AXES + 12)
    if get(cw, record + on.RADIUS) != 0.0:
        origin = origin - get(cw, record + on.RADIUS) * upward(x, ws)
    W = get_int(sites, site(c) + on.JACOBIAN)
    surface = get_int(sites, site(c) + on.WIDTH) == 6
    for r in range(3):
        axis = turned(px, py, pz, cw, record + on.AXES + 4 * r)
        put_lane(cw, W, r, axis, cross(origin, axis))
        if surface:
            put_lane(cw, W, 3 + r, 0.0 * axis, axis)
    if get(cw, record + on.STIFFNESS) != 0.0:
        base_from_reference(x, cw, record)
    p = (lane(origin, 0), lane(origin, 1), lane(origin, 2))
    up = (get(ws, at.UPWARD), get(ws, at.UPWARD + 1), get(ws, at.UPWARD + 2))
    V, A = entries(ws, body + at.V), entries(ws, body + at.AV)
    A = (A[0] - up[0], A[1] - up[1], A[2] - up[2], A[3], A[4], A[5])
    if surface:
        surface_rates(cw, record, W, V, A, up, p)
    else:
        point_rates(cw, record, W, V, A, up, p)


@lean_kernel
def upward(x, ws):
    """Return the direction against gravity in the base; z of the world without gravity."""
    up = with_lane(load4(ws, at.UPWARD), 3, 0.0)
    size = math.sqrt(
        lane(up, 0) * lane(up, 0) + lane(up, 1) * lane(up, 1) + lane(up, 2) * lane(up, 2)
    )
    return (1.0 / size) * up if size > 0.0 else with_lane(load4(x, 8), 3, 0.0)


@lean_kernel
def surface_rates(cw, record, W, V, A, up, p):
    """Fill gamma and its derivatives of a surface, (2) and (3) of `contact_rows`."""
    kp, kd = get(cw, record + on.STIFFNESS), get(cw, record + on.DAMPING)
    rows = rows8(cw, W, 8)
    if kp != 0.0:
        pull_surface(cw, record, W, p)
    pulled = kp * load8(cw, record + on.ERROR)
    store8(cw, record + on.BIAS, dot(A, rows) + kd * dot(V, rows) + pulled)
    put_rates(cw, record, rows, kd, twist_on_wrench(V, rows), up)


@lean_kernel
def point_rates(cw, record, W, V, A, up, p):
    """Fill gamma and its derivatives of a point, (4) and (5) of `contact_rows`."""
    kp, kd = get(cw, record + on.STIFFNESS), get(cw, record + on.DAMPING)
    rows = rows8(cw, W, 8)
    f = (rows[0], rows[1], rows[2])
    w = (V[3], V[4], V[5])
    wp = cross3(w, p)
    v = (V[0] + wp[0], V[1] + wp[1], V[2] + wp[2])
    bias = dot(A, rows) + kd * dot(V, rows) + combine(cross3(w, v), f)
    if kp != 0.0:
        q = reference_origin(cw, record)
        qf = cross3(q, f)
        pull = (kp * f[0], kp * f[1], kp * f[2], kp * qf[0], kp * qf[1], kp * qf[2])
        put_rows8(cw, record + on.PULL_LANES, 8, pull)
        bias = bias + kp * combine((p[0] - q[0], p[1] - q[1], p[2] - q[2]), f)
    store8(cw, record + on.BIAS, bias)
    vf, zero = cross3(v, f), 0.0 * f[0]
    put_rates(cw, record, rows, kd, (zero, zero, zero, 2.0 * vf[0], 2.0 * vf[1], 2.0 * vf[2]), up)


@lean_kernel
def put_rates(cw, record, rows, kd, turn, up):
    """Store the derivatives by twist and by pose, see `contact_rows`."""
    k = record + on.BY_TWIST
    store8(cw, k, turn[0] + kd * rows[0])
    store8(cw, k + 8, turn[1] + kd * rows[1])
    store8(cw, k + 16, turn[2] + kd * rows[2])
    store8(cw, k + 24, turn[3] + kd * rows[3])
    store8(cw, k + 32, turn[4] + kd * rows[4])
    store8(cw, k + 40, turn[5] + kd * rows[5])
    weight, pull = cross3(up, rows), rows8(cw, record + on.PULL_LANES, 8)
    moments = (pull[3] + weight[0], pull[4] + weight[1], pull[5] + weight[2])
    put_rows8(cw, record + on.BY_POSE, 8, (pull[0], pull[1], pull[2], *moments))


@lean_kernel
def base_from_reference(x, cw, record):
    """Fill H_ref^-1 H_0, a 4 x 4 matrix by rows whose last row stands already."""
    for i in range(3):
        inverse, to = record + on.REFERENCE + 4 * i, record + on.BASE_POSE + 4 * i
        for j in range(4):
            value = get(cw, inverse + 3) if j == 3 else 0.0
            for e in range(3):
                value += get(cw, inverse + e) * get(x, 4 * e + j)
            put(cw, to + j, value)


@lean_kernel
def reference_origin(cw, record):
    """Return the origin of the reference in the base: -R' o of `base_from_reference`."""
    k = record + on.BASE_POSE
    R0 = (get(cw, k), get(cw, k + 1), get(cw, k + 2))
    R1 = (get(cw, k + 4), get(cw, k + 5), get(cw, k + 6))
    R2 = (get(cw, k + 8), get(cw, k + 9), get(cw, k + 10))
    o0, o1, o2 = get(cw, k + 3), get(cw, k + 7), get(cw, k + 11)
    return (
        -(R0[0] * o0 + R1[0] * o1 + R2[0] * o2),
        -(R0[1] * o0 + R1[1] * o1 + R2[1] * o2),
        -(R0[2] * o0 + R1[2] * o1 + R2[2] * o2),
    )


@lean_kernel
def pull_surface(cw, record, W, p):
    """Fill e = log(H_ref^-1 H) and the rows kp J_r^-1(e) W'."""
    base, pose = record + on.BASE_POSE, record + on.MISMATCH
    for i in range(3):
        R = (get(cw, base + 4 * i), get(cw, base + 4 * i + 1), get(cw, base + 4 * i + 2))
        for r in range(3):
            axis = (get(cw, W + r), get(cw, W + 8 + r), get(cw, W + 16 + r))
            put(cw, pose + 4 * i + r, combine(R, axis))
        put(cw, pose + 4 * i + 3, get(cw, base + 4 * i + 3) + combine(R, p))
    pull_by_mismatch(cw, record, W)


@lean_kernel
def pull_by_mismatch(cw, record, W):
    """Fill e = log of the mismatch, and the rows kp J_r^-1(e) W'."""
    kp, pose = get(cw, record + on.STIFFNESS), record + on.MISMATCH
    error = cw[record + on.ERROR : record + on.ERROR + 6]
    log(square(cw, pose, 4), error)
    left_jacobian_inverse(error, -1.0, square(cw, record + on.PULL, 6))
    for q in range(6):
        for r in range(6):
            put(cw, record + on.TURNED + 8 * q + r, kp * get(cw, record + on.PULL + 6 * r + q))
    turned_rows = rows8(cw, record + on.TURNED, 8)
    for e in range(6):
        row = W + 8 * e
        along = (get(cw, row), get(cw, row + 1), get(cw, row + 2))
        about = (get(cw, row + 3), get(cw, row + 4), get(cw, row + 5))
        store8(cw, record + on.PULL_LANES + 8 * e, dot((*along, *about), turned_rows))


# --- algebra: three numbers, three numbers or vectors --------------------------------------------


@lean_kernel
def cross3(a, f):
    """Return a x f for three numbers and three vectors, or numbers."""
    return a[1] * f[2] - a[2] * f[1], a[2] * f[0] - a[0] * f[2], a[0] * f[1] - a[1] * f[0]


@lean_kernel
def twist_on_wrench(V, W):
    """Return V x* W = (w x f; u x f + w x t) for V = (u; w), W = (f; t)."""
    u, w, f = (V[0], V[1], V[2]), (V[3], V[4], V[5]), (W[0], W[1], W[2])
    turned_f, turned_t, moved = cross3(w, f), cross3(w, (W[3], W[4], W[5])), cross3(u, f)
    return (
        *turned_f,
        moved[0] + turned_t[0],
        moved[1] + turned_t[1],
        moved[2] + turned_t[2],
    )


@lean_kernel
def combine(a, f):
    """Return a' f for three numbers and three vectors."""
    return a[0] * f[0] + a[1] * f[1] + a[2] * f[2]


@lean_kernel
def put_lane(cw, k, r, linear, angular):
    """Store a spatial vector as lane r of six vectors of eight."""
    put(cw, k + r, lane(linear, 0))
    put(cw, k + 8 + r, lane(linear, 1))
    put(cw, k + 16 + r, lane(linear, 2))
    put(cw, k + 24 + r, lane(angular, 0))
    put(cw, k + 32 + r, lane(angular, 1))
    put(cw, k + 40 + r, lane(angular, 2))
