# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of a tree whose links are in independent contacts, and those of the forces.

Rows c = J nu_dot + gamma of accelerations that stay zero, forces lambda on the robot:

    M nu_dot + h = [0; tau] + J' lambda;     c = 0                                          (1)

The change of nu_dot is the free one at (nu_dot, lambda) plus that of the forces, which keeps c:

    d nu_dot = d nu_dot_free + Y d lambda,   Y = M^-1 J',   Lambda = J Y                    (2)
    d lambda = -Lambda^-1 E,   E = dc|_lambda = J d nu_dot_free + dc|_nu_dot            (3)

The free linearization is that of `linearization`, whose articulated quantities also carry the
contact rows: one walk up and one down per contact give Y and Lambda without a mass matrix.
The arrays are those of `layout` and `contact_layout`; nothing is checked here either.
"""

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.engine.combination import (
    combine_forces,
    combine_matrix,
    combine_rates,
    combine_responses,
    lift_changes,
)
from geolin_ros.kernels.engine.contact_rows import (
    contact_rows,
    loop_rows,
    path_body,
    site,
    turn_loops,
)
from geolin_ros.kernels.engine.linearization import (
    entries,
    expand,
    is_state,
    place,
    put_rows8,
    reduce,
    response,
    rows8,
    spatial,
    three,
    times_rows,
)
from geolin_ros.kernels.engine.mimic_rows import (
    accelerate_base,
    add_bias,
    apply_efforts,
    lane_rows,
    mimic_rows,
    push_base,
    rates_of_mimics,
    tied,
)
from geolin_ros.kernels.packing import contact_layout as on
from geolin_ros.kernels.packing import layout as at
from geolin_ros.kernels.packing.contact_layout import CONTACT_RECORD, SMALLEST_PIVOT
from geolin_ros.kernels.packing.layout import LANES, SMALLEST_SHARE
from geolin_ros.kernels.plain.passes import coordinate, parent, work
from geolin_ros.kernels.simd.product import add_product, clear, clear_after, copy_rows
from geolin_ros.kernels.simd.spatial_vectors import cross3, cross_force, dot, minus, plus, scaled3
from geolin_ros.kernels.simd.vector import (
    get,
    get_int,
    lane,
    lane_sum,
    load8,
    put,
    select,
    splat8,
    store8,
    store_lanes,
    with_lane,
)
from geolin_ros.kernels.status import NOT_A_STATE, OK, REDUNDANT, SINGULAR


@lean_kernel
def linearize_in_contact(ints, floats, sites, cw, x, inputs, ws, out):
    """Fill A, B, nu_dot and the forces with their derivatives; return the status.

    ``sites`` and ``cw`` are the contacts, of `contact_layout.pack_contacts`, ``out`` is of
    `contact_layout.outputs_of`; others as of `linearization.linearize`.
    """
    status = constrain(ints, floats, sites, cw, x, inputs, ws, out)
    if status == OK:
        n = get_int(ints, at.NB) - 1
        change_of_forces(sites, cw, get_int(sites, on.KEPT_RATES), 12 + 2 * n, n)
        add_forces(sites, cw, get_int(sites, on.KEPT_RESPONSES), out, 6 + n, 12 + 2 * n, n)
    return status


@lean_kernel
def constrain(ints, floats, sites, cw, x, inputs, ws, out):
    """Fill nu_dot, and A and B at constant forces, E and Y; return the status."""
    if not is_state(ints, x):
        return NOT_A_STATE
    place(ints, floats, x, inputs, ws)
    contacts = range(get_int(sites, on.COUNT))
    for c in contacts:
        end = get_int(sites, site(c) + on.LOOP)
        if end == 0:
            contact_rows(x, ws, sites, cw, c)
        elif end == 1:
            loop_rows(ws, sites, cw, c)
    if get_int(sites, on.BALLAST_ROWS) != 0:
        lend(ws, sites, cw)
    status = reduce(ints, floats, ws)
    if status != OK:
        return status
    for c in contacts:
        rise(ws, sites, cw, c)
    for c in contacts:
        respond(ints, ws, sites, cw, c)
    mimic_rows(ints, ws, sites, cw)
    combined = get_int(sites, on.COMBINED) != 0
    if combined:
        combine_matrix(sites, cw)
    status = solve_forces(ints, sites, cw)
    if status != OK:
        return status
    if combined:
        combine_forces(sites, cw)
    for c in contacts:
        apply_forces(ws, sites, cw, c)
    apply_efforts(ints, ws, sites, cw)
    status = expand(ints, x, ws, out)
    if status != OK:
        return status
    for c in contacts:
        spread_response(ints, ws, sites, cw, c)
    turn_loops(ints, ws, sites, cw, out)
    rates_at_constant_forces(ints, ws, sites, cw, out)
    rates_of_mimics(ints, sites, cw, out)
    if combined:
        combine_rates(sites, cw)
        combine_responses(sites, cw, 6 + get_int(ints, at.NB) - 1)
    return OK


# --- forces -----------------------------------------------------------------------------------


@lean_kernel
def lend(ws, sites, cw):
    """Fill the rows W of ballast, those of its contact, and add W times it times W' to I."""
    for c in range(get_int(sites, on.COUNT)):
        if get_int(sites, site(c) + on.LOOP) == on.OF_BALLAST:
            partner = get_int(sites, site(c) + on.PARTNER)
            to = get_int(sites, site(c) + on.JACOBIAN)
            source = get_int(sites, site(partner) + on.JACOBIAN)
            ballast = load8(cw, c * CONTACT_RECORD + on.BALLAST)
            rows = work(get_int(sites, site(c) + on.BODY)) + at.ROWS
            for e in range(6):
                row = load8(cw, source + 8 * e)
                store8(cw, to + 8 * e, row)
                for f in range(6):
                    k = rows + 12 * e + at.AXES[f]
                    share = lane_sum(row * (ballast * load8(cw, source + 8 * f)))
                    put(ws, k, get(ws, k) + share)


@lean_kernel
def rise(ws, sites, cw, c):
    """Walk up from a contact to the base with unit forces against its rows, P = -W.

    For the bodies i on the path:

        J_i = S_i' W;   u_i = S_i' P;   P <- P - Ut_i u_i                                   (1)
        a_0 = -G P                                                                          (2)

    Lane 6 carries the free motion: u_i of `linearization.eliminate`, and its a_0.
    """
    k, record = site(c), c * CONTACT_RECORD
    depth, W = get_int(sites, k + on.DEPTH), get_int(sites, k + on.JACOBIAN)
    rows = rows8(cw, W, 8)
    P = scaled3(-1.0, rows) + scaled3(-1.0, rows[3:])
    for step in range(depth - 1, -1, -1):
        body = work(path_body(sites, c, step))
        S, Ut = entries(ws, body + at.S), entries(ws, body + at.UT)
        store8(cw, W + 48 + 8 * step, dot(S, rows))
        u = with_lane(dot(S, P), 6, get(ws, body + at.FU + 3))
        store8(cw, W + 48 + 8 * (depth + step), u)
        P = minus(P, Ut, u)
    put_rows8(cw, record + on.RISEN, 8, P)
    accelerate_base(ws, cw, record + on.BASE, P)


@lean_kernel
def respond(ints, ws, sites, cw, c):
    """Walk down from the base with the unit forces of a contact: Y, columns of -Lambda, J a_free.

    In the root branch of the contact, u_i = 0 away from its path:

        Y_i = -u_i / D_i - Ut_i' a_p;     a_i = a_p + S_i Y_i                             (1)
        -Lambda_d = -W_d' a of the body of d;   other root branches: P_d' a_0               (2)
    """
    k, record, first = site(c), c * CONTACT_RECORD, get_int(sites, site(c) + on.FIRST)
    depth = get_int(sites, k + on.DEPTH)
    u_path = get_int(sites, k + on.JACOBIAN) + 48 + 8 * depth
    begin, end = get_int(sites, k + on.BEGIN), get_int(sites, k + on.END)
    field = get_int(sites, on.FIELD)
    responses, stride = get_int(sites, on.RESPONSES) + first, get_int(sites, on.MATRIX_ROW)
    base = rows8(cw, record + on.BASE, 8)
    own, step = (1 << get_int(sites, k + on.WIDTH)) - 1, 0
    for i in range(begin, end):
        body, p = work(i), parent(ints, i)
        a = base if p == 0 else rows8(cw, field + 48 * p, 8)
        u = splat8(0.0)
        if step < depth and i == path_body(sites, c, step):
            u = -get(ws, body + at.D_INVERSE) * load8(cw, u_path + 8 * step)
            step += 1
        y = response(u, entries(ws, body + at.UT), a)
        store_lanes(cw, responses + (5 + i) * stride, own, y)
        put_rows8(cw, field + 48 * i, 8, plus(a, entries(ws, body + at.S), y))
    matrix, matrix_row = get_int(sites, on.MATRIX) + first, get_int(sites, on.MATRIX_ROW)
    for d in range(get_int(sites, on.COUNT)):
        other, first_d = get_int(sites, site(d) + on.BODY), get_int(sites, site(d) + on.FIRST)
        inside = begin <= other < end and other > 0
        a = rows8(cw, field + 48 * other, 8) if inside else base
        W = get_int(sites, site(d) + on.JACOBIAN)
        for r in range(get_int(sites, site(d) + on.WIDTH)):
            risen = lane_rows(cw, d * CONTACT_RECORD + on.RISEN, r)
            row = 0.0 - dot(lane_rows(cw, W, r), a) if inside else dot(risen, a)
            store8(cw, matrix + (first_d + r) * matrix_row, row)
            if c == d:
                free = get(cw, record + on.BIAS + r) - lane(row, 6)
                put(cw, get_int(sites, on.FORCES) + first + r, free)


@lean_kernel
def solve_forces(ints, sites, cw):
    """Invert -Lambda in place and find the forces; return the status.

    Exchange steps as in `linearization.base_solve`, with the right-hand side J nu_dot_free +
    gamma as one more column. A pivot is what is left of the mobility of a row when those before it
    are fixed; mimic joints, always independent, come first, and rows of ballast, whose mobility
    less W^-1 is negative by then, last. A copy of what was inverted remains.
    """
    rows, stride = get_int(sites, on.KEPT_ROWS), get_int(sites, on.KEPT_ROW)
    matrix, forces = get_int(sites, on.KEPT_MATRIX), get_int(sites, on.KEPT_FORCES)
    copy = get_int(sites, on.MOBILITIES) - matrix
    ballast = get_int(sites, on.BALLAST_MOBILITIES)
    for r in range(rows):
        row = matrix + r * stride
        put(cw, row + rows, get(cw, forces + r))
        put(cw, forces + r, SMALLEST_PIVOT * get(cw, row + r))
        if get(cw, ballast + r) > 0.0:
            put(cw, row + r, get(cw, row + r) + get(cw, ballast + r))
        for v in range(row, row + rows + 1, LANES):
            store8(cw, copy + v, load8(cw, v))
    one, zero = splat8(1.0), splat8(0.0)
    order = get_int(sites, on.PIVOTS)
    for step in range(rows):
        k = get_int(sites, order + step)
        pivot_row = matrix + k * stride
        pivot, lent = get(cw, pivot_row + k), get(cw, ballast + k)
        good = pivot > SMALLEST_SHARE * lent if lent > 0.0 else pivot < get(cw, forces + k)
        if not good:  # NaN neither; without ballast both are negative
            if lent <= 0.0 and k < get_int(sites, on.KEPT_CONTACT_ROWS):
                return REDUNDANT
            return SINGULAR + 6 + coordinate(ints, held_body(sites, k))
        own, bit = k - k % LANES, 1 << (k % LANES)
        store8(cw, pivot_row + own, select(bit, one, load8(cw, pivot_row + own)))
        for v in range(0, rows + 1, LANES):
            store8(cw, pivot_row + v, load8(cw, pivot_row + v) * (1.0 / pivot))
        for r in range(rows):
            if r != k:
                row = matrix + r * stride
                factor = get(cw, row + k)
                store8(cw, row + own, select(bit, zero, load8(cw, row + own)))
                for v in range(0, rows + 1, LANES):
                    store8(cw, row + v, load8(cw, row + v) - factor * load8(cw, pivot_row + v))
    for r in range(rows):
        put(cw, forces + r, get(cw, matrix + r * stride + rows))
    return OK


@lean_kernel
def held_body(sites, k):
    """Return the body of a row that is kept behind those of contacts: of ballast or a mimic."""
    row = k + get_int(sites, on.ROWS) - get_int(sites, on.KEPT_ROWS)
    if row >= get_int(sites, on.CONTACT_ROWS):
        return tied(sites, row)[0]
    c = get_int(sites, on.COUNT) - 1
    while row < get_int(sites, site(c) + on.FIRST):
        c -= 1
    return get_int(sites, site(c) + on.BODY)


@lean_kernel
def apply_forces(ws, sites, cw, c):
    """Let the forces of a contact act on the bias forces, from its body to the base.

    With f = -W lambda on the body: pA_i += f, u_i += S_i' f, f <- f - Ut_i S_i' f; the base
    accelerates by -G f more.
    """
    k = site(c)
    W = get_int(sites, k + on.JACOBIAN)
    forces = load8(cw, get_int(sites, on.FORCES) + get_int(sites, k + on.FIRST))
    f = -times_rows(cw, W, forces)
    for step in range(get_int(sites, k + on.DEPTH) - 1, -1, -1):
        body = work(path_body(sites, c, step))
        add_bias(ws, body + at.ROWS, spatial(f))
        u = lane_sum(load8(ws, body + at.S) * f)
        put(ws, body + at.FU + 3, get(ws, body + at.FU + 3) + u)
        f = f - u * load8(ws, body + at.UT)
    push_base(ws, f)


# --- derivatives ------------------------------------------------------------------------------


@lean_kernel
def spread_response(ints, ws, sites, cw, c):
    """Fill the rows of Y of other root branches, which a contact moves through the base alone."""
    begin, end = get_int(sites, site(c) + on.BEGIN), get_int(sites, site(c) + on.END)
    responses, stride = get_int(sites, on.RESPONSES), get_int(sites, on.MATRIX_ROW)
    responses += get_int(sites, site(c) + on.FIRST)
    own = (1 << get_int(sites, site(c) + on.WIDTH)) - 1
    base = rows8(cw, c * CONTACT_RECORD + on.BASE, 8)
    for e in range(6):
        store_lanes(cw, responses + e * stride, own, base[e])
    for i in range(1, get_int(ints, at.NB)):
        if i < begin or i >= end:
            y = dot(entries(ws, work(i) + at.Y), base)
            store_lanes(cw, responses + (5 + i) * stride, own, y)


@lean_kernel
def rates_at_constant_forces(ints, ws, sites, cw, out):
    """Fill E and J Y', the derivatives of c by state and by effort at constant forces.

    E = J A + dc at constant nu_dot, with A, B the rows of nu_dot. The latter is zero but for the
    base and the joints j on the path:

        by pose of the base   BY_POSE - (g; 0) x* W;     by its twist   BY_TWIST - V_0 x* W  (1)
        by s_j   Sd_j' BY_TWIST + S_j' BY_POSE + Sdd_j' W;   by r_j   S_j' BY_TWIST + 2 Sd_j' W

    The terms of the base undo what A holds in addition, its axes turning with it.
    """
    n = get_int(ints, at.NB) - 1
    m, k = 6 + n, 12 + 2 * n
    rates, stride = get_int(sites, on.RATES), get_int(sites, on.RATE_ROW)
    clear(cw, rates, get_int(sites, on.ROWS) * stride)
    V = entries(ws, work(0) + at.V)
    up = three(ws, at.UPWARD, 1)
    in_B, by_effort = k * k + m * n, get_int(sites, on.BY_EFFORT)
    for c in range(get_int(sites, on.COUNT)):
        here, record = site(c), c * CONTACT_RECORD
        width, W = get_int(sites, here + on.WIDTH), get_int(sites, here + on.JACOBIAN)
        to = rates + get_int(sites, here + on.FIRST) * stride
        rows = rows8(cw, W, 8)
        by_twist = rows8(cw, record + on.BY_TWIST, 8)
        by_pose = rows8(cw, record + on.BY_POSE, 8)
        turn, weight = cross_force(V, rows), cross3(up, rows)
        for e in range(3):
            put_column(cw, to + e, stride, width, by_pose[e])
            put_column(cw, to + 3 + e, stride, width, by_pose[3 + e] - weight[e])
        for e in range(6):
            put_column(cw, to + m + e, stride, width, by_twist[e] - turn[e])
        depth = get_int(sites, here + on.DEPTH)
        for step in range(depth):
            j = path_body(sites, c, step)
            body = work(j)
            S, Sd = entries(ws, body + at.S), entries(ws, body + at.SD)
            by_s = dot(Sd, by_twist) + dot(S, by_pose) + dot(entries(ws, body + at.SDD), rows)
            by_r = dot(S, by_twist) + dot(entries(ws, body + at.JUMP), rows)
            put_column(cw, to + 5 + j, stride, width, by_s)
            put_column(cw, to + m + 5 + j, stride, width, by_r)
        support = get_int(sites, here + on.SUPPORT)
        J = (W, 1, 8)
        add_product(cw, to, stride, width, k, cw, J, out, m * k, k, sites, support, 6 + depth)
        to += by_effort
        add_product(cw, to, stride, width, n, cw, J, out, in_B, n, sites, support, 6 + depth)


@lean_kernel
def put_column(cw, k, stride, width, v):
    """Store the first three or six lanes ``stride`` apart."""
    put(cw, k, lane(v, 0))
    put(cw, k + stride, lane(v, 1))
    put(cw, k + 2 * stride, lane(v, 2))
    if width == 6:
        put(cw, k + 3 * stride, lane(v, 3))
        put(cw, k + 4 * stride, lane(v, 4))
        put(cw, k + 5 * stride, lane(v, 5))


@lean_kernel
def change_of_forces(sites, cw, rates, k, n):
    """Fill the derivatives of the forces, by k states and n efforts: -Lambda^-1 [E, J Y']."""
    rows, stride = get_int(sites, on.KEPT_ROWS), get_int(sites, on.RATE_ROW)
    changes = get_int(sites, on.CHANGES)
    clear(cw, changes, rows * stride)
    identity, by_effort = get_int(sites, on.IDENTITY), get_int(sites, on.BY_EFFORT)
    for r in range(rows):
        clear_after(cw, rates + r * stride, k, by_effort)
        clear_after(cw, rates + r * stride + by_effort, n, stride - by_effort)
    inverse = (get_int(sites, on.KEPT_MATRIX), get_int(sites, on.KEPT_ROW), 1)
    for begin, width in ((0, k), (by_effort, n)):
        to, source = changes + begin, rates + begin
        add_product(
            cw, to, stride, rows, width, cw, inverse, cw, source, stride, sites, identity, rows
        )


@lean_kernel
def add_forces(sites, cw, responses, out, m, k, n):
    """Add Y times the changes of the forces to A and B; copy forces and changes out."""
    rows, stride = get_int(sites, on.KEPT_ROWS), get_int(sites, on.RATE_ROW)
    by_state = get_int(sites, on.CHANGES)
    by_effort = by_state + get_int(sites, on.BY_EFFORT)
    Y = (responses, get_int(sites, on.KEPT_ROW), 1)
    identity, in_B, forces = get_int(sites, on.IDENTITY), k * k + m * n, k * k + k * n + m
    add_product(out, m * k, k, m, k, cw, Y, cw, by_state, stride, sites, identity, rows)
    add_product(out, in_B, n, m, n, cw, Y, cw, by_effort, stride, sites, identity, rows)
    rows, found = get_int(sites, on.OUT_ROWS), get_int(sites, on.KEPT_FORCES)
    if get_int(sites, on.COMBINED) != 0:
        lift_changes(sites, cw)
        by_state, found = get_int(sites, on.LIFTED), get_int(sites, on.LIFTED_FORCES)
        by_effort = by_state + get_int(sites, on.BY_EFFORT)
    for r in range(rows):
        put(out, forces + r, get(cw, found + r))
    copy_rows(cw, by_state, stride, rows, k, out, forces + rows)
    copy_rows(cw, by_effort, stride, rows, n, out, forces + rows + rows * k)
