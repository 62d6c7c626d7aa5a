# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows of accelerations that a contact or a loop keeps zero, and how these change with its bodies.

Spatial vectors of all rows of a site are six vectors of eight, one row a lane. The rows of a loop
are those of its first frame less those of its second, see `combination`; either is a site as a
contact is.
"""

import math

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.engine.linearization import (
    cross,
    entries,
    put_rows8,
    rows8,
    spatial,
    three,
    times_rows,
    turned,
)
from geolin_ros.kernels.packing import contact_layout as on
from geolin_ros.kernels.packing import layout as at
from geolin_ros.kernels.packing.contact_layout import CONTACT_RECORD, SITE_HEADER, SITE_INTS
from geolin_ros.kernels.plain.passes import work
from geolin_ros.kernels.se3 import left_jacobian_inverse, log
from geolin_ros.kernels.simd.spatial_vectors import (
    cross3,
    cross_force,
    cross_motion,
    dot,
    plus,
    scaled3,
    sum3,
)
from geolin_ros.kernels.simd.vector import (
    get,
    get_int,
    join,
    lane,
    lane_sum,
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
    origin = frame_origin(ws, cw, body, record)
    if get(cw, record + on.RADIUS) != 0.0:
        origin = origin - get(cw, record + on.RADIUS) * upward(x, ws)
    W = get_int(sites, site(c) + on.JACOBIAN)
    surface = get_int(sites, site(c) + on.WIDTH) == 6
    put_rows(ws, cw, body, record, W, origin, surface)
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
def frame_origin(ws, cw, body, record):
    """Return the origin of a frame in the base."""
    px, py, pz = load4(ws, body), load4(ws, body + 4), load4(ws, body + 8)
    return load4(ws, body + 12) + turned(px, py, pz, cw, record + on.AXES + 12)


@lean_kernel
def put_rows(ws, cw, body, record, W, origin, surface):
    """Fill (1) of `contact_rows`."""
    px, py, pz = load4(ws, body), load4(ws, body + 4), load4(ws, body + 8)
    for r in range(3):
        axis = turned(px, py, pz, cw, record + on.AXES + 4 * r)
        put_lane(cw, W + r, axis, cross(origin, axis))
        if surface:
            put_lane(cw, W + 3 + r, 0.0 * axis, axis)


@lean_kernel
def upward(x, ws):
    """Return the direction against gravity in the base; z of the world without gravity."""
    up = with_lane(load4(ws, at.UPWARD), 3, 0.0)
    size = math.sqrt(combine(numbers(up), numbers(up)))
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
        bias = bias + kp * combine(sum3(p, scaled3(-1.0, q)), f)
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
    base = record + on.BASE_POSE
    for i in range(3):
        R = three(cw, base + 4 * i, 1)
        put_mismatch(cw, record, W, i, R, get(cw, base + 4 * i + 3) + combine(R, p))
    pull_by_mismatch(cw, record, W)


@lean_kernel
def put_mismatch(cw, record, W, i, R, along):
    """Fill row i of H_2^-1 H_1: by axis R of frame 2, the origin of frame 1 ``along`` it."""
    k = record + on.MISMATCH + 4 * i
    for r in range(3):
        put(cw, k + r, combine(R, three(cw, W + r, 8)))
    put(cw, k + 3, along)


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


# --- loops --------------------------------------------------------------------------------------


@lean_kernel
def loop_rows(ws, sites, cw, c):
    """Fill the rows of the sites c and c + 1 of a loop, and how they change with the bodies.

    Bodies 1 and 2 carry the frames and have twists V = (u; w) and accelerations A with gravity;
    axes x_r and origin p of frame 1, q of frame 2; rel = d_1 - d_2 is the difference of the
    displacements of the bodies, turn its angular part:

        surface   W_1 = W_2 = (x_r; p x x_r), (0; x_r-3)
                  c = W'(A_1 - A_2 + V_1 x V_2 + kd (V_1 - V_2)) + kp e,  e = log(H_2^-1 H_1)   (1)
        point     W_1 = (x_r; p x x_r),  W_2 = (x_r; q x x_r)
                  c = x_r'(a_1 - a_2 + kd (v_1 - v_2) + kp (p - q)),  a the classical one       (2)

    The rows move with body 1, and so does the force on body 2.
    """
    one, two = c * CONTACT_RECORD, (c + 1) * CONTACT_RECORD
    first = work(get_int(sites, site(c) + on.BODY))
    second = work(get_int(sites, site(c + 1) + on.BODY))
    p, q = frame_origin(ws, cw, first, one), frame_origin(ws, cw, second, two)
    W1 = get_int(sites, site(c) + on.JACOBIAN)
    W2 = get_int(sites, site(c + 1) + on.JACOBIAN)
    surface = get_int(sites, site(c) + on.WIDTH) == 6
    put_rows(ws, cw, first, one, W1, p, surface)
    put_rows(ws, cw, first, one, W2, p if surface else q, surface)
    if surface:
        loop_surface_rates(ws, cw, first, second, one, two, W1, numbers(p - q))
    else:
        loop_point_rates(ws, cw, first, second, one, two, W1, W2, numbers(p), numbers(q))


@lean_kernel
def loop_surface_rates(ws, cw, first, second, one, two, W, distance):
    """Fill what both sites of a surface measure, and its derivatives, (1) of `loop_rows`.

    by twist (V_1 + V_2) x* W + kd W for either body;
    by rel   V_2 x* (V_1 x* W) + kd V_2 x* W + kp J_r^-1(e) W, and A_2 x* W of `turn_loops`
    """
    kp, kd = get(cw, one + on.STIFFNESS), get(cw, one + on.DAMPING)
    rows = rows8(cw, W, 8)
    V, U = entries(ws, first + at.V), entries(ws, second + at.V)
    if kp != 0.0:
        pull_to_partner(ws, cw, second, one, two, W, distance)
    bias = dot(entries(ws, first + at.AV), rows) + dot(cross_motion(V, U), rows)
    bias = bias + kd * (dot(V, rows) - dot(U, rows)) + kp * load8(cw, one + on.ERROR)
    store8(cw, one + on.BIAS, bias)
    store8(cw, two + on.BIAS, dot(entries(ws, second + at.AV), rows))
    by_one, by_two = cross_force(V, rows), cross_force(U, rows)
    twice, pull = cross_force(U, by_one), rows8(cw, one + on.PULL_LANES, 8)
    by_twist = plus(plus(by_one, by_two, 1.0), rows, kd)
    put_rows8(cw, one + on.BY_TWIST, 8, by_twist)
    put_rows8(cw, two + on.BY_TWIST, 8, by_twist)
    put_rows8(cw, one + on.BY_POSE, 8, plus(plus(twice, by_two, kd), pull, 1.0))


@lean_kernel
def pull_to_partner(ws, cw, second, one, two, W, distance):
    """Fill e = log(H_2^-1 H_1) and the rows kp J_r^-1(e) W'."""
    px, py, pz = load4(ws, second), load4(ws, second + 4), load4(ws, second + 8)
    for i in range(3):
        R = numbers(turned(px, py, pz, cw, two + on.AXES + 4 * i))
        put_mismatch(cw, one, W, i, R, combine(R, distance))
    pull_by_mismatch(cw, one, W)


@lean_kernel
def loop_point_rates(ws, cw, first, second, one, two, W1, W2, p, q):
    """Fill what the sites of a point measure, and its derivatives, (2) of `loop_rows`.

    by twist (0; 2 v x x_r) + kd W of either body;
    by rel   (0; (a_2 + kd v_2) x x_r) + kp W_2, where `turn_loops` adds what is A of a_2
    """
    kp, kd = get(cw, one + on.STIFFNESS), get(cw, one + on.DAMPING)
    rows, others = rows8(cw, W1, 8), rows8(cw, W2, 8)
    f = rows[:3]
    V, U = entries(ws, first + at.V), entries(ws, second + at.V)
    v, turning = point_motion(V, p)
    u, swinging = point_motion(U, q)
    bias = dot(entries(ws, first + at.AV), rows) + combine(turning, f)
    bias = bias + kd * (dot(V, rows) - dot(U, others))
    bias = bias + kp * combine(sum3(p, scaled3(-1.0, q)), f)
    store8(cw, one + on.BIAS, bias)
    store8(cw, two + on.BIAS, dot(entries(ws, second + at.AV), others) + combine(swinging, f))
    put_point_twist(cw, one + on.BY_TWIST, rows, kd, cross3(v, f))
    put_point_twist(cw, two + on.BY_TWIST, others, kd, cross3(u, f))
    pull = cross3(sum3(swinging, scaled3(kd, u)), f)
    by_pose = scaled3(kp, others) + sum3(scaled3(kp, others[3:]), pull)
    put_rows8(cw, one + on.BY_POSE, 8, by_pose)


@lean_kernel
def put_point_twist(cw, k, rows, kd, vf):
    """Store (0; 2 v x x_r) + kd W."""
    put_rows8(cw, k, 8, scaled3(kd, rows) + sum3(scaled3(2.0, vf), scaled3(kd, rows[3:])))


@lean_kernel
def turn_loops(ints, ws, sites, cw, out):
    """Add to A what the forces on second bodies do as they turn with the first ones.

    They move with body 1, while A takes them as constant on body 2. Their change F by rel, in the
    units of the rows of body 2, are the rows of `FORCE_TURN`:

        surface   F = rel x* f_2;     point   F = turn x f_2 at the origin of frame 2        (1)

    so that A += Y_2 F. Also adds the rest of the derivatives by rel, which waited for A_2.
    """
    for c in range(get_int(sites, on.COUNT)):
        if get_int(sites, site(c) + on.LOOP) == 1:
            finish_rates(ws, sites, cw, c)
            turn_force(sites, cw, c)
            turn_columns(ints, ws, sites, cw, out, c)


@lean_kernel
def finish_rates(ws, sites, cw, c):
    """Add what the acceleration of body 2 adds to the derivatives by rel."""
    one, two = c * CONTACT_RECORD, (c + 1) * CONTACT_RECORD
    second, W = work(get_int(sites, site(c + 1) + on.BODY)), get_int(sites, site(c) + on.JACOBIAN)
    A = plus(entries(ws, second + at.AV), entries(ws, second + at.ACC), 1.0)
    rows, by_pose = rows8(cw, W, 8), rows8(cw, one + on.BY_POSE, 8)
    if get_int(sites, site(c) + on.WIDTH) == 6:
        added = cross_force(A, rows)
    else:
        a = sum3(A, cross3(A[3:], numbers(frame_origin(ws, cw, second, two))))
        added = scaled3(0.0, rows) + cross3(a, rows)
    by_pose = plus(by_pose, added, 1.0)
    put_rows8(cw, one + on.BY_POSE, 8, by_pose)
    put_rows8(cw, two + on.BY_POSE, 8, by_pose)


@lean_kernel
def turn_force(sites, cw, c):
    """Fill the rows of F of `turn_loops`: -T_r x* f_2, T_r' W_s = 1 where r = s, or f_2 x x_r."""
    W, record = get_int(sites, site(c + 1) + on.JACOBIAN), (c + 1) * CONTACT_RECORD
    forces = load8(cw, get_int(sites, on.FORCES) + get_int(sites, site(c + 1) + on.FIRST))
    width = get_int(sites, site(c) + on.WIDTH)
    F = spatial(times_rows(cw, W, forces))
    for r in range(width):
        to = record + on.FORCE_TURN + r
        if width == 6:
            k = W + (r + 3) % 6
            turned_force = cross_force(three(cw, k + 24, 8) + three(cw, k, 8), F)
            for e in range(6):
                put(cw, to + 8 * e, -turned_force[e])
        else:
            moment = cross3(F, three(cw, W + r, 8))
            for e in range(3):
                put(cw, to + 24 + 8 * e, moment[e])


@lean_kernel
def turn_columns(ints, ws, sites, cw, out, c):
    """Add Y_2 F to the columns of s of the joints that move one body and not the other."""
    depth, other = get_int(sites, site(c) + on.DEPTH), get_int(sites, site(c + 1) + on.DEPTH)
    common = 0
    while common < min(depth, other) and path_body(sites, c, common) == path_body(
        sites, c + 1, common
    ):
        common += 1
    for step in range(common, depth):
        turn_column(ints, ws, sites, cw, out, c, path_body(sites, c, step), 1.0)
    for step in range(common, other):
        turn_column(ints, ws, sites, cw, out, c, path_body(sites, c + 1, step), -1.0)


@lean_kernel
def turn_column(ints, ws, sites, cw, out, c, j, sign):
    """Add sign Y_2 F S_j to the column of s_j."""
    m = get_int(ints, at.NB) + 5
    turn = rows8(cw, (c + 1) * CONTACT_RECORD + on.FORCE_TURN, 8)
    change = sign * dot(entries(ws, work(j) + at.S), turn)
    row = get_int(sites, on.RESPONSES) + get_int(sites, site(c + 1) + on.FIRST)
    stride = get_int(sites, on.MATRIX_ROW)
    for i in range(m):
        to = (m + i) * 2 * m + 5 + j
        put(out, to, get(out, to) + lane_sum(load8(cw, row + i * stride) * change))


# --- algebra: three numbers, three numbers or vectors --------------------------------------------


@lean_kernel
def combine(a, f):
    """Return a' f for three numbers and three vectors."""
    return a[0] * f[0] + a[1] * f[1] + a[2] * f[2]


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
