# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Products of small matrices in flat arrays, summed in registers."""

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.packing.layout import COLUMN_BLOCK, LANES, ROW_BLOCK
from geolin_ros.kernels.simd.vector import get, get_int, load8, select, splat8, store8


@lean_kernel
def clear(cw, begin, size):
    """Fill with zeros, by eight."""
    for v in range(begin, begin + size, LANES):
        store8(cw, v, splat8(0.0))


@lean_kernel
def clear_after(cw, row, width, length):
    """Set the entries of a row from ``width`` on to zero: products ran over it."""
    for v in range(width - width % LANES, length, LANES):
        kept = (1 << max(0, width - v)) - 1
        store8(cw, row + v, select(kept, load8(cw, row + v), splat8(0.0)))


@lean_kernel
def add_product(to, k, stride, rows, width, coefs, place, source, first, row, ints, list_, count):
    """to += coefs source: ``rows`` x ``count`` numbers times the listed rows of ``source``.

    Blocks of 4 x 16 entries are summed in registers, over the end of what is asked for too:
    coefficients or source are zero there.

    Parameters
    ----------
    to, k, stride, rows, width
        Where the result begins, distance and number of its rows, their length.
    coefs, place
        ``(offset, distance of rows, distance of columns)``.
    source, first, row
        Where row 0 begins, and the distance of rows.
    ints, list_, count
        Which rows of the source.
    """
    for v in range(0, width, COLUMN_BLOCK):
        for r in range(0, rows, ROW_BLOCK):
            t0 = k + r * stride + v
            t1, t2, t3 = t0 + stride, t0 + 2 * stride, t0 + 3 * stride
            a0, b0 = load8(to, t0), load8(to, t0 + 8)
            a1, b1 = load8(to, t1), load8(to, t1 + 8)
            a2, b2 = load8(to, t2), load8(to, t2 + 8)
            a3, b3 = load8(to, t3), load8(to, t3 + 8)
            coef = place[0] + r * place[1]
            for e in range(count):
                s = first + get_int(ints, list_ + e) * row + v
                x, y = load8(source, s), load8(source, s + 8)
                c0, c1 = get(coefs, coef), get(coefs, coef + place[1])
                c2, c3 = get(coefs, coef + 2 * place[1]), get(coefs, coef + 3 * place[1])
                a0, b0, a1, b1 = a0 + c0 * x, b0 + c0 * y, a1 + c1 * x, b1 + c1 * y
                a2, b2, a3, b3 = a2 + c2 * x, b2 + c2 * y, a3 + c3 * x, b3 + c3 * y
                coef += place[2]
            store8(to, t0, a0)
            store8(to, t0 + 8, b0)
            store8(to, t1, a1)
            store8(to, t1 + 8, b1)
            store8(to, t2, a2)
            store8(to, t2 + 8, b2)
            store8(to, t3, a3)
            store8(to, t3 + 8, b3)


@lean_kernel
def copy_rows(cw, k, stride, rows, width, out, to):
    """Copy rows to consecutive ones, by eight: later rows overwrite what is too much."""
    for r in range(rows):
        for v in range(0, width, LANES):
            store8(out, to + r * width + v, load8(cw, k + r * stride + v))
