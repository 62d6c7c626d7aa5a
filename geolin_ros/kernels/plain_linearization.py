# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The fast linearization in plain loops, one column at a time: oracle of `linearization`.

Same arrays and same passes as there; every access can be checked (``NUMBA_BOUNDSCHECK=1``). The
equations stand in the docstrings of `linearization`.
"""

import math

from geolin_ros.kernels import records as at
from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.records import BODY_INTS, DISPLACEMENT_RECORD, WORK_RECORD
from geolin_ros.kernels.status import NOT_FINITE, OK, SINGULAR
from geolin_ros.kernels.types import BODY_WRENCH, WORLD_ORIENTED_WRENCH


@lean_kernel
def linearize(ints, floats, x, inputs, ws, out):
    """Fill ``out`` = [A | B | nu_dot]; return the status. See `linearization.linearize`."""
    kinematics(ints, floats, x, ws)
    body_rows(ints, floats, ws)
    apply_wrenches(ints, x, inputs, ws)
    status = eliminate(ints, floats, x, inputs, ws)
    if status != OK:
        return status
    status = base_solve(ints, ws)
    if status != OK:
        return status
    accelerate(ints, ws)
    if ws[at.WRENCH_BLOCKS] != 0.0:
        displace(ints, ws)
    for j in range(1, ints[at.NB]):
        column(ints, floats, x, ws, out, j)
    closed_forms(ints, x, ws, out)
    return finish(ints, x, ws, out)


@lean_kernel
def joint(ints, i):
    """Return the caller's coordinate of joint i."""
    return ints[at.INT_HEADER + i * BODY_INTS + at.COORDINATE]


@lean_kernel
def parent(ints, i):
    """Return the parent of body i."""
    return ints[at.INT_HEADER + i * BODY_INTS + at.PARENT]


@lean_kernel
def record(i):
    """Return the offset of body i in the workspace."""
    return at.WORK_HEADER + i * WORK_RECORD


@lean_kernel
def model_record(i):
    """Return the offset of body i in the floats of the model."""
    return at.MODEL_HEADER + i * at.MODEL_RECORD


@lean_kernel
def cross(a, i, b, j, out, k):
    """out[k:k+3] = a[i:i+3] x b[j:j+3]."""
    out[k] = a[i + 1] * b[j + 2] - a[i + 2] * b[j + 1]
    out[k + 1] = a[i + 2] * b[j] - a[i] * b[j + 2]
    out[k + 2] = a[i] * b[j + 1] - a[i + 1] * b[j]


@lean_kernel
def cross_motion(a, i, b, j, out, k):
    """out[k:k+6] = a[i:i+6] x b[j:j+6], twist acting on twist."""
    scratch = at.SCRATCH + 18
    cross(a, i + 4, b, j, out, k)
    cross(a, i, b, j + 4, a, scratch)
    for e in range(3):
        out[k + e] += a[scratch + e]
    cross(a, i + 4, b, j + 4, out, k + 4)


@lean_kernel
def kinematics(ints, floats, x, ws):
    """Fill poses, S, Sd, V and AV of every body."""
    nb = ints[at.NB]
    n = nb - 1
    base = record(0)
    for e in range(16):
        ws[base + at.POSE + e] = 0.0
    for e in range(3):
        ws[base + at.POSE + 5 * e] = 1.0
        up = 0.0
        for a in range(3):
            up -= x[4 * a + e] * floats[at.GRAVITY + a]
        ws[at.UPWARD + e] = up
        ws[base + at.AV + e] = up
        ws[base + at.AV + 4 + e] = 0.0
        ws[base + at.V + e] = x[16 + n + e]
        ws[base + at.V + 4 + e] = x[19 + n + e]
    for k in range(n):
        i = ints[ints[at.ORDER] + k]
        here, above, link = record(i), record(parent(ints, i)), model_record(i)
        s, r = x[16 + joint(ints, i)], x[22 + n + joint(ints, i)]
        alpha, beta = floats[link + at.ALPHA], floats[link + at.BETA]
        ws[here + at.COS], ws[here + at.SIN] = math.cos(beta * s), math.sin(beta * s)
        cos, sin = ws[here + at.COS], ws[here + at.SIN]
        pose, outer = here + at.POSE, above + at.POSE
        for e in range(3):
            ex, ey, ez, o = 0.0, 0.0, 0.0, ws[outer + 12 + e]
            for a in range(3):
                ex += ws[outer + 4 * a + e] * floats[link + at.EX + a]
                ey += ws[outer + 4 * a + e] * floats[link + at.EY + a]
                ez += ws[outer + 4 * a + e] * floats[link + at.EZ + a]
                o += ws[outer + 4 * a + e] * floats[link + at.T + a]
            ws[pose + e] = cos * ex + sin * ey
            ws[pose + 4 + e] = cos * ey - sin * ex
            ws[pose + 8 + e] = ez
            ws[pose + 12 + e] = o + alpha * s * ez
        cross(ws, pose + 12, ws, pose + 8, ws, here + at.S)
        for e in range(3):
            ws[here + at.S + e] = beta * ws[here + at.S + e] + alpha * ws[pose + 8 + e]
            ws[here + at.S + 4 + e] = beta * ws[pose + 8 + e]
        cross_motion(ws, above + at.V, ws, here + at.S, ws, here + at.SD)
        for e in range(8):
            ws[here + at.V + e] = ws[above + at.V + e] + ws[here + at.S + e] * r
            ws[here + at.AV + e] = ws[above + at.AV + e] + ws[here + at.SD + e] * r


@lean_kernel
def body_rows(ints, floats, ws):
    """Fill [I | 2 B | f] of every body."""
    for i in range(ints[at.NB]):
        here, link = record(i), model_record(i)
        m = floats[link + at.MASS]
        R = here + at.POSE
        c0, c1, c2 = ws[R + 12], ws[R + 13], ws[R + 14]
        for a in range(3):
            c0 += ws[R + 4 * a] * floats[link + at.COM + a]
            c1 += ws[R + 4 * a + 1] * floats[link + at.COM + a]
            c2 += ws[R + 4 * a + 2] * floats[link + at.COM + a]
        xx, xy, xz = (
            rotated(ws, R, floats, link, 0, 0),
            rotated(ws, R, floats, link, 0, 1),
            rotated(ws, R, floats, link, 0, 2),
        )
        yy, yz, zz = (
            rotated(ws, R, floats, link, 1, 1),
            rotated(ws, R, floats, link, 1, 2),
            rotated(ws, R, floats, link, 2, 2),
        )
        xx += m * (c1 * c1 + c2 * c2)
        yy += m * (c0 * c0 + c2 * c2)
        zz += m * (c0 * c0 + c1 * c1)
        xy -= m * c0 * c1
        xz -= m * c0 * c2
        yz -= m * c1 * c2
        h0, h1, h2 = m * c0, m * c1, m * c2
        rows = here + at.ROWS
        for e in range(72):
            ws[rows + e] = 0.0
        for e in range(3):
            ws[rows + 13 * e] = m
        put_cross(ws, rows + 4, h0, h1, h2, -1.0)
        put_cross(ws, rows + 36, h0, h1, h2, 1.0)
        put_symmetric(ws, rows + 40, xx, xy, xz, yy, yz, zz)
        ws[here + at.CARRIED_MASS] = m
        ws[here + at.CARRIED_TRACE] = xx + yy + zz
        u0, u1, u2 = ws[here + at.V], ws[here + at.V + 1], ws[here + at.V + 2]
        w0, w1, w2 = ws[here + at.V + 4], ws[here + at.V + 5], ws[here + at.V + 6]
        p, q, f = at.SCRATCH, at.SCRATCH + 3, at.SCRATCH + 6  # (p; q) = I V
        multiply_inertia(ws, rows, here + at.V, p)
        multiply_inertia(ws, rows, here + at.AV, f)
        put_cross(ws, rows + 8, ws[p], ws[p + 1], ws[p + 2], -2.0)
        d = 2.0 * (u0 * h0 + u1 * h1 + u2 * h2)
        put_symmetric(
            ws,
            rows + 44,
            2.0 * (w1 * xz - w2 * xy) - 2.0 * h0 * u0 + d,
            (w1 * yz - w2 * yy) + (w2 * xx - w0 * xz) - h0 * u1 - h1 * u0,
            (w1 * zz - w2 * yz) + (w0 * xy - w1 * xx) - h0 * u2 - h2 * u0,
            2.0 * (w2 * xy - w0 * yz) - 2.0 * h1 * u1 + d,
            (w2 * xz - w0 * zz) + (w0 * yy - w1 * xy) - h1 * u2 - h2 * u1,
            2.0 * (w0 * yz - w1 * xz) - 2.0 * h2 * u2 + d,
        )
        put_cross(ws, rows + 44, ws[q], ws[q + 1], ws[q + 2], -1.0)
        V = here + at.V
        for e in range(3):
            a, b = (e + 1) % 3, (e + 2) % 3
            ws[f + e] += ws[V + 4 + a] * ws[p + b] - ws[V + 4 + b] * ws[p + a]
            ws[f + 3 + e] += ws[V + a] * ws[p + b] - ws[V + b] * ws[p + a]
            ws[f + 3 + e] += ws[V + 4 + a] * ws[q + b] - ws[V + 4 + b] * ws[q + a]
        for e in range(6):
            ws[rows + 12 * e + 11] = ws[f + e]


@lean_kernel
def rotated(ws, R, floats, link, a, b):
    """Return entry (a, b) of R Ic R'."""
    total = 0.0
    for c in range(3):
        for d in range(3):
            total += ws[R + 4 * c + a] * floats[link + at.ICX + 4 * c + d] * ws[R + 4 * d + b]
    return total


@lean_kernel
def put_cross(ws, k, h0, h1, h2, scale):
    """Add scale h^ to the 3 x 3 block at offset k of rows of 12."""
    ws[k + 1] -= scale * h2
    ws[k + 2] += scale * h1
    ws[k + 12] += scale * h2
    ws[k + 14] -= scale * h0
    ws[k + 24] -= scale * h1
    ws[k + 25] += scale * h0


@lean_kernel
def put_symmetric(ws, k, xx, xy, xz, yy, yz, zz):
    """Add a symmetric 3 x 3 block at offset k of rows of 12."""
    ws[k] += xx
    ws[k + 1] += xy
    ws[k + 2] += xz
    ws[k + 12] += xy
    ws[k + 13] += yy
    ws[k + 14] += yz
    ws[k + 24] += xz
    ws[k + 25] += yz
    ws[k + 26] += zz


@lean_kernel
def multiply_inertia(ws, rows, v, out):
    """ws[out:out+6] = I ws[v:v+6] with I the left 6 x 6 block of the rows."""
    for e in range(6):
        total = 0.0
        for a in range(6):
            total += ws[rows + 12 * e + at.AXES[a]] * ws[v + at.AXES[a]]
        ws[out + e] = total


@lean_kernel
def apply_wrenches(ints, x, inputs, ws):
    """Subtract the external wrenches from f, and note how they change with the pose."""
    n = ints[at.NB] - 1
    ws[at.WRENCH_BLOCKS] = 0.0
    for w in range(n, inputs.shape[0], at.WRENCH_RECORD):
        i, kind = int(inputs[w + at.WRENCH_BODY]), int(inputs[w + at.WRENCH_KIND])
        if kind != BODY_WRENCH and ws[at.WRENCH_BLOCKS] == 0.0:
            ws[at.WRENCH_BLOCKS] = 1.0
            blocks = int(ws[at.DISPLACEMENTS])
            for e in range((n + 1) * DISPLACEMENT_RECORD):
                ws[blocks + e] = 0.0
        pose, value, point = record(i) + at.POSE, w + at.WRENCH_VALUE, w + at.WRENCH_POINT
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
        cross(ws, about, ws, f, ws, at.SCRATCH + 9)
        rows = record(i) + at.ROWS
        for e in range(3):
            ws[f + 3 + e] += ws[at.SCRATCH + 9 + e]
            ws[rows + 12 * e + 11] -= ws[f + e]
            ws[rows + 12 * (3 + e) + 11] -= ws[f + 3 + e]
        if kind != BODY_WRENCH:
            add_displacement_block(ints, ws, i, kind == WORLD_ORIENTED_WRENCH)


@lean_kernel
def add_displacement_block(ints, ws, i, oriented):
    """Add N of the wrench in the scratch, applied at the point there, to body i."""
    N = int(ws[at.DISPLACEMENTS]) + i * DISPLACEMENT_RECORD + at.N
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
def eliminate(ints, floats, x, inputs, ws):
    """Project every joint out of the rows of its parent, from the leaves to the base."""
    n = ints[at.NB] - 1
    for k in range(n - 1, -1, -1):
        i = ints[ints[at.ORDER] + k]
        here, above, link = record(i), record(parent(ints, i)), model_record(i)
        rows, S = here + at.ROWS, here + at.S
        src = at.SCRATCH
        for c in range(12):
            total = 0.0
            for e in range(6):
                total += ws[S + at.AXES[e]] * ws[rows + 12 * e + c]
            ws[src + c] = total
        s, r = x[16 + joint(ints, i)], x[22 + n + joint(ints, i)]
        ws[src + 11] -= inputs[joint(ints, i)] - passive_torque(floats, link, s, r)
        D = floats[link + at.ARMATURE]
        scale = 0.0
        for e in range(8):
            D += ws[src + e] * ws[S + e]
        for e in range(3):
            scale += 2.0 * ws[here + at.CARRIED_MASS] * ws[S + e] * ws[S + e]
            scale += ws[here + at.CARRIED_TRACE] * ws[S + 4 + e] * ws[S + 4 + e]
        if not D - at.SMALLEST_SHARE * scale > 0.0:  # NaN too
            return SINGULAR + 6 + joint(ints, i)
        ws[above + at.CARRIED_MASS] += ws[here + at.CARRIED_MASS]
        ws[above + at.CARRIED_TRACE] += ws[here + at.CARRIED_TRACE]
        ws[here + at.D_INVERSE] = 1.0 / D
        for e in range(8):
            ws[here + at.UT + e] = ws[src + e] / D
        for e in range(4):
            ws[here + at.FU + e] = ws[src + 8 + e]
        for e in range(6):
            for c in range(12):
                ws[above + at.ROWS + 12 * e + c] += (
                    ws[rows + 12 * e + c] - ws[here + at.UT + at.AXES[e]] * ws[src + c]
                )
        if ws[at.WRENCH_BLOCKS] != 0.0:
            eliminate_displacements(ints, ws, i)
    return OK


@lean_kernel
def passive_torque(floats, link, s, r):
    """Return damping, friction and spring torque."""
    torque = floats[link + at.DAMPING] * r
    if floats[link + at.FRICTION] != 0.0:
        torque += floats[link + at.FRICTION] * math.tanh(r / floats[link + at.FRICTION_SPEED])
    if floats[link + at.STIFFNESS] != 0.0:
        torque += floats[link + at.STIFFNESS] * (s - floats[link + at.REST])
    return torque


@lean_kernel
def passive_slope(floats, link, r):
    """Return the derivative of the passive torque by the rate."""
    slope = floats[link + at.DAMPING]
    if floats[link + at.FRICTION] != 0.0:
        speed = floats[link + at.FRICTION_SPEED]
        t = math.tanh(r / speed)
        slope += floats[link + at.FRICTION] / speed * (1.0 - t * t)
    return slope


@lean_kernel
def eliminate_displacements(ints, ws, i):
    """Project joint i out of N of its parent."""
    blocks = int(ws[at.DISPLACEMENTS])
    here = blocks + i * DISPLACEMENT_RECORD
    above = blocks + parent(ints, i) * DISPLACEMENT_RECORD
    for c in at.AXES:
        total = 0.0
        for e in range(6):
            total += ws[record(i) + at.S + at.AXES[e]] * ws[here + at.N + 8 * e + c]
        ws[here + at.FN + c] = total
        for e in range(6):
            ws[above + at.N + 8 * e + c] += (
                ws[here + at.N + 8 * e + c] - ws[record(i) + at.UT + at.AXES[e]] * total
            )


@lean_kernel
def base_solve(ints, ws):
    """Fill G and the base's Fwd."""
    rows = record(0) + at.ROWS
    if ints[at.FLOATING] == 1:
        L = at.SCRATCH  # packed lower triangle
        for i in range(6):
            for j in range(i + 1):
                acc = ws[rows + 12 * i + at.AXES[j]]
                for k in range(j):
                    acc -= ws[L + i * (i + 1) // 2 + k] * ws[L + j * (j + 1) // 2 + k]
                if i > j:
                    ws[L + i * (i + 1) // 2 + j] = acc / ws[L + j * (j + 1) // 2 + j]
                    continue
                scale = (
                    ws[record(0) + at.CARRIED_MASS] if i < 3 else ws[record(0) + at.CARRIED_TRACE]
                )
                if not acc > at.SMALLEST_SHARE * scale:
                    return SINGULAR + i
                ws[L + i * (i + 1) // 2 + j] = math.sqrt(acc)
        for c in range(6):  # column c of G = (L L')^-1
            for i in range(6):
                acc = 1.0 if i == c else 0.0
                for k in range(i):
                    acc -= ws[L + i * (i + 1) // 2 + k] * ws[at.G + 8 * k + at.AXES[c]]
                ws[at.G + 8 * i + at.AXES[c]] = acc / ws[L + i * (i + 1) // 2 + i]
            for i in range(5, -1, -1):
                acc = ws[at.G + 8 * i + at.AXES[c]]
                for k in range(i + 1, 6):
                    acc -= ws[L + k * (k + 1) // 2 + i] * ws[at.G + 8 * k + at.AXES[c]]
                ws[at.G + 8 * i + at.AXES[c]] = acc / ws[L + i * (i + 1) // 2 + i]
    for c in range(8, 12):
        for i in range(6):
            acc = 0.0
            for k in range(6):
                acc -= ws[at.G + 8 * i + at.AXES[k]] * ws[rows + 12 * k + c]
            ws[at.SCRATCH + i] = acc
        for i in range(6):
            ws[rows + 12 * i + c] = ws[at.SCRATCH + i]
    for i in range(6):
        for c in range(8):
            ws[rows + 12 * i + c] = 1.0 if at.AXES[i] == c else 0.0
    return OK


@lean_kernel
def accelerate(ints, ws):
    """Fill y and Fwd of every body, and the sources of its column."""
    for k in range(ints[at.NB] - 1):
        i = ints[ints[at.ORDER] + k]
        here, above = record(i), record(parent(ints, i))
        fwd, rows, y = above + at.FWD, here + at.ROWS, here + at.Y
        for c in range(12):
            ws[y + c] = 0.0
            if c >= 8:
                ws[y + c] = -ws[here + at.FU + c - 8] * ws[here + at.D_INVERSE]
            for e in range(6):
                ws[y + c] -= ws[here + at.UT + at.AXES[e]] * ws[fwd + 12 * e + c]
        prepare_column(ints, ws, i)
        for e in range(6):
            for c in range(12):
                ws[rows + 12 * e + c] = (
                    ws[fwd + 12 * e + c] + ws[here + at.S + at.AXES[e]] * ws[y + c]
                )


@lean_kernel
def prepare_column(ints, ws, i):
    """Fill Sdd, P_s and P_r of column i, while IA, BA and pA are still in its rows."""
    here, above = record(i), record(parent(ints, i))
    rows, S, SD = here + at.ROWS, here + at.S, here + at.SD
    a, f = at.SCRATCH, at.SCRATCH + 8
    for e in range(6):
        c = at.AXES[e]
        ws[a + c] = ws[above + at.AV + c] + ws[above + at.FWD + 12 * e + 11]
    cross_motion(ws, a, ws, S, ws, here + at.SDD)
    cross_motion(ws, above + at.V, ws, SD, ws, f)
    for c in at.AXES:
        ws[here + at.SDD + c] += ws[f + c]
    for e in range(6):
        c = at.AXES[e]
        ws[a + c] = ws[above + at.FWD + 12 * e + 11] + ws[S + c] * ws[here + at.Y + 11]
    for e in range(6):
        ws[f + e] = ws[rows + 12 * e + 11]
        for c in at.AXES:
            ws[f + e] += ws[rows + 12 * e + c] * ws[a + c]
    lane = column_lane(ints, ws, i)
    for e in range(6):
        g, h = (e + 1) % 3, (e + 2) % 3  # S x* f
        p_s = ws[S + 4 + g] * ws[f + h + e // 3 * 3] - ws[S + 4 + h] * ws[f + g + e // 3 * 3]
        if e >= 3:
            p_s += ws[S + g] * ws[f + h] - ws[S + h] * ws[f + g]
        p_r = 0.0
        for c in at.AXES:
            p_s += ws[rows + 12 * e + c] * ws[here + at.SDD + c]
            p_r += 2.0 * ws[rows + 12 * e + c] * ws[SD + c]
        for c in range(3):
            p_s += ws[rows + 12 * e + 8 + c] * ws[SD + 4 + c]
            p_r += ws[rows + 12 * e + 8 + c] * ws[S + 4 + c]
        if ws[at.WRENCH_BLOCKS] != 0.0:
            N = int(ws[at.DISPLACEMENTS]) + i * DISPLACEMENT_RECORD + at.N + 8 * e
            for c in at.AXES:
                p_s += ws[N + c] * ws[S + c]
        ws[lane + at.P_S + 8 * e] = p_s
        ws[lane + at.P_R + 8 * e] = p_r


@lean_kernel
def column_lane(ints, ws, j):
    """Return where the sources of column j begin, its lane of the first row."""
    return int(ws[at.BLOCK_PART]) + ints[at.INT_HEADER + j * BODY_INTS + at.LANE]


@lean_kernel
def displace(ints, ws):
    """Fill yN and FwdN of every body."""
    blocks = int(ws[at.DISPLACEMENTS])
    for c in at.AXES:
        for e in range(6):
            ws[at.SCRATCH + e] = 0.0
            for k in range(6):
                g = ws[at.G + 8 * e + at.AXES[k]]
                ws[at.SCRATCH + e] -= g * ws[blocks + at.N + 8 * k + c]
        for e in range(6):
            ws[blocks + at.FWDN + 8 * e + c] = ws[at.SCRATCH + e]
    for k in range(ints[at.NB] - 1):
        i = ints[ints[at.ORDER] + k]
        here = blocks + i * DISPLACEMENT_RECORD
        above = blocks + parent(ints, i) * DISPLACEMENT_RECORD
        body = record(i)
        for c in at.AXES:
            y = -ws[here + at.FN + c] * ws[body + at.D_INVERSE]
            for e in range(6):
                y -= ws[body + at.UT + at.AXES[e]] * ws[above + at.FWDN + 8 * e + c]
            ws[here + at.YN + c] = y
            for e in range(6):
                ws[here + at.FWDN + 8 * e + c] = (
                    ws[above + at.FWDN + 8 * e + c] + ws[body + at.S + at.AXES[e]] * y
                )


@lean_kernel
def column(ints, floats, x, ws, out, j):
    """Fill the columns of s_j, r_j, tau_j: up the tree, across the base, down the tree."""
    nb, n, m = ints[at.NB], ints[at.NB] - 1, ints[at.NB] + 5
    columns = int(ws[at.COLUMN_PART])
    lane = column_lane(ints, ws, j)
    P = at.SCRATCH
    for e in range(6):
        ws[P + 3 * e] = ws[lane + at.P_S + 8 * e]
        ws[P + 3 * e + 1] = ws[lane + at.P_R + 8 * e]
        ws[P + 3 * e + 2] = 0.0
    for e in range(nb * at.U_ROW):
        ws[columns + e] = 0.0
    i = j
    while i > 0:
        u, body = columns + i * at.U_ROW, record(i)
        for c in range(3):
            for e in range(6):
                ws[u + c] += ws[body + at.S + at.AXES[e]] * ws[P + 3 * e + c]
        if i == j:
            link = model_record(j)
            ws[u] += floats[link + at.STIFFNESS]
            ws[u + 1] += passive_slope(floats, link, x[22 + n + joint(ints, j)])
            ws[u + 2] -= 1.0
        for c in range(3):
            for e in range(6):
                ws[P + 3 * e + c] -= ws[body + at.UT + at.AXES[e]] * ws[u + c]
        root, i = i, parent(ints, i)
    for i in range(j + 1, nb):
        if supports(ints, j, i):
            lower_sources(ints, ws, i, j, columns + i * at.U_ROW)
    for e in range(6):
        for c in range(3):
            acc = 0.0
            for k in range(6):
                acc -= ws[at.G + 8 * e + at.AXES[k]] * ws[P + 3 * k + c]
            ws[columns + 3 + 3 * e + c] = acc
            put(out, n, m + e, j, c, acc)
    for i in range(1, nb):
        if root == i or supports(ints, root, i):
            own_branch(ints, ws, out, i, j)
        else:
            for c in range(3):
                acc = 0.0
                for e in range(6):
                    acc += ws[record(i) + at.Y + at.AXES[e]] * ws[columns + 3 + 3 * e + c]
                put(out, n, m + 5 + i, j, c, acc)


@lean_kernel
def put(out, n, row, j, c, value):
    """Store entry c = 0, 1, 2 (s, r, tau) of column j in a row of A and B."""
    k = 12 + 2 * n
    if c == 2:
        out[k * k + row * n + j - 1] = value
    else:
        out[row * k + 5 + j + c * (6 + n)] = value


@lean_kernel
def supports(ints, j, i):
    """Whether body j is an ancestor of body i."""
    while i > j:
        i = parent(ints, i)
        if i == j:
            return True
    return False


@lean_kernel
def lower_sources(ints, ws, i, j, u):
    """Add u_ij for a body i below j."""
    for e in range(3):
        ws[u] += ws[record(i) + at.FU + e] * ws[record(j) + at.SD + 4 + e]
        ws[u + 1] += ws[record(i) + at.FU + e] * ws[record(j) + at.S + 4 + e]
    if ws[at.WRENCH_BLOCKS] != 0.0:
        FN = int(ws[at.DISPLACEMENTS]) + i * DISPLACEMENT_RECORD + at.FN
        for e in at.AXES:
            ws[u] += ws[FN + e] * ws[record(j) + at.S + e]


@lean_kernel
def own_branch(ints, ws, out, i, j):
    """Fill row i of column j, both in one root branch."""
    n, m = ints[at.NB] - 1, ints[at.NB] + 5
    body = record(i)
    u = int(ws[at.COLUMN_PART]) + i * at.U_ROW
    a = u + 3
    above = int(ws[at.COLUMN_PART]) + parent(ints, i) * at.U_ROW + 3
    for c in range(3):
        value = -ws[u + c] * ws[body + at.D_INVERSE]
        for e in range(6):
            value -= ws[body + at.UT + at.AXES[e]] * ws[above + 3 * e + c]
        put(out, n, m + 5 + i, j, c, value)
        for e in range(6):
            ws[a + 3 * e + c] = ws[above + 3 * e + c] + ws[body + at.S + at.AXES[e]] * value
    if i == j:
        for e in range(6):
            ws[a + 3 * e] += ws[body + at.SDD + at.AXES[e]]
            ws[a + 3 * e + 1] += 2.0 * ws[body + at.SD + at.AXES[e]]


@lean_kernel
def closed_forms(ints, x, ws, out):
    """Fill the columns of the base pose and twist, and the rows of H."""
    n, m = ints[at.NB] - 1, ints[at.NB] + 5
    k = 2 * m
    base, displaced = record(0) + at.FWD, ws[at.WRENCH_BLOCKS] != 0.0
    blocks = int(ws[at.DISPLACEMENTS])
    for row in range(6):
        for c in range(6):
            out[row * k + c] = 0.0
            out[(m + row) * k + c] = (
                ws[blocks + at.FWDN + 8 * row + at.AXES[c]] if displaced else 0.0
            )
            out[(m + row) * k + m + c] = ws[base + 12 * row + 5 + c] if c >= 3 else 0.0
    put_base_cross(out, k, 0, 0, x, 16 + n)
    put_base_cross(out, k, m, m, x, 16 + n)
    put_three_cross(out, k, m, 3, ws, at.UPWARD)
    for i in range(1, n + 1):
        row = (m + 5 + i) * k
        YN = blocks + i * DISPLACEMENT_RECORD + at.YN
        for c in range(6):
            out[row + c] = ws[YN + at.AXES[c]] if displaced else 0.0
            out[row + m + c] = ws[record(i) + at.Y + 5 + c] if c >= 3 else 0.0


@lean_kernel
def put_base_cross(out, k, row, col, x, v):
    """Subtract (v x) from the 6 x 6 block of A at (row, col)."""
    put_three_cross(out, k, row, col, x, v + 3)
    put_three_cross(out, k, row, col + 3, x, v)
    put_three_cross(out, k, row + 3, col + 3, x, v + 3)


@lean_kernel
def put_three_cross(out, k, row, col, h, at_h):
    """Subtract h^ from the 3 x 3 block of A at (row, col)."""
    for e in range(3):
        a, b = (e + 1) % 3, (e + 2) % 3
        out[(row + b) * k + col + a] -= h[at_h + e]
        out[(row + a) * k + col + b] += h[at_h + e]


@lean_kernel
def finish(ints, x, ws, out):
    """Store nu_dot and return whether everything is finite."""
    n, m = ints[at.NB] - 1, ints[at.NB] + 5
    nu_dot = 4 * m * m + 2 * m * n
    total = x[3] + x[7] + x[11]
    for e in range(6):
        out[nu_dot + e] = ws[record(0) + at.FWD + 12 * e + 11]
        total += out[nu_dot + e]
    for i in range(1, n + 1):
        out[nu_dot + 5 + i] = ws[record(i) + at.Y + 11]
        total += out[nu_dot + 5 + i]
    return OK if total - total == 0.0 else NOT_FINITE
