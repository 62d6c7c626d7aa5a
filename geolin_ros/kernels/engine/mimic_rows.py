# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows r_dep - k r_master = 0 that tie mimic joints to their masters.

They are rows of constraints as those of contacts, and their forces efforts of two joints: lam at
the mimic joint, -k lam at its master. Multipliers are constant, so that c = J nu_dot and

    E = J d nu_dot,  by state and by effort                                                 (1)

Blocks of `BLOCK_ROWS` rows share a walk up and one down the tree.
"""

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.engine.contact_rows import site
from geolin_ros.kernels.engine.linearization import (
    bias_columns,
    entries,
    put_rows8,
    response,
    rows8,
    spatial,
    three,
)
from geolin_ros.kernels.packing import contact_layout as on
from geolin_ros.kernels.packing import layout as at
from geolin_ros.kernels.packing.contact_layout import BLOCK_ROWS
from geolin_ros.kernels.packing.layout import LANES
from geolin_ros.kernels.plain.passes import parent, times_minus_G, work
from geolin_ros.kernels.simd.product import clear
from geolin_ros.kernels.simd.spatial_vectors import dot, minus, plus
from geolin_ros.kernels.simd.vector import (
    get,
    get_int,
    lane,
    lane_sum,
    load8,
    put,
    splat8,
    store8,
    store_lanes,
    with_lane,
)


@lean_kernel
def mimic_rows(ints, ws, sites, cw):
    """Fill the rows and columns of mimic joints in -Lambda, in Y and in J nu_dot_free."""
    first, rows = get_int(sites, on.CONTACT_ROWS), get_int(sites, on.ROWS)
    for begin in range(first, rows, BLOCK_ROWS):
        block = (begin - first) // BLOCK_ROWS
        rise(ints, ws, sites, cw, block)
        descend(ints, ws, sites, cw, begin, min(BLOCK_ROWS, rows - begin))
        mobilities(ints, sites, cw, begin, min(BLOCK_ROWS, rows - begin))


@lean_kernel
def tied(sites, row):
    """Return the body of the mimic joint of a row, and that of the joint it follows."""
    k = get_int(sites, on.MIMICS) + 2 * (row - get_int(sites, on.CONTACT_ROWS))
    return get_int(sites, k), get_int(sites, k + 1)


@lean_kernel
def touched(sites, block):
    """Return begin and end of the bodies from the joints of a block to the base, last first."""
    k, first = get_int(sites, on.TOUCHED_BLOCKS) + block, get_int(sites, on.TOUCHED)
    return first + get_int(sites, k), first + get_int(sites, k + 1)


@lean_kernel
def coefficients(ints, sites, block, i):
    """Return where the coefficients of joint i in the rows of a block are."""
    place = block * get_int(ints, at.NB) + i
    return get_int(sites, on.COEFFICIENTS) + LANES * place


@lean_kernel
def multiplier(ints, sites, cw, row):
    """Return -k of a row."""
    past = row - get_int(sites, on.CONTACT_ROWS)
    k = coefficients(ints, sites, past // BLOCK_ROWS, tied(sites, row)[1])
    return get(cw, k + past % BLOCK_ROWS)


@lean_kernel
def rise(ints, ws, sites, cw, block):
    """Walk up from the joints of a block to the base with unit efforts against its rows.

    u_i = S_i' P - coefficients;   P_p += P - Ut_i u_i;   a_0 = -G P_0. Lane 6 carries the free
    motion, as in `contact_linearization.rise`.
    """
    field, efforts = get_int(sites, on.FIELD), get_int(sites, on.EFFORTS)
    begin, end = touched(sites, block)
    clear(cw, efforts, LANES * get_int(ints, at.NB))
    clear(cw, field, 48)
    for k in range(begin, end):
        clear(cw, field + 48 * get_int(sites, k), 48)
    for k in range(begin, end):
        i = get_int(sites, k)
        body, here, above = work(i), field + 48 * i, field + 48 * parent(ints, i)
        P = rows8(cw, here, 8)
        unit = load8(cw, coefficients(ints, sites, block, i))
        u = 0.0 - response(unit, entries(ws, body + at.S), P)
        store8(cw, efforts + LANES * i, with_lane(u, 6, get(ws, body + at.FU + 3)))
        P = minus(P, entries(ws, body + at.UT), u)
        put_rows8(cw, above, 8, plus(rows8(cw, above, 8), P, 1.0))
    accelerate_base(ws, cw, field, rows8(cw, field, 8))


@lean_kernel
def accelerate_base(ws, cw, k, P):
    """Store the accelerations -G P of the base, the free one in lane 6."""
    a, free = times_minus_G(ws, P), entries(ws, work(0) + at.ACC)
    for e in range(6):
        store8(cw, k + 8 * e, with_lane(a[e], 6, free[e]))


@lean_kernel
def descend(ints, ws, sites, cw, begin, width):
    """Walk down from the base: accelerations of all bodies and Y of a block.

    Y_i = -(u_i / D_i + Ut_i' a_p);     a_i = a_p + S_i Y_i
    """
    field, efforts = get_int(sites, on.FIELD), get_int(sites, on.EFFORTS)
    responses, stride = get_int(sites, on.RESPONSES) + begin, get_int(sites, on.MATRIX_ROW)
    own = (1 << width) - 1
    for e in range(6):
        store_lanes(cw, responses + e * stride, own, load8(cw, field + 8 * e))
    for i in range(1, get_int(ints, at.NB)):
        body, a = work(i), rows8(cw, field + 48 * parent(ints, i), 8)
        u = -get(ws, body + at.D_INVERSE) * load8(cw, efforts + LANES * i)
        y = response(u, entries(ws, body + at.UT), a)
        store8(cw, efforts + LANES * i, y)
        store_lanes(cw, responses + (5 + i) * stride, own, y)
        put_rows8(cw, field + 48 * i, 8, plus(a, entries(ws, body + at.S), y))


@lean_kernel
def mobilities(ints, sites, cw, begin, width):
    """Fill the columns of a block in -Lambda, what mirrors them, and its rows of J nu_dot_free."""
    field, efforts = get_int(sites, on.FIELD), get_int(sites, on.EFFORTS)
    matrix, stride = get_int(sites, on.MATRIX), get_int(sites, on.MATRIX_ROW)
    first = get_int(sites, on.CONTACT_ROWS)
    for d in range(get_int(sites, on.COUNT)):
        here, W = site(d), get_int(sites, site(d) + on.JACOBIAN)
        a = rows8(cw, field + 48 * get_int(sites, here + on.BODY), 8)
        for r in range(get_int(sites, here + on.WIDTH)):
            row = get_int(sites, here + on.FIRST) + r
            store8(cw, matrix + row * stride + begin, 0.0 - dot(lane_rows(cw, W, r), a))
            for c in range(width):
                mirrored = get(cw, matrix + row * stride + begin + c)
                put(cw, matrix + (begin + c) * stride + row, mirrored)
    for row in range(first, get_int(sites, on.ROWS)):
        follower, leader = tied(sites, row)
        leads = multiplier(ints, sites, cw, row) * load8(cw, efforts + LANES * leader)
        share = 0.0 - (load8(cw, efforts + LANES * follower) + leads)
        store8(cw, matrix + row * stride + begin, share)
        if begin <= row < begin + width:
            put(cw, get_int(sites, on.FORCES) + row, -lane(share, 6))


@lean_kernel
def apply_efforts(ints, ws, sites, cw):
    """Let the forces of the rows act on the bias forces, see `contact_linearization.apply_forces`.

    Efforts e = J' lam of the joints: u_i += S_i' f - e_i,   f_p += f - Ut_i (S_i' f - e_i).
    """
    first, rows = get_int(sites, on.CONTACT_ROWS), get_int(sites, on.ROWS)
    for begin in range(first, rows, BLOCK_ROWS):
        push(ints, ws, sites, cw, begin, (begin - first) // BLOCK_ROWS)


@lean_kernel
def push(ints, ws, sites, cw, row, block):
    """Let the forces of a block act, whose first row is given."""
    field, forces = get_int(sites, on.FIELD), load8(cw, get_int(sites, on.FORCES) + row)
    begin, end = touched(sites, block)
    store8(cw, field, splat8(0.0))
    for k in range(begin, end):
        store8(cw, field + LANES * get_int(sites, k), splat8(0.0))
    for k in range(begin, end):
        i = get_int(sites, k)
        body, above = work(i), field + LANES * parent(ints, i)
        f = load8(cw, field + LANES * i)
        effort = load8(cw, coefficients(ints, sites, block, i)) * forces
        add_bias(ws, body + at.ROWS, spatial(f))
        u = lane_sum(load8(ws, body + at.S) * f - effort)
        put(ws, body + at.FU + 3, get(ws, body + at.FU + 3) + u)
        store8(cw, above, load8(cw, above) + (f - u * load8(ws, body + at.UT)))
    push_base(ws, load8(cw, field))


@lean_kernel
def push_base(ws, f):
    """Let the bias force of the base change by f: it accelerates by -G f more."""
    base = work(0)
    add_bias(ws, base + at.FWD, times_minus_G(ws, spatial(f)))
    store8(ws, base + at.ACC, bias_columns(ws, base + at.FWD + 8)[3])


@lean_kernel
def lane_rows(cw, k, r):
    """Return lane r of six vectors of eight: the spatial vector of one contact row."""
    return three(cw, k + r, 8) + three(cw, k + 24 + r, 8)


@lean_kernel
def add_bias(ws, rows, f):
    """Add six numbers to the last column of six rows of 8 + 4 lanes."""
    for e in range(6):
        at_e = rows + 11 + 12 * e
        put(ws, at_e, get(ws, at_e) + f[e])


@lean_kernel
def rates_of_mimics(ints, sites, cw, out):
    """Fill the rows of mimic joints in E and J Y'."""
    n = get_int(ints, at.NB) - 1
    m, k = 6 + n, 12 + 2 * n
    rates, stride = get_int(sites, on.RATES), get_int(sites, on.RATE_ROW)
    for row in range(get_int(sites, on.CONTACT_ROWS), get_int(sites, on.ROWS)):
        follower, leader = tied(sites, row)
        share, to = multiplier(ints, sites, cw, row), rates + row * stride
        a, b = (m + 5 + follower) * k, (m + 5 + leader) * k
        for v in range(0, k, LANES):
            store8(cw, to + v, load8(out, a + v) + share * load8(out, b + v))
        to += get_int(sites, on.BY_EFFORT)
        a, b = k * k + (m + 5 + follower) * n, k * k + (m + 5 + leader) * n
        for v in range(0, n, LANES):
            store8(cw, to + v, load8(out, a + v) + share * load8(out, b + v))
