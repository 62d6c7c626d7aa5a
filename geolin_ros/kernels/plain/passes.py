# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Hybrid dynamics of a packed robot, in plain loops, for one sample or for eight.

[Kim 2012, Eqs. (30), (31)].

Each joint has its effort given and moves, or has its acceleration given and is *prescribed*; so
has the base. Nothing prescribed is forward dynamics, everything is inverse dynamics [Featherstone
2008, section 9.2], [Kim 2012, section 2.3]. The equations of the passes stand in the docstrings of
`linearization`; what follows says what a prescribed joint changes.

Model and wrenches are flat arrays of numbers. State, given values, workspace and results are flat
arrays of numbers, or of vectors with a sample a lane (`lanes`): the text is the same, and so are
the operations on each sample. All may be complex numbers x + i h x', h tiny, which carry the
derivative x' through a text that is analytic: questions about size and sign are about their real
parts. Every access can be checked (``NUMBA_BOUNDSCHECK=1``).
"""

import cmath
import math
from typing import Any

from numba import types
from numba.extending import overload

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.packing import layout as at
from geolin_ros.kernels.packing.layout import BODY_INTS, DISPLACEMENT_RECORD, WORK_RECORD
from geolin_ros.kernels.packing.types import BODY_WRENCH, WORLD_ORIENTED_WRENCH
from geolin_ros.kernels.simd import lanes, trigonometry
from geolin_ros.kernels.simd.spatial_vectors import (
    cross3,
    cross_force,
    cross_motion,
    dot,
    minus,
    plus,
    put_six,
    put_strided,
    put_three,
    scaled3,
    six,
    strided,
    sum3,
    three,
)
from geolin_ros.kernels.simd.vector import get_int
from geolin_ros.kernels.status import NOT_FINITE, OK, SINGULAR


def _choice(real: Any, complex_: Any) -> Any:
    """Return a function for kernels: ``complex_`` of complex numbers, else ``real``."""

    def chosen(z):
        return real(z)

    def choose(z):
        return complex_ if isinstance(z, types.Complex) else real

    overload(chosen)(choose)
    return chosen


sqrt = _choice(lambda z: math.sqrt(z), lambda z: cmath.sqrt(z))
tanh = _choice(lambda z: math.tanh(z), lambda z: cmath.tanh(z))
whole = _choice(lambda z: int(z), lambda z: int(z.real))
cos_sin = _choice(lambda z: trigonometry.cos_sin(z), lambda z: (cmath.cos(z), cmath.sin(z)))
not_positive = _choice(lambda z: lanes.not_positive(z), lambda z: lanes.not_positive(z.real))
not_finite = _choice(lambda z: lanes.not_finite(z), lambda z: lanes.not_finite(z.real))


@lean_kernel
def hybrid_dynamics(ints, floats, wrenches, x, given, ws, result, status, first):
    """Complete accelerations and forces; return whether a wrench changes with the pose.

    Parameters
    ----------
    ints, floats
        The robot, of `layout.Packed`; `layout.prescribe` says what is prescribed.
    wrenches
        Of `layout.make_inputs`, without tau.
    x : (22 + 2 n + 12 groups,)
        [H by rows (16) | s | v | r | where each group joint stands: columns x y z o], joints in
        the caller's order.
    given : (6 + n,)
        Acceleration where prescribed, else force; of the base, then of the joints in the caller's
        order.
    ws
        Of `layout.plain_workspace_size`.
    result : (6 + n,)
        Force where prescribed, else acceleration; of the base, then of the joints in the order of
        the bodies.
    status, first
        Where the status of the first sample is noted, those of the others behind it; all `OK`
        before.
    """
    kinematics(ints, floats, x, given, ws)
    body_rows(ints, floats, ws)
    moving = apply_wrenches(ints, x, wrenches, 0, ws, displacements(ints))
    eliminate(ints, floats, x, given, ws, moving, status, first)
    solve_base(ints, ws, status, first)
    accelerate(ints, x, ws, result, status, first)
    return moving


# --- places in the arrays ---------------------------------------------------------------------


@lean_kernel
def body(i):
    """Return the offset of body i in the integers."""
    return at.INT_HEADER + i * BODY_INTS


@lean_kernel
def parent(ints, i):
    """Return the parent of body i."""
    return get_int(ints, body(i) + at.PARENT)


@lean_kernel
def coordinate(ints, i):
    """Return the caller's coordinate of joint i."""
    return get_int(ints, body(i) + at.COORDINATE)


@lean_kernel
def axes_begin(ints, i):
    """Return the first axis of the joint that body i is the last one of, else i + 1."""
    return get_int(ints, body(i) + at.AXES_BEGIN)


@lean_kernel
def last(ints, i):
    """Return the last body of the joint that body i belongs to."""
    while axes_begin(ints, i) > i:
        i += 1
    return i


@lean_kernel
def outer(ints, i):
    """Return the body that the joint of body i moves it against."""
    return get_int(ints, body(i) + at.OUTER)


@lean_kernel
def is_free(ints, i):
    """Whether joint i moves under a force; i = 0: the base."""
    return get_int(ints, at.FLOATING if i == 0 else body(i) + at.FREE) != 0


@lean_kernel
def work(i):
    """Return the offset of body i in the workspace."""
    return at.WORK_HEADER + i * WORK_RECORD


@lean_kernel
def linkage(i):
    """Return the offset of body i in the floats of the model."""
    return at.MODEL_HEADER + i * at.MODEL_RECORD


@lean_kernel
def displacements(ints):
    """Return the offset of the displacement record of the base; the others follow."""
    return work(ints[at.NB])


@lean_kernel
def note(status, first, bits, code):
    """Give the samples whose bit is set a status, if theirs is still good."""
    k = first
    while bits != 0:
        if bits & 1 and status[k] == OK:
            status[k] = code
        bits, k = bits >> 1, k + 1


# --- passes -----------------------------------------------------------------------------------


@lean_kernel
def kinematics(ints, floats, x, given, ws):
    """Fill poses, S, Sd, V and AV of every body; AV holds the accelerations that are given."""
    n = ints[at.NB] - 1
    base = work(0)
    gravity = three(floats, at.GRAVITY)
    up = turned((-x[0], -x[1], -x[2]), (-x[4], -x[5], -x[6]), (-x[8], -x[9], -x[10]), gravity)
    put_three(ws, at.UPWARD, up)
    for e in range(3):
        for a in range(4):
            ws[base + at.POSE + 4 * a + e] = 1.0 if a == e else 0.0
        ws[base + at.V + e], ws[base + at.V + 4 + e] = x[16 + n + e], x[19 + n + e]
        ws[base + at.AV + e], ws[base + at.AV + 4 + e] = up[e], 0.0
    if not is_free(ints, 0):
        put_six(ws, base + at.AV, plus(strided(given, 0, 1), six(ws, base + at.AV), 1.0))
    for i in range(1, n + 1):
        here, above, link = work(i), work(parent(ints, i)), linkage(i)
        s, r = x[16 + coordinate(ints, i)], x[22 + n + coordinate(ints, i)]
        alpha, beta = floats[link + at.ALPHA], floats[link + at.BETA]
        pose = above + at.POSE
        px, py, pz = three(ws, pose), three(ws, pose + 4), three(ws, pose + 8)
        place = get_int(ints, body(i) + at.PLACE)
        if place != 0:
            ex, ey = turned(px, py, pz, three(x, place)), turned(px, py, pz, three(x, place + 3))
            z, o = turned(px, py, pz, three(x, place + 6)), turned(px, py, pz, three(x, place + 9))
        else:
            ex = turned(px, py, pz, three(floats, link + at.EX))
            ey = turned(px, py, pz, three(floats, link + at.EY))
            z = turned(px, py, pz, three(floats, link + at.EZ))
            o = turned(px, py, pz, three(floats, link + at.T))
        o = sum3(three(ws, pose + 12), o)
        o = sum3(o, scaled3(alpha * s, z))
        cos, sin = cos_sin(beta * s)
        pose = here + at.POSE
        put_three(ws, pose, sum3(scaled3(cos, ex), scaled3(sin, ey)))
        put_three(ws, pose + 4, sum3(scaled3(cos, ey), scaled3(-sin, ex)))
        put_three(ws, pose + 8, z)
        put_three(ws, pose + 12, o)
        S = sum3(scaled3(beta, cross3(o, z)), scaled3(alpha, z)) + scaled3(beta, z)
        V, AV = six(ws, above + at.V), six(ws, above + at.AV)
        SD = cross_motion(six(ws, work(outer(ints, i)) + at.V), S)
        put_six(ws, here + at.S, S)
        put_six(ws, here + at.SD, SD)
        put_six(ws, here + at.V, plus(V, S, r))
        AV = plus(AV, SD, r)
        if not is_free(ints, i):
            AV = plus(AV, S, given[6 + coordinate(ints, i)])
        put_six(ws, here + at.AV, AV)


@lean_kernel
def turned(px, py, pz, v):
    """Return the vector with coordinates v along px, py, pz."""
    return (
        px[0] * v[0] + py[0] * v[1] + pz[0] * v[2],
        px[1] * v[0] + py[1] * v[1] + pz[1] * v[2],
        px[2] * v[0] + py[2] * v[1] + pz[2] * v[2],
    )


@lean_kernel
def body_rows(ints, floats, ws):
    """Fill [I | 2 B | f] of every body."""
    for i in range(ints[at.NB]):
        here, link = work(i), linkage(i)
        m = floats[link + at.MASS]
        R = here + at.POSE
        x, y, z = three(ws, R), three(ws, R + 4), three(ws, R + 8)
        c = sum3(three(ws, R + 12), turned(x, y, z, three(floats, link + at.COM)))
        h = scaled3(m, c)
        turned_x = turned(x, y, z, three(floats, link + at.ICX))
        turned_y = turned(x, y, z, three(floats, link + at.ICY))
        turned_z = turned(x, y, z, three(floats, link + at.ICZ))
        hc = h[0] * c[0] + h[1] * c[1] + h[2] * c[2]
        xx = entry(turned_x, turned_y, turned_z, x, y, z, 0, 0) + (hc - h[0] * c[0])
        yy = entry(turned_x, turned_y, turned_z, x, y, z, 1, 1) + (hc - h[1] * c[1])
        zz = entry(turned_x, turned_y, turned_z, x, y, z, 2, 2) + (hc - h[2] * c[2])
        xy = entry(turned_x, turned_y, turned_z, x, y, z, 0, 1) - h[0] * c[1]
        xz = entry(turned_x, turned_y, turned_z, x, y, z, 0, 2) - h[0] * c[2]
        yz = entry(turned_x, turned_y, turned_z, x, y, z, 1, 2) - h[1] * c[2]
        ws[here + at.CARRIED_MASS] = m
        ws[here + at.CARRIED_TRACE] = xx + yy + zz
        V, AV = six(ws, here + at.V), six(ws, here + at.AV)
        u, w = V[:3], V[3:]
        symmetric = (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
        p, q = momentum(m, h, symmetric, V)
        f, t = momentum(m, h, symmetric, AV)
        f = plus(cross_force(V, p + q), f + t, 1.0)
        d = 2.0 * (u[0] * h[0] + u[1] * h[1] + u[2] * h[2])
        Jxx = 2.0 * (w[1] * xz - w[2] * xy) - 2.0 * h[0] * u[0] + d
        Jyy = 2.0 * (w[2] * xy - w[0] * yz) - 2.0 * h[1] * u[1] + d
        Jzz = 2.0 * (w[0] * yz - w[1] * xz) - 2.0 * h[2] * u[2] + d
        Jxy = (w[1] * yz - w[2] * yy) + (w[2] * xx - w[0] * xz) - h[0] * u[1] - h[1] * u[0]
        Jxz = (w[1] * zz - w[2] * yz) + (w[0] * xy - w[1] * xx) - h[0] * u[2] - h[2] * u[0]
        Jyz = (w[2] * xz - w[0] * zz) + (w[0] * yy - w[1] * xy) - h[1] * u[2] - h[2] * u[1]
        rows = here + at.ROWS
        P = scaled3(-2.0, p)
        for e in range(3):
            for a in range(3):
                ws[rows + 12 * e + a] = m if a == e else 0.0
        put_cross(ws, rows + 4, scaled3(-1.0, h))
        put_cross(ws, rows + 36, h)
        put_cross(ws, rows + 8, P)
        put_three(ws, rows + 40, symmetric[0])
        put_three(ws, rows + 52, symmetric[1])
        put_three(ws, rows + 64, symmetric[2])
        put_three(ws, rows + 44, (Jxx, Jxy + q[2], Jxz - q[1]))
        put_three(ws, rows + 56, (Jxy - q[2], Jyy, Jyz + q[0]))
        put_three(ws, rows + 68, (Jxz + q[1], Jyz - q[0], Jzz))
        put_strided(ws, rows + 11, 12, f)


@lean_kernel
def entry(tx, ty, tz, x, y, z, a, b):
    """Return an entry of R Ic R' from the columns of R Ic and of R."""
    return tx[a] * x[b] + ty[a] * y[b] + tz[a] * z[b]


@lean_kernel
def momentum(m, h, inertia, V):
    """Return I V, linear and angular."""
    u, w = V[:3], V[3:]
    linear = sum3(scaled3(m, u), cross3(w, h))
    return linear, sum3(cross3(h, u), turned(inertia[0], inertia[1], inertia[2], w))


@lean_kernel
def put_cross(ws, k, h):
    """Store h^ at offset k of rows of 12."""
    put_three(ws, k, (0.0, -h[2], h[1]))
    put_three(ws, k + 12, (h[2], 0.0, -h[0]))
    put_three(ws, k + 24, (-h[1], h[0], 0.0))


@lean_kernel
def apply_wrenches(ints, x, inputs, first, ws, blocks):
    """Subtract the wrenches from ``first`` on from f, and note how they change with the pose.

    Return whether they do; the displacement records begin at ``blocks``.
    """
    moving = False
    for w in range(first, inputs.shape[0], at.WRENCH_RECORD):
        i, kind = whole(inputs[w + at.WRENCH_BODY]), whole(inputs[w + at.WRENCH_KIND])
        if kind != BODY_WRENCH and not moving:
            moving = True
            for e in range(ints[at.NB] * DISPLACEMENT_RECORD):
                ws[blocks + e] = 0.0
        pose, value, point = work(i) + at.POSE, w + at.WRENCH_VALUE, w + at.WRENCH_POINT
        f, about = at.SCRATCH, at.SCRATCH + 6
        for e in range(3):
            ws[f + e], ws[f + 3 + e], ws[about + e] = 0.0, 0.0, 0.0
            for a in range(3):
                turn = ws[pose + 4 * a + e] if kind == BODY_WRENCH else x[4 * a + e]
                ws[f + e] += turn * inputs[value + a]
                ws[f + 3 + e] += turn * inputs[value + 3 + a]
                if kind == WORLD_ORIENTED_WRENCH:
                    ws[about + e] += ws[pose + 4 * a + e] * inputs[point + a]
                elif kind != BODY_WRENCH:  # the world origin, seen from the base
                    ws[about + e] -= x[4 * a + e] * x[4 * a + 3]
            if kind != BODY_WRENCH and kind != WORLD_ORIENTED_WRENCH:
                continue
            ws[about + e] += ws[pose + 12 + e]
        moment = cross3(three(ws, about), three(ws, f))
        rows = work(i) + at.ROWS
        for e in range(3):
            ws[f + 3 + e] += moment[e]
            ws[rows + 12 * e + 11] -= ws[f + e]
            ws[rows + 12 * (3 + e) + 11] -= ws[f + 3 + e]
        if kind != BODY_WRENCH:
            block = blocks + i * DISPLACEMENT_RECORD
            add_displacement_block(ws, block, kind == WORLD_ORIENTED_WRENCH)
    return moving


@lean_kernel
def add_displacement_block(ws, block, oriented):
    """Add N of the wrench in the scratch, applied at the point there, to that of a body."""
    N = block + at.N
    f, t, c = at.SCRATCH, at.SCRATCH + 3, at.SCRATCH + 6
    for e in range(3):
        a, b = (e + 1) % 3, (e + 2) % 3
        ws[N + 8 * a + 4 + b] += ws[f + e]
        ws[N + 8 * b + 4 + a] -= ws[f + e]
        ws[N + 8 * (3 + a) + 4 + b] += ws[t + e]
        ws[N + 8 * (3 + b) + 4 + a] -= ws[t + e]
        if not oriented:
            ws[N + 8 * (3 + a) + b] += ws[f + e]
            ws[N + 8 * (3 + b) + a] -= ws[f + e]
            continue
        for d in range(3):
            ws[N + 8 * (3 + e) + 4 + e] += ws[f + d] * ws[c + d]
            ws[N + 8 * (3 + e) + 4 + d] -= ws[c + e] * ws[f + d]


@lean_kernel
def eliminate(ints, floats, x, given, ws, moving, status, first):
    """Project every joint out of the rows of its parent, from the leaves to the base.

    A prescribed joint passes its rows on as they are; U takes the place of U / D, and u becomes
    the force that holds it while its parent does not accelerate.
    """
    n = ints[at.NB] - 1
    for i in range(n, 0, -1):
        here, above, link = work(i), work(parent(ints, i)), linkage(i)
        c = coordinate(ints, i)
        s, r = x[16 + c], x[22 + n + c]
        rows, carried, source = here + at.ROWS, above + at.ROWS, here + at.SOURCE
        S = six(ws, here + at.S)
        for k in at.COLUMNS:
            ws[source + k] = dot(S, strided(ws, rows + k, 12))
        U = six(ws, source)
        torque, slope = passive_torque(floats, link, s, r)
        ws[here + at.SLOPE] = slope
        mass, trace = ws[here + at.CARRIED_MASS], ws[here + at.CARRIED_TRACE]
        ws[above + at.CARRIED_MASS] += mass
        ws[above + at.CARRIED_TRACE] += trace
        free = is_free(ints, i)
        if free:
            ws[source + 11] += torque - given[6 + c]
            D = dot(U, S) + floats[link + at.ARMATURE]
            bound = 2.0 * mass * (S[0] * S[0] + S[1] * S[1] + S[2] * S[2])
            bound += trace * (S[3] * S[3] + S[4] * S[4] + S[5] * S[5])
            failed = not_positive(D - at.SMALLEST_SHARE * bound)
            if failed != 0:
                note(status, first, failed, SINGULAR + 6 + c)
            inverse = 1.0 / D
            ws[here + at.D_INVERSE] = inverse
            Ut = scaled3(inverse, U) + scaled3(inverse, U[3:])
        else:
            ws[source + 11] += torque + floats[link + at.ARMATURE] * given[6 + c]
            ws[here + at.D_INVERSE] = 1.0
            Ut = U
        put_six(ws, here + at.UT, Ut)
        for k in at.COLUMNS:
            column = strided(ws, rows + k, 12)
            if free:
                column = minus(column, Ut, ws[source + k])
            put_strided(ws, carried + k, 12, plus(strided(ws, carried + k, 12), column, 1.0))
        if moving:
            eliminate_displacements(ints, ws, i)


@lean_kernel
def passive_torque(floats, link, s, r):
    """Return damping, friction and spring torque, and their derivative by the rate."""
    slope = floats[link + at.DAMPING] + 0.0 * r
    torque = slope * r + floats[link + at.STIFFNESS] * (s - floats[link + at.REST])
    friction = floats[link + at.FRICTION]
    if friction != 0.0:
        speed = floats[link + at.FRICTION_SPEED]
        t = tanh(r / speed)
        torque += friction * t
        slope += friction / speed * (1.0 - t * t)
    return torque, slope


@lean_kernel
def eliminate_displacements(ints, ws, i):
    """Project joint i out of N of its parent."""
    here = displacements(ints) + i * DISPLACEMENT_RECORD
    above = displacements(ints) + parent(ints, i) * DISPLACEMENT_RECORD
    S, Ut = six(ws, work(i) + at.S), six(ws, work(i) + at.UT)
    for c in at.AXES:
        N = strided(ws, here + at.N + c, 8)
        ws[here + at.FN + c] = dot(S, N)
        if is_free(ints, i):
            N = minus(N, Ut, ws[here + at.FN + c])
        put_strided(ws, above + at.N + c, 8, plus(strided(ws, above + at.N + c, 8), N, 1.0))


@lean_kernel
def solve_base(ints, ws, status, first):
    """Fill G = IA_0^-1 and the acceleration -G pA_0 of the base; both zero if prescribed."""
    rows = work(0) + at.ROWS
    for e in range(6):
        for c in range(8):
            ws[at.G + 8 * e + c] = 0.0
    if is_free(ints, 0):
        L = at.SCRATCH  # packed lower triangle
        for i in range(6):
            for j in range(i + 1):
                acc = ws[rows + 12 * i + at.AXES[j]]
                for k in range(j):
                    acc -= ws[L + i * (i + 1) // 2 + k] * ws[L + j * (j + 1) // 2 + k]
                if i > j:
                    ws[L + i * (i + 1) // 2 + j] = acc / ws[L + j * (j + 1) // 2 + j]
                    continue
                place = work(0) + (at.CARRIED_MASS if i < 3 else at.CARRIED_TRACE)
                failed = not_positive(acc - at.SMALLEST_SHARE * ws[place])
                if failed != 0:
                    note(status, first, failed, SINGULAR + i)
                ws[L + i * (i + 1) // 2 + j] = sqrt(acc)
        for c in range(6):  # column c of G = (L L')^-1
            for i in range(6):
                acc = -ws[at.G] * 0.0
                if i == c:
                    acc += 1.0
                for k in range(i):
                    acc -= ws[L + i * (i + 1) // 2 + k] * ws[at.G + 8 * k + at.AXES[c]]
                ws[at.G + 8 * i + at.AXES[c]] = acc / ws[L + i * (i + 1) // 2 + i]
            for i in range(5, -1, -1):
                acc = ws[at.G + 8 * i + at.AXES[c]]
                for k in range(i + 1, 6):
                    acc -= ws[L + k * (k + 1) // 2 + i] * ws[at.G + 8 * k + at.AXES[c]]
                ws[at.G + 8 * i + at.AXES[c]] = acc / ws[L + i * (i + 1) // 2 + i]
    put_six(ws, work(0) + at.ACC, times_minus_G(ws, strided(ws, rows + 11, 12)))


@lean_kernel
def times_minus_G(ws, v):
    """Return -G v."""
    linear = dot(six(ws, at.G), v), dot(six(ws, at.G + 8), v), dot(six(ws, at.G + 16), v)
    k = at.G + 24
    angular = dot(six(ws, k), v), dot(six(ws, k + 8), v), dot(six(ws, k + 16), v)
    return -linear[0], -linear[1], -linear[2], -angular[0], -angular[1], -angular[2]


@lean_kernel
def accelerate(ints, x, ws, result, status, first):
    """Fill the acceleration a, without AV, of every body, and the results.

    qdd = -(u / D + Ut' a_p);  a = a_p + S qdd;     prescribed: force = u + U' a_p,  a = a_p    (1)
    """
    base = work(0)
    total = x[3] + x[7] + x[11]
    for e in range(6):
        place = base + at.ACC + at.AXES[e] if is_free(ints, 0) else base + at.ROWS + 12 * e + 11
        result[e] = ws[place]
        total += result[e]
    for i in range(1, ints[at.NB]):
        here, above = work(i), work(parent(ints, i))
        a = six(ws, above + at.ACC)
        value = ws[here + at.D_INVERSE] * ws[here + at.FU + 3] + dot(six(ws, here + at.UT), a)
        if is_free(ints, i):
            a = minus(a, six(ws, here + at.S), value)
            value = -value
        put_six(ws, here + at.ACC, a)
        result[5 + i] = value
        total += value
    failed = not_finite(total)
    if failed != 0:
        note(status, first, failed, NOT_FINITE)


@lean_kernel
def mass_matrix(ints, floats, ws, M):
    """Fill M (6 + n, 6 + n) after `hybrid_dynamics` with everything prescribed, zeros in place.

    Nothing yields, so IA is the composite inertia [Featherstone 2008, Table 6.2].
    """
    m, base = ints[at.NB] + 5, work(0)
    for e in range(6):
        put_strided(M, m * e, 1, six(ws, base + at.ROWS + 12 * e))
    for j in range(1, ints[at.NB]):
        P, row, i = six(ws, work(j) + at.UT), m * (5 + j), parent(ints, j)
        M[row + 5 + j] = dot(six(ws, work(j) + at.S), P) + floats[linkage(j) + at.ARMATURE]
        while i > 0:
            M[row + 5 + i] = dot(six(ws, work(i) + at.S), P)
            M[m * (5 + i) + 5 + j] = M[row + 5 + i]
            i = parent(ints, i)
        put_strided(M, row, 1, P)
        put_strided(M, 5 + j, m, P)
