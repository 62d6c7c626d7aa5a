# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The kernels as Python reads them: nothing compiled, vectors of lanes as NumPy arrays.

A thousandth of the speed, but an edited kernel runs at once. `install` has to come before the
first import of geolin_ros.
"""

import os
import sys
from types import ModuleType
from typing import Any

import numpy as np


def install() -> None:
    """Switch Numba off and put NumPy in the place of `kernels.simd.vector` and `lanes`."""
    os.environ['NUMBA_DISABLE_JIT'] = '1'
    import numba

    numba.njit = _not_compiled
    for name, content in (('vector', VECTOR), ('lanes', LANES)):
        module: Any = ModuleType(f'geolin_ros.kernels.simd.{name}')
        module.__dict__.update(content)
        sys.modules[module.__name__] = module


def _not_compiled(**options: Any) -> Any:
    def decorate(function: Any) -> Any:
        function.overloads = {}
        function.compile = lambda signature: function
        return function

    return decorate


def _load(count: int) -> Any:
    return lambda array, k: array.reshape(-1)[k : k + count].copy()


def _store(count: int) -> Any:
    def store(array: Any, k: int, value: Any) -> None:
        array.reshape(-1)[k : k + count] = value

    return store


def _get(array: Any, k: int) -> Any:
    return array.reshape(-1)[k]


def _put(array: Any, k: int, value: Any) -> None:
    array.reshape(-1)[k] = value


def _permutation(lanes: tuple[int, ...], sources: int, kind: Any = None) -> Any:
    return lambda *vectors: np.concatenate(vectors)[list(lanes)]


def _with_lane(vector: Any, k: int, value: float) -> Any:
    changed = vector.copy()
    changed[k] = value
    return changed


def _mask(bits: int) -> Any:
    return np.array([bool(int(bits) >> k & 1) for k in range(8)])


def _store_lanes(array: Any, k: int, bits: int, value: Any) -> None:
    flat = array.reshape(-1)
    for lane in np.flatnonzero(_mask(bits)):
        flat[k + lane] = value[lane]


def _square(array: Any, k: int, size: int) -> Any:
    return array.reshape(-1)[k : k + size * size].reshape(size, size)


def _bits(test: Any) -> Any:
    def bits(value: Any) -> int:
        return int(sum(int(held) << k for k, held in enumerate(np.atleast_1d(test(value)))))

    return bits


VECTOR = {
    'vector4': None,
    'vector8': None,
    'get': _get,
    'get_int': lambda array, k: int(_get(array, k)),
    'put': _put,
    'load4': _load(4),
    'load8': _load(8),
    'store4': _store(4),
    'store8': _store(8),
    'store_lanes': _store_lanes,
    'square': _square,
    'select': lambda bits, chosen, other: np.where(_mask(bits), chosen, other),
    'splat4': lambda value: np.full(4, value),
    'splat8': lambda value: np.full(8, value),
    'lane': lambda vector, k: vector[k],
    'with_lane': _with_lane,
    'lane_sum': np.sum,
    'permutation': _permutation,
    'rotate_up': _permutation((1, 2, 0, 3), 1),
    'low_half': _permutation((0, 1, 2, 3), 1),
    'high_half': _permutation((4, 5, 6, 7), 1),
    'join': lambda low, high: np.concatenate((low, high)),
    'skew_row_0': _permutation((3, 6, 1, 3), 2),
    'skew_row_1': _permutation((2, 3, 4, 3), 2),
    'skew_row_2': _permutation((5, 0, 3, 3), 2),
    'even_pairs': _permutation((0, 8, 2, 10, 4, 12, 6, 14), 2),
    'odd_pairs': _permutation((1, 9, 3, 11, 5, 13, 7, 15), 2),
    'low_pairs': _permutation((0, 1, 8, 9, 4, 5, 12, 13), 2),
    'high_pairs': _permutation((2, 3, 10, 11, 6, 7, 14, 15), 2),
}
LANES = {
    'nearest': np.rint,
    'not_positive': _bits(lambda value: ~(np.asarray(value) > 0.0)),
    'not_finite': _bits(lambda value: ~np.isfinite(value)),
    **dict.fromkeys(('lanes', 'load_samples', 'store_samples')),
}
