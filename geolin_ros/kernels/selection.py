# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows and columns of A, B and nu_dot in the caller's order, without those of a fixed base."""

from geolin_ros.kernels._jit import lean_kernel


@lean_kernel
def select(kept, inputs, A, B, nu_dot, A_out, B_out, nu_dot_out):
    """A_out = A[kept, kept],  B_out = B[kept, inputs],  nu_dot_out = its accelerations.

    The second half of ``kept`` are rows of nu_dot.
    """
    m = nu_dot_out.shape[0]
    first = nu_dot.shape[0]
    for row in range(kept.shape[0]):
        for col in range(kept.shape[0]):
            A_out[row, col] = A[kept[row], kept[col]]
        for col in range(inputs.shape[0]):
            B_out[row, col] = B[kept[row], inputs[col]]
    for row in range(m):
        nu_dot_out[row] = nu_dot[kept[m + row] - first]
