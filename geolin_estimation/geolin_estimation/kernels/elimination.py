# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Dynamic variables as affine functions of some of them, by forward substitution.

A column holds the constant part, then one number for each of the variables that stay open. No
kernel allocates.
"""

from geolin_ros.kernels._jit import lean_kernel


@lean_kernel
def substitute_columns(row_of, column_of, start, column, entry, values, b, T):
    """Fill row ``column_of[k]`` of T by equation ``row_of[k]``, one after another.

    The pivot of each equation is -1 and not among its entries, so that

        T[column_of[k]] = sum_e values[e] T[column[e]] + b[row_of[k]] (1, 0, ..., 0)
    """
    for k in range(row_of.shape[0]):
        add_entries(start[k], start[k + 1], column, entry, values, T, T[column_of[k]])
        T[column_of[k], 0] += b[row_of[k]]


@lean_kernel
def evaluate_rows(row_of, start, column, entry, values, b, T, out):
    """Fill out[k] with row ``row_of[k]`` of D T + b (1, 0, ..., 0)."""
    for k in range(row_of.shape[0]):
        add_entries(start[k], start[k + 1], column, entry, values, T, out[k])
        out[k, 0] += b[row_of[k]]


@lean_kernel
def add_entries(first, last, column, entry, values, T, out):
    """out = sum of values[entry[e]] T[column[e]] over e."""
    for c in range(out.shape[0]):
        out[c] = 0.0
    for e in range(first, last):
        value, source = values[entry[e]], T[column[e]]
        for c in range(out.shape[0]):
            out[c] += value * source[c]
