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
from geolin_ros.kernels.simd.product import add_product, clear
from geolin_ros.kernels.simd.vector import get, get_int, load8, put, splat8, store8


@lean_kernel
def part(sites, k, row):
    """Return where a part of the workspace begins, and how long its rows are."""
    return get_int(sites, k), get_int(sites, row)


@lean_kernel
def put_product(sites, cw, to, left, right, shape):
    """Fill a part (rows, width) with the product of two others, (rows, count) and (count, width).

    ``shape`` is (rows, count, width).
    """
    rows, count, width = shape
    clear(cw, to[0], rows * to[1])
    place, numbers = (left[0], left[1], 1), get_int(sites, on.IDENTITY)
    k, row = right
    add_product(cw, to[0], to[1], rows, width, cw, place, cw, k, row, sites, numbers, count)


@lean_kernel
def combine_matrix(sites, cw):
    """Fill -Lambda and J nu_dot_free + gamma of the rows that are kept."""
    rows, kept = get_int(sites, on.ROWS), get_int(sites, on.KEPT_ROWS)
    matrix = part(sites, on.MATRIX, on.MATRIX_ROW)
    for r in range(rows):
        put(cw, matrix[0] + r * matrix[1] + rows, get(cw, get_int(sites, on.FORCES) + r))
    half = part(sites, on.HALF, on.COMBINATION_ROW)
    C = part(sites, on.COMBINATION, on.COMBINATION_ROW)
    put_product(sites, cw, half, C, matrix, (kept, rows, rows + 1))
    to, lift = part(sites, on.KEPT_MATRIX, on.KEPT_ROW), part(sites, on.TRANSPOSED, on.KEPT_ROW)
    put_product(sites, cw, to, half, lift, (kept, rows, kept))
    for r in range(kept):
        put(cw, get_int(sites, on.KEPT_FORCES) + r, get(cw, half[0] + r * half[1] + rows))


@lean_kernel
def combine_forces(sites, cw):
    """Fill the forces of the rows of the sites."""
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
    rows, kept = get_int(sites, on.ROWS), get_int(sites, on.KEPT_ROWS)
    rates, to = part(sites, on.RATES, on.RATE_ROW), part(sites, on.KEPT_RATES, on.RATE_ROW)
    C = part(sites, on.COMBINATION, on.COMBINATION_ROW)
    put_product(sites, cw, to, C, rates, (kept, rows, rates[1]))


@lean_kernel
def combine_responses(sites, cw, m):
    """Fill the responses of m velocities to the forces of the rows that are kept."""
    rows, kept = get_int(sites, on.ROWS), get_int(sites, on.KEPT_ROWS)
    to, Y = part(sites, on.KEPT_RESPONSES, on.KEPT_ROW), part(sites, on.RESPONSES, on.MATRIX_ROW)
    put_product(sites, cw, to, Y, part(sites, on.TRANSPOSED, on.KEPT_ROW), (m, rows, kept))


@lean_kernel
def lift_changes(sites, cw):
    """Fill the forces that the caller sees, and their derivatives."""
    kept, rows = get_int(sites, on.KEPT_ROWS), get_int(sites, on.OUT_ROWS)
    changes, to = part(sites, on.CHANGES, on.RATE_ROW), part(sites, on.LIFTED, on.RATE_ROW)
    lift, forces = part(sites, on.LIFT, on.KEPT_ROW), get_int(sites, on.KEPT_FORCES)
    put_product(sites, cw, to, lift, changes, (rows, kept, to[1]))
    for r in range(rows):
        total = 0.0
        for e in range(kept):
            total += get(cw, lift[0] + r * lift[1] + e) * get(cw, forces + e)
        put(cw, get_int(sites, on.LIFTED_FORCES) + r, total)
