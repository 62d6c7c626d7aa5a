# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""exp(X) and phi1(X) B of a linearization, whose upper rows have few entries.

phi1(X) = X^-1 (exp(X) - 1) is a series that is summed for X and B halved several times; a doubling
[Higham 2008, section 10.7.4] undoes each:

    phi1(X) = 1 + X phi2(X),   phi2(X) = 1 / 2! + X / 3! + X^2 / 4! + ...               (1)
    E = [exp(X) | phi1(X) B] = [1 + X phi1(X) | phi1(X) B]                              (2)
    E of (2 X, 2 B) = exp(X) E + [0 | phi1(X) B]                                        (3)

The upper rows of X, those of positions, are those of the identity and of -(v x). A product with
them is a sum of a few rows. What X is multiplied by is a series T of X, so that X T = T X:

    X T = [X_upper T; T_lower,left X_upper + T_lower,right X_lower]                         (4)

and only the last product, a quarter of the whole, is one of dense matrices. phi2 is summed by
powers of X^2, X^3 or X^4 [Paterson 1973]; (1) and (4) need its lower rows and those alone that
-(v x) picks.
"""

import math

import numpy as np

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.packing.layout import COLUMN_BLOCK, LANES, ROW_BLOCK, aligned_zeros
from geolin_ros.kernels.simd.product import add_product, clear, clear_after
from geolin_ros.kernels.simd.vector import (
    get,
    get_int,
    lane_sum,
    load8,
    put,
    select,
    splat8,
    store8,
)
from geolin_ros.typing import Array, IntArray

FEW = 8  # entries of an upper row, at most
LARGEST_NORM = 1.2  # root of that of X X: fewer terms below it, one more doubling
ROUNDING = 2.0**-54
MOST_TERMS = 40
MOST_POWERS = 6
COST = 2.0  # of a product by a power, in products with X
PARTS = 8  # [X | B], its powers, two sums; later phi1 and E in the place of powers


def make_work(k: int, n: int) -> tuple[Array, IntArray]:
    """Return memory for `exponential`, with [X | B] (k, k + n) in it, and lists of integers.

    What is beside [X | B] is zero and stays it. Rows are one vector longer than products need:
    parts a multiple of 4096 bytes apart get into each other's way. A row after the parts holds the
    entries of X at (i, upper + i).
    """
    columns = -(-(k + n + LANES) // COLUMN_BLOCK) * COLUMN_BLOCK + LANES
    work = aligned_zeros((PARTS * (k + ROW_BLOCK) + 1) * columns)
    lists = np.zeros(k * (2 + FEW), np.int64)
    lists[:k] = np.arange(k)
    return work, lists


def parts_of(work: Array, k: int) -> Array:
    """Return (parts, rows, columns): a view of the memory."""
    rows = PARTS * (k + ROW_BLOCK)
    return work.reshape(rows + 1, -1)[:rows].reshape(PARTS, k + ROW_BLOCK, -1)


@lean_kernel
def fill(work, k, at, columns, dt):
    """Fill the columns of [X | B] (k, k + n) from ``at`` on with dt times some columns (k, ..)."""
    stride = work.shape[0] // (PARTS * (k + ROW_BLOCK) + 1)
    for i in range(k):
        for j in range(columns.shape[1]):
            put(work, i * stride + at + j, dt * columns[i, j])


@lean_kernel
def exponential(work, lists, k, n):
    """Fill E from [X | B] (k, k + n); return the number of the part that holds E.

    Parameters
    ----------
    work, lists
        Of `make_work`.
    """
    stride = work.shape[0] // (PARTS * (k + ROW_BLOCK) + 1)
    size = (k + ROW_BLOCK) * stride
    upper, reach = list_entries(work, lists, stride, k)
    unit = unit_of_time(work, stride, k, upper)
    multiply(work, lists, size, 0, stride, k, upper)
    norm = math.sqrt(norm_of(work, size, stride, k, upper, unit))
    halvings = 0
    if norm > LARGEST_NORM and norm - norm == 0.0:
        halvings = math.frexp(norm / LARGEST_NORM)[1]
    factor = 0.5**halvings
    if halvings > 0:
        for v in range(0, size, LANES):
            store8(work, v, factor * load8(work, v))
            store8(work, size + v, factor * factor * load8(work, size + v))
        for v in range(diagonal_row(stride, k), work.shape[0], LANES):
            store8(work, v, factor * load8(work, v))
    norms = (norm_of(work, 0, stride, k, upper, unit), factor * norm, factor * norm)
    last = last_term(norms) - 1
    powers, made = powers_for(last), 2
    if powers >= 4:  # X^4 tells how many terms count
        multiply(work, lists, 2 * size, size, stride, k, upper)
        multiply(work, lists, 3 * size, 2 * size, stride, k, upper)
        fourth = norm_of(work, 3 * size, stride, k, upper, unit) ** 0.25
        last = last_term((norms[0], norms[1], fourth)) - 1
        powers, made = max(4, powers_for(last)), 4
    for power in range(made, powers):
        multiply(work, lists, power * size, (power - 1) * size, stride, k, upper)
    phi2, other, top = 6 * size, 7 * size, (powers - 1) * size
    head, tail = reach, upper  # rows 0 .. head-1 and tail .. k-1 are summed
    if reach > 0 and reach + ROW_BLOCK > upper:  # products run over the end of a block of rows
        head = tail = k
    j = last - last % powers
    sum_powers(work, phi2, size, stride, k, (0, head), (powers, j))
    sum_powers(work, phi2, size, stride, k, (tail, k), (powers, j))
    while j > 0:
        j -= powers
        for begin, end in ((0, head), (tail, k)):
            sum_powers(work, other, size, stride, k, (begin, end), (powers, j))
            row, own = other + begin * stride, (phi2 + begin * stride, stride, 1)
            rows = end - begin
            add_product(work, row, stride, rows, k, work, own, work, top, stride, lists, 0, k)
        phi2, other = other, phi2
    phi1, E, product = size, 2 * size, 3 * size
    multiply(work, lists, phi1, phi2, stride, k, upper)
    add_identity(work, phi1, stride, k)
    multiply(work, lists, E, phi1, stride, k, upper)
    add_identity(work, E, stride, k)
    for i in range(k):
        clear_after(work, E + i * stride, k, stride)
    own, lower = (phi1 + upper, stride, 1), upper * stride + k
    add_product(work, E + k, stride, k, n, work, own, work, lower, stride, lists, 0, k - upper)
    first = first_of_upper(work, stride, k, n, upper)
    if first < n:
        own, c = (phi1, stride, 1), k + first
        add_product(work, E + c, stride, k, n - first, work, own, work, c, stride, lists, 0, upper)
    for _ in range(halvings):
        for i in range(k):
            for v in range(0, stride, LANES):
                positions, at = (1 << max(0, min(LANES, k - v))) - 1, i * stride + v
                store8(work, product + at, select(positions, splat8(0.0), load8(work, E + at)))
        own = (E, stride, 1)
        add_product(work, product, stride, k, k + n, work, own, work, E, stride, lists, 0, k)
        E, product = product, E
    return E // size


@lean_kernel
def add_identity(work, part, stride, k):
    """Add 1 to the entries of the diagonal."""
    for diagonal in range(part, part + k * (stride + 1), stride + 1):
        put(work, diagonal, 1.0 + get(work, diagonal))


@lean_kernel
def last_term(norms):
    """Return the last j of T_j that counts, from |X|, |X^2|^(1/2) and |X^4|^(1/4).

    |T_j| <= |X^4|^(j // 4) |X^(j % 4)| / (j + 1)!, at most 2^-54 from the next j on.
    """
    one, two, four = norms
    size = 1.0
    for j in range(1, MOST_TERMS):
        rest = j % 4
        size = 1.0 / (j + 1) * size
        power = four ** (j - rest)
        power *= 1.0 if rest == 0 else one if rest == 1 else two * two
        if rest == 3:
            power *= one
        if size * power <= ROUNDING:
            return max(2, j - 1)
    return MOST_TERMS


@lean_kernel
def powers_for(last):
    """Return how many powers of X the cheapest sum to X^last stands on, 1 included."""
    best, least = 2, 1e9
    for powers in range(2, MOST_POWERS + 1):
        cost = powers + COST * (last // powers)
        if cost < least:
            best, least = powers, cost
    return best


@lean_kernel
def sum_powers(work, to, size, stride, k, rows, terms):
    """Fill rows of a part with 1 / (j + 2)! + X / (j + 3)! + ..., as many terms as powers."""
    powers, j = terms
    c = 1.0
    for i in range(2, j + 3):
        c /= i
    factor = c
    for power in range(1, powers):
        factor /= j + 2 + power
        source = (power - 1) * size
        for row in range(rows[0], rows[1]):
            for v in range(row * stride, row * stride + k, LANES):
                total = factor * load8(work, source + v)
                if power > 1:
                    total = total + load8(work, to + v)
                store8(work, to + v, total)
    for row in range(rows[0], rows[1]):
        diagonal = to + row * (stride + 1)
        put(work, diagonal, c + get(work, diagonal))


@lean_kernel
def list_entries(work, lists, stride, k):
    """List the columns of the entries of leading rows of X with few.

    Return how many rows these are, and how many leading columns of them have entries other than
    those from there on.
    """
    upper = 0
    while upper < k and list_row(work, lists, stride, k, upper):
        upper += 1
    diagonal = diagonal_row(stride, k)
    clear(work, diagonal, stride)
    for i in range(min(upper, k - upper)):
        put(work, diagonal + i, get(work, i * stride + upper + i))
    reach = 0
    for i in range(upper):
        at = k + i * (FEW + 1)
        for e in range(at + 1, at + 1 + get_int(lists, at)):
            j = get_int(lists, e)
            if j < upper:
                reach = max(reach, j + 1)
    return upper, reach


@lean_kernel
def list_row(work, lists, stride, k, i):
    """List the columns of the entries of row i of X; return whether they are few."""
    count, at = 0, k + i * (FEW + 1)
    for j in range(k):
        if get(work, i * stride + j) != 0.0:
            count += 1
            if count > FEW:
                return False
            lists[at + count] = j
    lists[at] = count
    return True


@lean_kernel
def diagonal_row(stride, k):
    """Return where the row after the parts begins."""
    return PARTS * (k + ROW_BLOCK) * stride


@lean_kernel
def first_of_upper(work, stride, k, n, upper):
    """Return the first column of B that is not zero in the upper rows; n if there is none."""
    first = n
    for i in range(upper):
        row = i * stride + k
        j = 0
        while j < first and get(work, row + j) == 0.0:
            j += 1
        first = j
    return first


@lean_kernel
def unit_of_time(work, stride, k, upper):
    """Return d for which [[X11, d X12], [X21 / d, X22]] is smallest: rates as large as positions.

    The series converges alike in all units.
    """
    _, X12 = squares(work, 0, stride, 0, upper, upper, k)
    X21, _ = squares(work, 0, stride, upper, k, upper, k)
    return (X21 / X12) ** 0.25 if X12 > 0.0 and X21 > 0.0 else 1.0


@lean_kernel
def norm_of(work, part, stride, k, upper, unit):
    """Return the Frobenius norm of a part (k, k) with that unit of time."""
    Y11, Y12 = squares(work, part, stride, 0, upper, upper, k)
    Y21, Y22 = squares(work, part, stride, upper, k, upper, k)
    return math.sqrt(Y11 + unit * unit * Y12 + Y21 / (unit * unit) + Y22)


@lean_kernel
def squares(work, part, stride, begin, end, split, k):
    """Return the sums of squares of rows begin .. end-1, of their left and their right part."""
    zero = splat8(0.0)
    left = right = zero
    for v in range(0, k, LANES):
        in_left, in_all = (1 << max(0, split - v)) - 1, (1 << max(0, k - v)) - 1
        for i in range(begin, end):
            x = load8(work, part + i * stride + v)
            left = left + select(in_left, x * x, zero)
            right = right + select(in_all & ~in_left, x * x, zero)
    return lane_sum(left), lane_sum(right)


@lean_kernel
def multiply(work, lists, to, source, stride, k, upper):
    """Fill the first k columns of a part by (4) with X times another part, a series of X.

    What follows these columns is garbage.
    """
    for i in range(upper):
        at = k + i * (FEW + 1)
        for v in range(0, k, LANES):
            total = splat8(0.0)
            for e in range(at + 1, at + 1 + get_int(lists, at)):
                j = get_int(lists, e)
                total = total + get(work, i * stride + j) * load8(work, source + j * stride + v)
            store8(work, to + i * stride + v, total)
    lower, diagonal = upper * stride, diagonal_row(stride, k)
    for row in range(lower, (k + ROW_BLOCK) * stride, stride):
        clear(work, to + row, k + LANES)
        for v in range(0, upper, LANES):
            moved = load8(work, diagonal + v) * load8(work, source + row + v)
            store8(work, to + row + upper + v, moved)
    for i in range(upper):
        at = k + i * (FEW + 1)
        for e in range(at + 1, at + 1 + get_int(lists, at)):
            j, x = get_int(lists, e), get(work, i * stride + get_int(lists, e))
            if j != i + upper:
                for row in range(lower, k * stride, stride):
                    there = to + row + j
                    put(work, there, get(work, there) + x * get(work, source + row + i))
    T = (source + lower + upper, stride, 1)
    rows = k - upper
    add_product(work, to + lower, stride, rows, k, work, T, work, lower, stride, lists, 0, rows)
