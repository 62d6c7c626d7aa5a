# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows of accelerations that a contact keeps zero, and how these change with its body.

Spatial vectors of all rows of a contact are six vectors of eight, one row a lane.
"""

import math

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.engine.linearization import (
    cross,
    entries,
    put_rows8,
    rows8,
    spatial,
    turned,
    work,
)
from geolin_ros.kernels.packing import contact_layout as on
from geolin_ros.kernels.packing import layout as at
from geolin_ros.kernels.packing.contact_layout import CONTACT_RECORD, SITE_HEADER, SITE_INTS
from geolin_ros.kernels.se3 import left_jacobian_inverse, log
from geolin_ros.kernels.simd.spatial_vectors import cross3, cross_force, dot, plus, scaled3, sum3
from geolin_ros.kernels.simd.vector import (
    get,
    get_int,
    join,
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
        put_lane(cw, W + r, axis, cross(origin, axis))
        if surface:
            put_lane(cw, W + 3 + r, 0.0 * axis, axis)
    if get(cw, record + on.STIFFNESS) != 0.0:
        base_from_reference(x, cw, record)
    p, up = numbers(origin), three(ws, at.UPWARD, 1)
    V, AV = entries(ws, body + at.V), entries(ws, body + at.AV)
    A = sum3(AV, scaled3(-1.0, up)) + AV[3:]
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
    put_rates(cw, record, rows, kd, cross_force(V, rows), up)


@lean_kernel
def point_rates(cw, record, W, V, A, up, p):
    """Fill gamma and its derivatives of a point, (4) and (5) of `contact_rows`."""
    kp, kd = get(cw, record + on.STIFFNESS), get(cw, record + on.DAMPING)
    rows = rows8(cw, W, 8)
    f = rows[:3]
    v, turning = point_motion(V, p)
    bias = dot(A, rows) + kd * dot(V, rows) + combine(turning, f)
    if kp != 0.0:
        q = reference_origin(cw, record)
        pull = scaled3(kp, f) + scaled3(kp, cross3(q, f))
        put_rows8(cw, record + on.PULL_LANES, 8, pull)
        bias = bias + kp * combine((p[0] - q[0], p[1] - q[1], p[2] - q[2]), f)
    store8(cw, record + on.BIAS, bias)
    turn = scaled3(0.0, f) + scaled3(2.0, cross3(v, f))
    put_rates(cw, record, rows, kd, turn, up)


@lean_kernel
def point_motion(V, p):
    """Return v = u + w x p and w x v."""
    v = sum3(V, cross3(V[3:], p))
    return v, cross3(V[3:], v)


@lean_kernel
def put_rates(cw, record, rows, kd, turn, up):
    """Store the derivatives by twist and by pose, see `contact_rows`."""
    put_rows8(cw, record + on.BY_TWIST, 8, plus(turn, rows, kd))
    weight, pull = cross3(up, rows), rows8(cw, record + on.PULL_LANES, 8)
    put_rows8(cw, record + on.BY_POSE, 8, pull[:3] + sum3(pull[3:], weight))


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
    x, y, z, o = three(cw, k, 4), three(cw, k + 1, 4), three(cw, k + 2, 4), three(cw, k + 3, 4)
    return -combine(x, o), -combine(y, o), -combine(z, o)


@lean_kernel
def pull_surface(cw, record, W, p):
    """Fill e = log(H_ref^-1 H) and the rows kp J_r^-1(e) W'."""
    base, pose = record + on.BASE_POSE, record + on.MISMATCH
    for i in range(3):
        R = three(cw, base + 4 * i, 1)
        for r in range(3):
            put(cw, pose + 4 * i + r, combine(R, three(cw, W + r, 8)))
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
        row = three(cw, W + 8 * e, 1) + three(cw, W + 8 * e + 3, 1)
        store8(cw, record + on.PULL_LANES + 8 * e, dot(row, turned_rows))


# --- algebra: three numbers, three numbers or vectors --------------------------------------------


@lean_kernel
def combine(a, f):
    """Return a' f for three numbers and three vectors."""
    return a[0] * f[0] + a[1] * f[1] + a[2] * f[2]


@lean_kernel
def three(array, k, stride):
    """Return three numbers, ``stride`` apart."""
    return get(array, k), get(array, k + stride), get(array, k + 2 * stride)


@lean_kernel
def numbers(v):
    """Return three lanes."""
    return lane(v, 0), lane(v, 1), lane(v, 2)


@lean_kernel
def put_lane(cw, k, linear, angular):
    """Store a spatial vector as one lane of six vectors of eight."""
    entry = spatial(join(linear, angular))
    for e in range(6):
        put(cw, k + 8 * e, entry[e])
