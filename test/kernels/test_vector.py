# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The vector type of the kernels, against NumPy."""

import numpy as np
import pytest
from numba.core.errors import NumbaError, TypingError

from geolin_ros.kernels._jit import kernel, lean_kernel
from geolin_ros.kernels.simd.vector import (
    even_pairs,
    get,
    get_int,
    high_half,
    high_pairs,
    join,
    lane,
    lane_sum,
    load4,
    load8,
    low_half,
    low_pairs,
    odd_pairs,
    put,
    rotate_up,
    select,
    skew_row_0,
    skew_row_1,
    skew_row_2,
    splat4,
    splat8,
    store4,
    store8,
    store_lanes,
    with_lane,
)

A, B = np.arange(1.0, 9.0), np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, 6.0])


@lean_kernel
def combine(a, b, out):
    x, y = load8(a, 0), load8(b, 0)
    store8(out, 0, 2.0 * x + y * x - y * 0.5)
    store4(out, 8, load4(a, 1) - load4(b, 2))
    store4(out, 12, low_half(x) * high_half(y))
    store8(out, 16, join(splat4(7.0), rotate_up(load4(b, 0))))
    put(out, 24, lane_sum(y))
    put(out, 25, lane(x, 5) + get(b, 3))
    store8(out, 32, with_lane(splat8(1.0), 3, 2.0))


def test_arithmetic_and_lanes__equal_numpy():
    out = np.zeros(48)
    combine(A, B, out)
    np.testing.assert_allclose(out[:8], 2.0 * A + A * B - 0.5 * B, rtol=1e-15)
    assert np.array_equal(out[8:12], A[1:5] - B[2:6])
    assert np.array_equal(out[12:16], A[:4] * B[4:])
    assert np.array_equal(out[16:24], [7.0] * 4 + [B[1], B[2], B[0], B[3]])
    assert out[24] == B.sum()
    assert out[25] == A[5] + B[3]
    assert np.array_equal(out[32:40], [1, 1, 1, 2, 1, 1, 1, 1])


@lean_kernel
def mask(a, b, bits, out):
    store8(out, 0, select(bits, load8(a, 0), load8(b, 0)))
    store_lanes(out, 8, bits, load8(a, 0))


@pytest.mark.parametrize('bits', [0, 1, 0b1000_0000, 0b0110_1001, 255, 256 + 2])
def test_masks__pick_lanes_and_leave_other_memory_alone(bits):
    out = np.full(16, np.nan)
    mask(A, B, bits, out)
    chosen = np.array([bits >> k & 1 for k in range(8)], dtype=bool)
    assert np.array_equal(out[:8], np.where(chosen, A, B))
    assert np.array_equal(out[8:], np.where(chosen, A, np.nan), equal_nan=True)


@lean_kernel
def skew_and_transpose(h, rows, out):
    v = load4(h, 0)
    w = splat4(0.0) - v
    store4(out, 0, skew_row_0(v, w))
    store4(out, 4, skew_row_1(v, w))
    store4(out, 8, skew_row_2(v, w))
    r0, r1, r2, r3 = load8(rows, 0), load8(rows, 8), load8(rows, 16), load8(rows, 24)
    e0, o0, e1, o1 = even_pairs(r0, r1), odd_pairs(r0, r1), even_pairs(r2, r3), odd_pairs(r2, r3)
    store8(out, 16, low_pairs(e0, e1))
    store8(out, 24, low_pairs(o0, o1))
    store8(out, 32, high_pairs(e0, e1))
    store8(out, 40, high_pairs(o0, o1))


def test_shuffles__give_cross_matrix_and_transposed_halves():
    h, rows, out = np.array([1.0, 2.0, 3.0, 0.0]), np.arange(32.0), np.zeros(48)
    skew_and_transpose(h, rows, out)
    assert np.array_equal(out[:12].reshape(3, 4)[:, :3], np.cross(np.eye(3), h[:3]))
    halves, found = rows.reshape(4, 8), out[16:].reshape(4, 8)
    assert np.array_equal(found[:, :4], halves[:, :4].T)
    assert np.array_equal(found[:, 4:], halves[:, 4:].T)


@lean_kernel
def first(array):
    return get(array, 0)


@lean_kernel
def first_int(array):
    return get_int(array, 0)


@lean_kernel
def overwrite(array):
    put(array, 0, 1.0)


@pytest.mark.parametrize(
    ('function', 'array'),
    [
        (first, np.zeros(8, np.float32)),
        (first, np.zeros(16)[::2]),
        (first_int, np.zeros(8, np.int32)),
    ],
    ids=['float32', 'strided', 'int32'],
)
def test_load__takes_contiguous_arrays_of_one_type_only(function, array):
    with pytest.raises(TypingError):
        function(array)


def test_store__refuses_a_read_only_array():
    array = np.zeros(8)
    array.setflags(write=False)
    with pytest.raises(TypingError):
        overwrite(array)


@kernel
def allocate(array):
    return np.zeros(array.shape[0])[0]


@lean_kernel
def allocate_without_runtime(array):
    return np.zeros(array.shape[0])[0]


def test_lean_kernel__cannot_allocate():
    assert allocate(A) == 0.0
    with pytest.raises(NumbaError):
        allocate_without_runtime(A)
