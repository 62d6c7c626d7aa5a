# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Solve D d + b = 0 on a pattern that is known beforehand, rows and columns in a fixed order.

A matrix is given by its entries ``values``; row k of the ordered matrix is entries
``entry[start[k] : start[k + 1]]`` in the columns ``column``. No kernel allocates.
"""

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.status import NOT_FINITE, OK, SINGULAR

SMALLEST_PIVOT = 1e-14  # relative to the largest entry of the row


@lean_kernel
def substitute(row_of, column_of, pivot, start, column, entry, values, b, d):
    """Fill d of a triangular system by forward substitution [Nori, Property 1].

    Equation k is row ``row_of[k]`` and gives unknown ``column_of[k]`` from those before; the
    entries without the pivot are given, columns in their natural numbers.
    """
    total = 0.0
    for k in range(row_of.shape[0]):
        rest = -b[row_of[k]]
        for e in range(start[k], start[k + 1]):
            rest -= values[entry[e]] * d[column[e]]
        rest /= values[pivot[k]]
        d[column_of[k]] = rest
        total += rest
    return OK if total - total == 0.0 else NOT_FINITE


@lean_kernel
def factor(
    start, column, entry, values, lower_start, lower_column, upper_start, upper_column, lower,
    upper, pivot, work,
):  # fmt: skip
    """Fill L (unit diagonal, by rows), U (by rows) and its ``pivot``: A = L (U + diag pivot).

    Row by row, no pivoting; ``work`` is zero before and after. Returns `SINGULAR` + k if the
    pivot of row k vanishes.
    """
    for i in range(pivot.shape[0]):
        largest = 0.0
        for e in range(start[i], start[i + 1]):
            value = values[entry[e]]
            work[column[e]] = value
            largest = max(largest, abs(value))
        for e in range(lower_start[i], lower_start[i + 1]):
            k = lower_column[e]
            factor_ik = work[k] / pivot[k]
            work[k] = 0.0
            lower[e] = factor_ik
            for u in range(upper_start[k], upper_start[k + 1]):
                work[upper_column[u]] -= factor_ik * upper[u]
        pivot[i] = work[i]
        work[i] = 0.0
        for u in range(upper_start[i], upper_start[i + 1]):
            upper[u] = work[upper_column[u]]
            work[upper_column[u]] = 0.0
        if not abs(pivot[i]) > SMALLEST_PIVOT * largest:
            return SINGULAR + i
    return OK


@lean_kernel
def solve(
    row_of, column_of, lower_start, lower_column, upper_start, upper_column, lower, upper, pivot,
    b, work, d,
):  # fmt: skip
    """Fill d with the solution of D d + b = 0 from the factors; leaves ``work`` zero."""
    n = pivot.shape[0]
    for i in range(n):
        rest = -b[row_of[i]]
        for e in range(lower_start[i], lower_start[i + 1]):
            rest -= lower[e] * work[lower_column[e]]
        work[i] = rest
    total = 0.0
    for i in range(n - 1, -1, -1):
        rest = work[i]
        for u in range(upper_start[i], upper_start[i + 1]):
            rest -= upper[u] * work[upper_column[u]]
        rest /= pivot[i]
        work[i] = rest
        d[column_of[i]] = rest
        total += rest
    for i in range(n):
        work[i] = 0.0
    return OK if total - total == 0.0 else NOT_FINITE
