# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Minimize |C (1; z)| over all z with E (1; z) = 0: few constraints, many rows with few entries.

Constraints are solved for as many unknowns, the ``bound`` ones; the others, the ``free`` ones, are
found by Householder reflections that leave out rows without an entry in their column, so that a
row with a single entry costs next to nothing. No kernel allocates.
"""

from math import sqrt

from geolin_ros.kernels._jit import lean_kernel

SMALLEST = 1e-11  # pivot or diagonal entry over the largest one
LARGEST = 1e150  # whose square is a number


@lean_kernel
def minimize(E, C, z, bound, free, work):
    """Fill z (k,), factor E (p, 1 + k) and C (rows, 1 + k) in place; tell if z is determined.

    Afterwards E[i] is z[bound[i]] + E[i] (1; z) over free columns = 0, the first k - p rows of C
    are the triangle R in free columns, and chi squared is the sum of squares of what the other
    rows have in column 0.
    """
    if not solve_for_bound(E, C, bound):
        return False
    count = 0
    for j in range(z.shape[0]):
        is_free = True
        for i in range(bound.shape[0]):
            is_free = is_free and bound[i] != j
        if is_free:
            free[count] = j
            count += 1
    if not triangulate(C, free, work):
        return False
    substitute_back(E, C, z, bound, free)
    return True


@lean_kernel
def solve_for_bound(E, C, bound):
    """Eliminate one unknown after another, the one with the largest entry left [Gauss, Jordan]."""
    largest = 0.0
    for i in range(E.shape[0]):
        pivot, row, column = 0.0, i, 1
        for r in range(i, E.shape[0]):
            for c in range(1, E.shape[1]):
                if abs(E[r, c]) > pivot:
                    pivot, row, column = abs(E[r, c]), r, c
        largest = max(largest, pivot)
        if not pivot > SMALLEST * largest:
            return False
        bound[i] = column - 1
        swap_rows(E, i, row)
        inverse = 1.0 / E[i, column]
        for c in range(E.shape[1]):
            E[i, c] *= inverse
        E[i, column] = 1.0
        for r in range(E.shape[0]):
            if r != i:
                subtract_row(E[r], E[i], column)
        for r in range(C.shape[0]):
            subtract_row(C[r], E[i], column)
    return True


@lean_kernel
def subtract_row(row, pivot_row, column):
    """Subtract a multiple of ``pivot_row``, one in ``column``, that leaves a zero there."""
    share = row[column]
    if share != 0.0:
        for c in range(row.shape[0]):
            row[c] -= share * pivot_row[c]
        row[column] = 0.0


@lean_kernel
def triangulate(C, free, work):
    """Reflect the rows of C into a triangle in free columns; return whether it is regular."""
    rows = C.shape[0]
    largest, smallest = 0.0, LARGEST
    if rows < free.shape[0]:
        return False
    for t in range(free.shape[0]):
        j = 1 + free[t]
        row, squares, entries = t, 0.0, 0
        for r in range(t, rows):
            if C[r, j] != 0.0:
                squares += C[r, j] ** 2
                entries += 1
                if abs(C[r, j]) > abs(C[row, j]):
                    row = r
        swap_rows(C, t, row)
        length = sqrt(squares)
        if not length < LARGEST:  # NaN too
            return False
        largest, smallest = max(largest, length), min(smallest, length)
        if entries > 1:
            diagonal = C[t, j]
            reflected = -length if diagonal > 0.0 else length
            C[t, j] = diagonal - reflected
            reflect(C, t, j, 1.0 / (squares - diagonal * reflected), work)
            C[t, j] = reflected
    return smallest > SMALLEST * largest or free.shape[0] == 0


@lean_kernel
def reflect(C, t, j, weight, work):
    """C -= weight v v' C from row t and behind column j, and in column 0; v is column j."""
    rows, columns = C.shape
    first = 0.0
    for c in range(j + 1, columns):
        work[c] = 0.0
    for r in range(t, rows):
        share = C[r, j]
        if share != 0.0:
            first += share * C[r, 0]
            for c in range(j + 1, columns):
                work[c] += share * C[r, c]
    for r in range(t, rows):
        share = weight * C[r, j]
        if share != 0.0:
            C[r, 0] -= share * first
            for c in range(j + 1, columns):
                C[r, c] -= share * work[c]
            if r != t:
                C[r, j] = 0.0


@lean_kernel
def substitute_back(E, C, z, bound, free):
    """Fill z from the triangle, then what the constraints give."""
    for t in range(free.shape[0] - 1, -1, -1):
        rest = -C[t, 0]
        for u in range(t + 1, free.shape[0]):
            rest -= C[t, 1 + free[u]] * z[free[u]]
        z[free[t]] = rest / C[t, 1 + free[t]]
    for i in range(bound.shape[0]):
        rest = -E[i, 0]
        for u in range(free.shape[0]):
            rest -= E[i, 1 + free[u]] * z[free[u]]
        z[bound[i]] = rest


@lean_kernel
def swap_rows(M, i, k):
    """Exchange two rows."""
    if i != k:
        for c in range(M.shape[1]):
            M[i, c], M[k, c] = M[k, c], M[i, c]
