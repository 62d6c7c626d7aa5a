# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Dense Cholesky factorization of the trailing block of a matrix."""

import math

from geolin_ros.kernels._jit import kernel


@kernel
def factor(M, first, L_out):
    """Factor M[first:, first:] = L L'; return 0, or 1 + the row of a failing pivot.

    A pivot at the rounding level of its diagonal entry counts as zero.
    """
    m = M.shape[0]
    for i in range(first, m):
        for j in range(first, i + 1):
            acc = M[i, j]
            for k in range(first, j):
                acc -= L_out[i, k] * L_out[j, k]
            if i > j:
                L_out[i, j] = acc / L_out[j, j]
            elif acc > 1e-14 * M[i, i]:
                L_out[i, i] = math.sqrt(acc)
            else:
                return 1 + i
    return 0
