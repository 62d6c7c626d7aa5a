# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows of constraints as combinations C of the rows of sites, and what follows for their forces.

The row of a loop is the difference of those of its two frames; rows that depend on each other are
replaced by as many independent ones. With lambda the forces of the rows that are kept:

    Lambda = C Lambda_sites C',   rates C E,   responses Y C',   forces of the sites C' lambda (1)

Rows of mimic joints stay as they are. Without combinations nothing of this runs.
"""

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.packing import contact_layout as on
from geolin_ros.kernels.packing.layout import LANES
from geolin_ros.kernels.simd.product import add_product
from geolin_ros.kernels.simd.vector import get, get_int, load8, put, splat8, store8


@lean_kernel
def clear(cw, begin, size):
    """Fill with zeros, by eight."""
    for v in range(begin, begin + size, LANES):
        store8(cw, v, splat8(0.0))


@lean_kernel
def combine_matrix(sites, cw):
    """Fill -Lambda and J nu_dot_free + gamma of the rows that are kept."""
    if get_int(sites, on.COMBINED) == 0:
        return
    rows, kept = get_int(sites, on.ROWS), get_int(sites, on.KEPT_ROWS)
    matrix, stride = get_int(sites, on.MATRIX), get_int(sites, on.MATRIX_ROW)
    half, half_row = get_int(sites, on.HALF), get_int(sites, on.COMBINATION_ROW)
    to, to_row = get_int(sites, on.KEPT_MATRIX), get_int(sites, on.KEPT_ROW)
    identity, forces = get_int(sites, on.IDENTITY), get_int(sites, on.KEPT_FORCES)
    for r in range(rows):
        put(cw, matrix + r * stride + rows, get(cw, get_int(sites, on.FORCES) + r))
    clear(cw, half, kept * half_row)
    C = (get_int(sites, on.COMBINATION), get_int(sites, on.COMBINATION_ROW), 1)
    add_product(
        cw, half, half_row, kept, rows + 1, cw, C, cw, matrix, stride, sites, identity, rows
    )
    clear(cw, to, kept * to_row)
    lift, lift_row = get_int(sites, on.TRANSPOSED), get_int(sites, on.KEPT_ROW)
    place = (half, half_row, 1)
    add_product(cw, to, to_row, kept, kept, cw, place, cw, lift, lift_row, sites, identity, rows)
    for r in range(kept):
        put(cw, forces + r, get(cw, half + r * half_row + rows))


@lean_kernel
def combine_forces(sites, cw):
    """Fill the forces of the rows of the sites."""
    if get_int(sites, on.COMBINED) == 0:
        return
    C, stride = get_int(sites, on.COMBINATION), get_int(sites, on.COMBINATION_ROW)
    to, forces = get_int(sites, on.FORCES), get_int(sites, on.KEPT_FORCES)
    for v in range(0, get_int(sites, on.ROWS), LANES):
        sum_ = splat8(0.0)
        for r in range(get_int(sites, on.KEPT_ROWS)):
            sum_ = sum_ + get(cw, forces + r) * load8(cw, C + r * stride + v)
        store8(cw, to + v, sum_)


@lean_kernel
def combine_rates(sites, cw):
    """Fill the derivatives by state and by effort of the rows that are kept."""
    if get_int(sites, on.COMBINED) == 0:
        return
    rows, kept = get_int(sites, on.ROWS), get_int(sites, on.KEPT_ROWS)
    rates, to, stride = (
        get_int(sites, on.RATES),
        get_int(sites, on.KEPT_RATES),
        get_int(sites, on.RATE_ROW),
    )
    clear(cw, to, kept * stride)
    C = (get_int(sites, on.COMBINATION), get_int(sites, on.COMBINATION_ROW), 1)
    identity = get_int(sites, on.IDENTITY)
    add_product(cw, to, stride, kept, stride, cw, C, cw, rates, stride, sites, identity, rows)


@lean_kernel
def combine_responses(sites, cw, m):
    """Fill the responses of m velocities to the forces of the rows that are kept."""
    if get_int(sites, on.COMBINED) == 0:
        return
    rows, kept = get_int(sites, on.ROWS), get_int(sites, on.KEPT_ROWS)
    to, to_row = get_int(sites, on.KEPT_RESPONSES), get_int(sites, on.KEPT_ROW)
    clear(cw, to, m * to_row)
    place = (get_int(sites, on.RESPONSES), get_int(sites, on.MATRIX_ROW), 1)
    lift, lift_row = get_int(sites, on.TRANSPOSED), get_int(sites, on.KEPT_ROW)
    identity = get_int(sites, on.IDENTITY)
    add_product(cw, to, to_row, m, kept, cw, place, cw, lift, lift_row, sites, identity, rows)


@lean_kernel
def lift_changes(sites, cw):
    """Fill the forces that the caller sees, and their derivatives."""
    kept, rows, stride = (
        get_int(sites, on.KEPT_ROWS),
        get_int(sites, on.OUT_ROWS),
        get_int(sites, on.RATE_ROW),
    )
    changes, to, forces = (
        get_int(sites, on.CHANGES),
        get_int(sites, on.LIFTED),
        get_int(sites, on.LIFTED_FORCES),
    )
    lift, lift_row = get_int(sites, on.LIFT), get_int(sites, on.KEPT_ROW)
    clear(cw, to, rows * stride)
    place, identity = (lift, lift_row, 1), get_int(sites, on.IDENTITY)
    add_product(
        cw, to, stride, rows, stride, cw, place, cw, changes, stride, sites, identity, kept
    )
    for r in range(rows):
        total = 0.0
        for e in range(kept):
            total += get(cw, lift + r * lift_row + e) * get(cw, get_int(sites, on.KEPT_FORCES) + e)
        put(cw, forces + r, total)
