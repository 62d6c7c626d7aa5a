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
def load(buffers, states, given, first, last):
    """Transpose a group of samples into the lanes of the state and of what is given."""
    size, m = buffers[1].size // LANES, buffers[2].size // LANES
    load_samples(states, first * size, size, last, lanes(buffers[1]))
    load_samples(given, first * m, m, last, lanes(buffers[2]))


@lean_kernel
def evaluate_group(robot, buffers, states, given, status, first, last):
    """Do what `passes.hybrid_dynamics` does for one group of samples; leaves it in the lanes."""
    ints, floats, wrenches = robot
    ws, x, values, row, _ = buffers
    load(buffers, states, given, first, last)
    hybrid_dynamics(
        ints,
        floats,
        wrenches,
        lanes(x),
        lanes(values),
        lanes(ws),
        lanes(row),
        status,
        first,
    )


@lean_kernel
def evaluate_samples(robot, buffers, states, given, rows, result, status, begin, end):
    """Fill ``result`` (N rows) as `passes.hybrid_dynamics` does."""
    _, _, _, row, _ = buffers
    width = rows.size
    for first in range(begin, end, LANES):
        last = min(LANES, end - first) - 1
        evaluate_group(robot, buffers, states, given, status, first, last)
        store_samples(lanes(row), 0, rows, width, result, first * width, width, last)


@lean_kernel
def mass_matrices(robot, buffers, states, given, rows, out, status, begin, end):
    """Fill ``out``, N mass matrices with rows and columns ``rows``; everything is prescribed."""
    ints, floats, _ = robot
    ws, _, values, _, M = buffers
    m, width = values.size // LANES, rows.size
    for k in range(LANES * m * m):
        put(M, k, 0.0)
    for first in range(begin, end, LANES):
        last = min(LANES, end - first) - 1
        evaluate_group(robot, buffers, states, given, status, first, last)
        mass_matrix(ints, floats, lanes(ws), lanes(M))
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
    ints, floats, wrenches = robot
    ws, x, values, row, D = buffers
    m, height = values.size // LANES, rows.size
    size, width, other_width = x.size // LANES, columns[0].size, columns[1].size
    sample, other_sample = (above + height) * width, (above + height) * other_width
    for first in range(begin, end, LANES):
        last = min(LANES, end - first) - 1
        load(buffers, states, given, first, last)
        differentiate(
            ints,
            floats,
            wrenches,
            lanes(x),
            lanes(values),
            lanes(ws),
            lanes(row),
            lanes(D),
            status,
            first,
        )
        store_samples(lanes(row), 0, rows, height, result, first * height, height, last)
        for r in range(height):
            source = 3 * m * rows[r]
            to = first * sample + (above + r) * width
            store_samples(lanes(D), source, columns[0], width, out[0], to, sample, last)
            to = first * other_sample + (above + r) * other_width
            store_samples(
                lanes(D), source, columns[1], other_width, out[1], to, other_sample, last
            )
        if above == m:
            for k in range(first, first + last + 1):
                put_pose_block(out[0], k * sample, width, states, k * size + size - m)


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
