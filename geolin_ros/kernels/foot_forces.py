# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forces at points of a robot that explain the forces its motion lacks."""

import math

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.cholesky import factor, solve_rows


@kernel
def foot_forces(J, of_point, row, lacking, base, least, A, G, f, sizes):
    """Fill sizes (K,) with the norms of the forces f at K points, by least squares.

    A f = w lacking, with rows of J (K, 6, m): row[i] of the point of_point[i]; w is ``base`` for
    the six of the base, 1 for the others. ``least`` is what counts as no singular value, as a part
    of the largest:

        (A' A + least^2 tr(A' A) 1) f = A' w lacking

    A (k, m), by columns, and G (k, k) are scratch memory, f (k, 1). Returns 0, or a failing pivot.
    """
    k, m = A.shape
    trace = 0.0
    for i in range(k):
        f[i, 0] = 0.0
        for c in range(m):
            weight = base if c < 6 else 1.0
            A[i, c] = weight * J[of_point[i], row[i], c]
            f[i, 0] += A[i, c] * weight * lacking[c]
        for j in range(i + 1):
            total = 0.0
            for c in range(m):
                total += A[i, c] * A[j, c]
            G[i, j] = total
        trace += G[i, i]
    for i in range(k):
        G[i, i] += least * least * trace
    status = factor(G, 0, G)
    if status == 0:
        solve_rows(G, 0, f)
    sizes[:] = 0.0
    for i in range(k):
        if row[i] < 3:
            sizes[of_point[i]] += f[i, 0] * f[i, 0]
    for j in range(sizes.shape[0]):
        sizes[j] = math.sqrt(sizes[j])
    return status
