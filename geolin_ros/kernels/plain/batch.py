# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Hybrid dynamics and their derivatives of many samples, eight at a time.

Samples are rows of flat arrays. A group of eight is transposed into lanes, goes through the text
of `passes` and `derivatives`, and is transposed back row by row, which also puts joints
into the order of the caller: what is read where costs nothing there. The lanes do not meet, so a
sample's bytes depend neither on its neighbours nor on where a range begins.

Arguments of all:

robot
    (ints, floats, wrenches), see `passes.hybrid_dynamics`.
buffers
    (workspace, state, given, result, matrix) of eight samples each.
states : (N (22 + 2 n + 12 groups),)
given : (N (6 + n),)
rows
    Which rows of a result the caller wants, in that order.
status : (at least N, rounded up to eight,)
    All `OK`.
begin, end
    The samples begin .. end-1; ``begin`` is a multiple of eight.
"""

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.packing.layout import LANES
from geolin_ros.kernels.plain.derivatives import differentiate
from geolin_ros.kernels.plain.passes import hybrid_dynamics, mass_matrix
from geolin_ros.kernels.simd.lanes import lanes, load_samples, store_samples
from geolin_ros.kernels.simd.vector import get, put


@lean_kernel
def load(robot, buffers, states, given, status, first, last):
    """Transpose a group of samples; return the arguments of `passes.hybrid_dynamics`."""
    ws, x, values, row, _ = buffers
    size, m = x.size // LANES, values.size // LANES
    load_samples(states, first * size, size, last, lanes(x))
    load_samples(given, first * m, m, last, lanes(values))
    return (*robot, lanes(x), lanes(values), lanes(ws), lanes(row), status, first)


@lean_kernel
def evaluate_samples(robot, buffers, states, given, rows, result, status, begin, end):
    """Fill ``result`` (N rows) as `passes.hybrid_dynamics` does."""
    width = rows.size
    for first in range(begin, end, LANES):
        last = min(LANES, end - first) - 1
        group = load(robot, buffers, states, given, status, first, last)
        hybrid_dynamics(*group)
        store_samples(group[6], 0, rows, width, result, first * width, width, last)


@lean_kernel
def mass_matrices(robot, buffers, states, given, rows, out, status, begin, end):
    """Fill ``out``, N mass matrices with rows and columns ``rows``; everything is prescribed."""
    M, m, width = buffers[4], buffers[2].size // LANES, rows.size
    for k in range(LANES * m * m):
        put(M, k, 0.0)
    for first in range(begin, end, LANES):
        last = min(LANES, end - first) - 1
        group = load(robot, buffers, states, given, status, first, last)
        hybrid_dynamics(*group)
        mass_matrix(group[0], group[1], group[5], lanes(M))
        for r in range(width):
            to = (first * width + r) * width
            store_samples(lanes(M), m * rows[r], rows, width, out, to, width * width, last)


@lean_kernel
def differentiate_samples(
    robot, buffers, states, given, rows, columns, result, out, above, status, begin, end
):
    """Fill ``result`` (N rows), and two matrices from its derivative.

    Parameters
    ----------
    columns
        Which columns of the derivative go into the one and the other.
    out
        The two, one sample after another, each with as many rows as ``rows`` and ``above`` more
        before them; if those are all rows of a floating base, the block of its pose is filled.
    """
    D, size, m, height = buffers[4], buffers[1].size // LANES, buffers[2].size // LANES, rows.size
    for first in range(begin, end, LANES):
        last = min(LANES, end - first) - 1
        group = load(robot, buffers, states, given, status, first, last)
        differentiate(group, lanes(D))
        store_samples(group[6], 0, rows, height, result, first * height, height, last)
        for part in range(2):
            width = columns[part].size
            sample = (above + height) * width
            for r in range(height):
                source, to = 3 * m * rows[r], first * sample + (above + r) * width
                store_samples(lanes(D), source, columns[part], width, out[part], to, sample, last)
        if above == m:
            width = columns[0].size
            for k in range(first, first + last + 1):
                to = k * (above + height) * width
                put_pose_block(out[0], to, width, states, k * size + size - m)


@lean_kernel
def put_pose_block(A, to, width, states, v):
    """Store -(V x), the block (H, H) of A, of the twist V at ``v``."""
    for e in range(3):
        a, b = (e + 1) % 3, (e + 2) % 3
        linear, angular = get(states, v + e), get(states, v + 3 + e)
        put(A, to + b * width + a, -angular)
        put(A, to + a * width + b, angular)
        put(A, to + b * width + 3 + a, -linear)
        put(A, to + a * width + 3 + b, linear)
        put(A, to + (3 + b) * width + 3 + a, -angular)
        put(A, to + (3 + a) * width + 3 + b, angular)
