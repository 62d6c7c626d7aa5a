# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The plain derivatives called as the fast linearization is."""

import numpy as np

from geolin_ros.kernels.packing import layout
from geolin_ros.kernels.plain.derivatives import differentiate
from geolin_ros.spatial import se3


def linearize(ints, floats, x, inputs, ws, out):
    """Fill ``out`` and return the status, see `kernels.linearization.linearize`."""
    n = int(ints[layout.NB]) - 1
    m = 6 + n
    nothing = np.zeros(0)
    packed = layout.Packed(ints, floats, nothing, nothing, (), None, None)
    scratch = np.full(min(ws.size, layout.plain_workspace_size(packed)), np.nan)
    given, status = np.concatenate((np.zeros(6), inputs[:n])), np.zeros(1, np.int64)
    D, nu_dot = np.full((m, 3 * m), np.nan), out[4 * m * m + 2 * m * n :]
    differentiate(ints, floats, inputs[n:], x, given, scratch, nu_dot, D.reshape(-1), status, 0)
    A = out[: 4 * m * m].reshape(2 * m, 2 * m)
    B = out[4 * m * m :][: 2 * m * n].reshape(2 * m, n)
    A[:6, :6] = -se3.cross(x[16 + n : 22 + n])
    A[m:], B[m:] = D[:, : 2 * m], D[:, 2 * m + 6 :]
    return int(status[0])
