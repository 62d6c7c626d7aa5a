# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The vector type of the kernels, and eight angles at once against extended precision."""

import numpy as np
import pytest
from numba.core.errors import NumbaError, TypingError

from geolin_ros.kernels._jit import kernel, lean_kernel
from geolin_ros.kernels.simd.lanes import lanes
from geolin_ros.kernels.simd.trigonometry import LARGEST, cos_sin, cos_sin_of_eight
from geolin_ros.kernels.simd.vector import get, get_int, load8, put, select, store8, store_lanes

A, B = np.arange(1.0, 9.0), np.arange(-8.0, 0.0)


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


@lean_kernel
def in_lanes(angles, cos, sin):
    for k in range(angles.size // 8):
        lanes(cos)[k], lanes(sin)[k] = cos_sin_of_eight(lanes(angles)[k])


@lean_kernel
def one(angle):
    return cos_sin(angle)


def evaluated(angles):
    cos, sin = np.empty_like(angles), np.empty_like(angles)
    in_lanes(angles, cos, sin)
    return cos, sin


def units_in_the_last_place(found, exact):
    unit = np.spacing(np.abs(exact.astype(float)))
    return float(np.max(np.abs(found - exact) / unit))


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason='no extended precision here')
@pytest.mark.parametrize('scale', [1e-3, 0.79, 3.2, 100.0, 0.99 * LARGEST, 100.0 * LARGEST])
def test_angles__are_off_by_less_than_one_unit(scale):
    angles = scale * np.random.default_rng(1).uniform(-1.0, 1.0, 80000)
    exact = angles.astype(np.longdouble)
    cos, sin = evaluated(angles)
    assert units_in_the_last_place(cos, np.cos(exact)) < 1.0
    assert units_in_the_last_place(sin, np.sin(exact)) < 1.0


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason='no extended precision here')
def test_quarter_turns__lose_no_digits():
    angles = 0.5 * np.pi * np.arange(-4000.0, 4000.0)
    exact = angles.astype(np.longdouble)
    cos, sin = evaluated(angles)
    # extended precision itself loses about ten of its bits here
    assert np.max(np.abs(cos - np.cos(exact))) < 1e-16
    assert np.max(np.abs(sin - np.sin(exact))) < 1e-16


def test_extreme_angles__are_those_of_the_library():
    angles = np.array([0.0, 5e-324, 1e-300, np.nan, np.inf, -np.inf, 1e300, -2.0 * LARGEST])
    with np.errstate(invalid='ignore'):
        expected = np.cos(angles), np.sin(angles)
    for found, right in zip(evaluated(angles), expected, strict=True):
        np.testing.assert_array_equal(found, right)


def test_lane__does_not_depend_on_the_others():
    rng = np.random.default_rng(2)
    angles = rng.uniform(-9.0, 9.0, 8)
    cos, sin = evaluated(angles)
    others = np.full(8, np.nan)
    for k, angle in enumerate(angles):
        others[k] = angle
        alone = evaluated(others)
        assert (alone[0][k], alone[1][k]) == (cos[k], sin[k])
        others[k] = 1e20


def test_one_angle__is_that_of_the_library():
    assert one(0.3) == (np.cos(0.3), np.sin(0.3)) == cos_sin(0.3)
