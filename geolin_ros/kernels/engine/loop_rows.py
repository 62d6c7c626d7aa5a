# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows of accelerations that a loop keeps zero: those of its first frame less those of its second.

Either frame is a site as a contact is, with rows W of its own, and the difference of the two is
what is constrained, see `combination`. Vectors are in base axes; bodies 1 and 2 carry the frames
and have twists V = (u; w) and accelerations A with gravity; axes x_r and origin p of frame 1, q of
frame 2; rel = d_1 - d_2 is the difference of the displacements of the bodies, turn its angular
part:

    surface   W_1 = W_2 = (x_r; p x x_r), (0; x_r-3)
              c = W'(A_1 - A_2 + V_1 x V_2 + kd (V_1 - V_2)) + kp e,   e = log(H_2^-1 H_1)   (1)
    point     W_1 = (x_r; p x x_r),  W_2 = (x_r; q x x_r)
              c = x_r'(a_1 - a_2 + kd (v_1 - v_2) + kp (p - q)),   a the classical one       (2)

The rows move with body 1, and so does the force on body 2.
"""

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.engine.contact_rows import (
    combine,
    numbers,
    path_body,
    point_motion,
    pull_by_mismatch,
    put_lane,
    site,
    three,
)
from geolin_ros.kernels.engine.linearization import (
    cross,
    entries,
    put_rows8,
    rows8,
    spatial,
    times_rows,
    turned,
    work,
)
from geolin_ros.kernels.packing import contact_layout as on
from geolin_ros.kernels.packing import layout as at
from geolin_ros.kernels.packing.contact_layout import CONTACT_RECORD
from geolin_ros.kernels.simd.spatial_vectors import (
    cross3,
    cross_force,
    cross_motion,
    dot,
    plus,
    scaled3,
    sum3,
)
from geolin_ros.kernels.simd.vector import get, get_int, lane_sum, load4, load8, put, store8


@lean_kernel
def loop_rows(ws, sites, cw, c):
    """Fill the rows of the sites c and c + 1 of a loop, and how they change with the bodies."""
    one, two = c * CONTACT_RECORD, (c + 1) * CONTACT_RECORD
    first = work(get_int(sites, site(c) + on.BODY))
    second = work(get_int(sites, site(c + 1) + on.BODY))
    p = origin(ws, cw, first, one)
    q = origin(ws, cw, second, two)
    W1 = get_int(sites, site(c) + on.JACOBIAN)
    W2 = get_int(sites, site(c + 1) + on.JACOBIAN)
    surface = get_int(sites, site(c) + on.WIDTH) == 6
    px, py, pz = load4(ws, first), load4(ws, first + 4), load4(ws, first + 8)
    for r in range(3):
        axis = turned(px, py, pz, cw, one + on.AXES + 4 * r)
        put_lane(cw, W1 + r, axis, cross(p, axis))
        put_lane(cw, W2 + r, axis, cross(p if surface else q, axis))
        if surface:
            put_lane(cw, W1 + 3 + r, 0.0 * axis, axis)
            put_lane(cw, W2 + 3 + r, 0.0 * axis, axis)
    if surface:
        surface_rates(ws, cw, first, second, one, two, W1, p - q)
    else:
        point_rates(ws, cw, first, second, one, two, W1, W2, numbers(p), numbers(q))


@lean_kernel
def origin(ws, cw, body, record):
    """Return the origin of a frame in the base."""
    px, py, pz = load4(ws, body), load4(ws, body + 4), load4(ws, body + 8)
    return load4(ws, body + 12) + turned(px, py, pz, cw, record + on.AXES + 12)


@lean_kernel
def surface_rates(ws, cw, first, second, one, two, W, distance):
    """Fill what both sites of a surface measure, and its derivatives, from (1).

    by twist (V_1 + V_2) x* W + kd W for either body;
    by rel   V_2 x* (V_1 x* W) + kd V_2 x* W + kp J_r^-1(e) W, and A_2 x* W of `turn_loops`
    """
    kp, kd = get(cw, one + on.STIFFNESS), get(cw, one + on.DAMPING)
    rows = rows8(cw, W, 8)
    V, U = entries(ws, first + at.V), entries(ws, second + at.V)
    if kp != 0.0:
        pull_to_partner(ws, cw, first, second, one, two, W, distance)
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
def pull_to_partner(ws, cw, first, second, one, two, W, distance):
    """Fill e = log(H_2^-1 H_1) and the rows kp J_r^-1(e) W'."""
    pose = one + on.MISMATCH
    ax, ay, az = load4(ws, first), load4(ws, first + 4), load4(ws, first + 8)
    bx, by, bz = load4(ws, second), load4(ws, second + 4), load4(ws, second + 8)
    for i in range(3):
        axis = turned(bx, by, bz, cw, two + on.AXES + 4 * i)
        for r in range(3):
            other = numbers(axis * turned(ax, ay, az, cw, one + on.AXES + 4 * r))
            put(cw, pose + 4 * i + r, other[0] + other[1] + other[2])
        along = numbers(axis * distance)
        put(cw, pose + 4 * i + 3, along[0] + along[1] + along[2])
    pull_by_mismatch(cw, one, W)


@lean_kernel
def point_rates(ws, cw, first, second, one, two, W1, W2, p, q):
    """Fill what the sites of a point measure, and its derivatives, from (2).

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
    bias = bias + kp * combine((p[0] - q[0], p[1] - q[1], p[2] - q[2]), f)
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
        a = sum3(A, cross3(A[3:], numbers(origin(ws, cw, second, two))))
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
