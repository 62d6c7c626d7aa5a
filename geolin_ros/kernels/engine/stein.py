# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""X = F'XF + E, the sum of all F'^i E F^i, by squaring F [Smith 1968].

    X_0 = E;   D = F_i' X_i F_i;   X_i+1 = X_i + D;   F_i+1 = F_i F_i

until D is small beside X. Matrices stay in memory of their own, where products of forty to sixty
rows take half the time that they take through a library. Of D, which is symmetric, the blocks on
and above the diagonal are summed.
"""

import numpy as np

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.packing.layout import COLUMN_BLOCK, LANES, ROW_BLOCK, aligned_zeros
from geolin_ros.kernels.simd.product import add_product, clear
from geolin_ros.kernels.simd.vector import get, lane_sum, load8, put, splat8, store8
from geolin_ros.typing import Array, IntArray

PARTS = 4  # F, X, and two products


def make_work(k: int) -> tuple[Array, Array, IntArray]:
    """Return memory for `stein`, its parts (PARTS, k, k) as a view, and the numbers below k."""
    columns = -(-k // COLUMN_BLOCK) * COLUMN_BLOCK + LANES
    work = aligned_zeros(PARTS * (k + ROW_BLOCK) * columns)
    parts = work.reshape(PARTS, k + ROW_BLOCK, columns)[:, :k, :k]
    return work, parts, np.arange(k)


@lean_kernel
def stein(work, numbers, settled, most):
    """Turn E into X; return whether it has settled within so many squarings.

    Where it has not, the memory may hold NaN in places that have to be zero: take another one.

    Parameters
    ----------
    work, numbers
        Of `make_work`: F in part 0, which is lost, E in part 1.
    settled
        |D| / |X| at the end.
    """
    k = numbers.shape[0]
    size = work.shape[0] // PARTS
    stride = size // (k + ROW_BLOCK)
    F, X, XF, other = 0, size, 2 * size, 3 * size
    for _ in range(most):
        multiply(work, XF, X, 1, F, stride, numbers, False)
        multiply(work, other, F, 0, XF, stride, numbers, True)
        change = total = splat8(0.0)
        for v in range(0, k * stride, LANES):
            D = load8(work, other + v)
            both = load8(work, X + v) + D
            store8(work, X + v, both)
            change, total = change + D * D, total + both * both
        size_of_X = lane_sum(total)
        if lane_sum(change) <= settled * settled * size_of_X and size_of_X - size_of_X == 0.0:
            return True
        multiply(work, other, F, 1, F, stride, numbers, False)
        F, other = other, F
    return False


@lean_kernel
def multiply(work, to, left, plain, right, stride, numbers, symmetric):
    """Fill a part with the product of two others, the left one transposed unless ``plain``."""
    k = numbers.shape[0]
    clear(work, to, k * stride)
    place = (left, stride, 1) if plain else (left, 1, stride)
    for v in range(0, k, COLUMN_BLOCK):
        rows, at, source = min(k, v + COLUMN_BLOCK) if symmetric else k, to + v, right + v
        width = COLUMN_BLOCK
        add_product(
            work, at, stride, rows, width, work, place, work, source, stride, numbers, 0, k
        )
    if symmetric:
        for i in range(k):
            for j in range(i):
                put(work, to + i * stride + j, get(work, to + j * stride + i))
