# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How near the linearization is to what one core can do.

The kernels run once as Python with vectors that count: every sum, difference and product of lanes,
and every double that is loaded or stored. Beside it the peak of the core, measured by independent
multiply-adds in registers. The rest is waiting: a walk down a tree needs the body before; calls,
sines and divisions; sums that no product goes with; and lanes that hold nothing.
"""

import types
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import interleaved_medians
from benchmarks.report import Work
from benchmarks.robots import paths, read
from geolin_ros import Linearizer
from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.engine import linearization
from geolin_ros.kernels.packing import layout
from geolin_ros.kernels.simd.vector import load8, store8
from geolin_ros.kernels.status import OK

ROBOTS = ('solo12', 'go2', 'g1_29dof_rev_1_0', 'icub', 'talos_reduced', 'talos_full_v2')
PERMUTATIONS = {  # of `vector`
    'rotate_up': (1, 2, 0, 3),
    'low_half': (0, 1, 2, 3),
    'high_half': (4, 5, 6, 7),
    'join': (0, 1, 2, 3, 4, 5, 6, 7),
    'skew_row_0': (3, 6, 1, 3),
    'skew_row_1': (2, 3, 4, 3),
    'skew_row_2': (5, 0, 3, 3),
    'even_pairs': (0, 8, 2, 10, 4, 12, 6, 14),
    'odd_pairs': (1, 9, 3, 11, 5, 13, 7, 15),
    'low_pairs': (0, 1, 8, 9, 4, 5, 12, 13),
    'high_pairs': (2, 3, 10, 11, 6, 7, 14, 15),
}
count: Counter[str] = Counter()


class Lanes:
    """A vector of doubles that counts what is done with it."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def _with(self, other: 'Lanes | float', result: np.ndarray) -> 'Lanes':
        count['operations'] += self.values.size
        count['instructions'] += 1
        return Lanes(result)

    def __add__(self, other: 'Lanes | float') -> 'Lanes':
        return self._with(other, self.values + _plain(other))

    def __sub__(self, other: 'Lanes | float') -> 'Lanes':
        return self._with(other, self.values - _plain(other))

    def __mul__(self, other: 'Lanes | float') -> 'Lanes':
        return self._with(other, self.values * _plain(other))

    def __rsub__(self, other: float) -> 'Lanes':
        return self._with(other, other - self.values)

    def __neg__(self) -> 'Lanes':
        return self._with(0.0, -self.values)

    __radd__, __rmul__ = __add__, __mul__


def _plain(value: Lanes | float) -> Any:
    return value.values if isinstance(value, Lanes) else value


def _loader(lanes: int) -> Callable[[np.ndarray, int], Any]:
    def load(array: np.ndarray, k: int) -> Any:
        count['loads'] += 1
        count['doubles moved'] += lanes
        return Lanes(array[k : k + lanes].copy()) if lanes > 1 else array[k].item()

    return load


def _storer(lanes: int) -> Callable[[np.ndarray, int, Any], None]:
    def store(array: np.ndarray, k: int, value: Any) -> None:
        count['stores'] += 1
        count['doubles moved'] += lanes
        array[k : k + lanes] = _plain(value)

    return store


def _store_lanes(array: np.ndarray, k: int, bits: int, value: Lanes) -> None:
    count['stores'] += 1
    for lane in range(8):
        if bits >> lane & 1:
            array[k + lane] = value.values[lane]
            count['doubles moved'] += 1


def _select(bits: int, chosen: Lanes, other: Lanes) -> Lanes:
    mask = np.array([bool(bits >> lane & 1) for lane in range(8)])
    return Lanes(np.where(mask, chosen.values, other.values))


def _with_lane(v: Lanes, k: int, value: float) -> Lanes:
    values = v.values.copy()
    values[k] = value
    return Lanes(values)


def _lane_sum(v: Lanes) -> float:
    count['operations'] += 7
    count['instructions'] += 3
    return float(v.values.sum())


def _nearest(v: Lanes) -> Lanes:
    return v._with(0.0, np.rint(v.values))


def _not_positive(v: Lanes) -> int:
    count['instructions'] += 1
    return int(np.sum(1 << np.flatnonzero(~(v.values > 0.0))))


def _permuted(lanes: tuple[int, ...]) -> Callable[..., Lanes]:
    def permute(first: Lanes, *second: Lanes) -> Lanes:
        both = np.concatenate([first.values, *(other.values for other in second)])
        return Lanes(both[list(lanes)])

    return permute


def counting_kernels() -> dict[str, Callable[..., Any]]:
    """Return the functions of the linearization, and of what it imports, as Python that counts."""
    stand_ins = {
        **{name: _loader(lanes) for name, lanes in (('get', 1), ('load4', 4), ('load8', 8))},
        **{name: _storer(lanes) for name, lanes in (('put', 1), ('store4', 4), ('store8', 8))},
        'get_int': lambda array, k: int(array[k]),
        'store_lanes': _store_lanes,
        'select': _select,
        'with_lane': _with_lane,
        'lane_sum': _lane_sum,
        'nearest': _nearest,
        'not_positive': _not_positive,
        'lane': lambda v, k: float(v.values[k]),
        'splat4': lambda value: Lanes(np.full(4, value)),
        'splat8': lambda value: Lanes(np.full(8, value)),
        **{name: _permuted(lanes) for name, lanes in PERMUTATIONS.items()},
    }
    built: dict[str, dict[str, Any]] = {}

    def in_module(function: Any) -> dict[str, Any]:
        """Return the counting functions of the module of a kernel, made on first use."""
        plain = function.py_func
        if plain.__module__ not in built:
            names: dict[str, Any] = {}
            built[plain.__module__] = names
            for name, value in plain.__globals__.items():
                if name in stand_ins:
                    names[name] = stand_ins[name]
                elif hasattr(value, 'py_func'):
                    home = (
                        names if value.py_func.__module__ == plain.__module__ else in_module(value)
                    )
                    own = types.FunctionType(value.py_func.__code__, home, name)
                    names[name] = own
                else:
                    names[name] = value
        return built[plain.__module__]

    return in_module(linearization.linearize)


@lean_kernel
def multiply_add(w, n):
    """Run 16 n independent multiply-adds of eight lanes."""
    a0, a1, a2, a3 = load8(w, 0), load8(w, 8), load8(w, 16), load8(w, 24)
    a4, a5, a6, a7 = load8(w, 32), load8(w, 40), load8(w, 48), load8(w, 56)
    b0, b1, b2, b3 = load8(w, 64), load8(w, 72), load8(w, 80), load8(w, 88)
    b4, b5, b6, b7 = load8(w, 96), load8(w, 104), load8(w, 112), load8(w, 120)
    x, y = load8(w, 128), load8(w, 136)
    for _ in range(n):
        a0, a1, a2, a3 = a0 * x + y, a1 * x + y, a2 * x + y, a3 * x + y
        a4, a5, a6, a7 = a4 * x + y, a5 * x + y, a6 * x + y, a7 * x + y
        b0, b1, b2, b3 = b0 * x + y, b1 * x + y, b2 * x + y, b3 * x + y
        b4, b5, b6, b7 = b4 * x + y, b5 * x + y, b6 * x + y, b7 * x + y
    store8(w, 0, (a0 + a1 + a2 + a3) + (a4 + a5 + a6 + a7))
    store8(w, 8, (b0 + b1 + b2 + b3) + (b4 + b5 + b6 + b7))


def peak(rounds: int) -> float:
    """Return operations a second of one core, a multiply-add as two."""
    w, n = layout.aligned_zeros(144), 2000
    w[128:136], w[136:] = 0.5, 1.0
    times = interleaved_medians({'peak': partial(multiply_add, w, n)}, rounds)
    return 16 * 16 * n / times['peak']


def measure(rounds: int) -> list[Work]:
    """Count and time the kernel of each robot, and print."""
    kernels, fastest = counting_kernels(), peak(rounds)
    print(f'peak of this core: {fastest / 1e9:.0f} Gflop/s in registers')
    print(
        f'{"robot":20} operations  instructions    loads   stores  doubles moved'
        '   at peak   measured  of peak  bytes/ns'
    )
    works = []
    for path in paths(list(ROBOTS)):
        pair = read(path)
        if pair is None:
            continue
        (state, tau), _ = pair.operating_point(np.random.default_rng(1))
        lin = Linearizer(pair.model)
        lin(state, tau)
        workspace, packed = lin.workspace, pair.model.packed
        assert packed is not None
        expected, found = lin(state, tau).A, workspace.spare
        count.clear()
        arrays = (tau, workspace.scratch, found.out)
        assert kernels['linearize'](packed.ints, packed.floats, state.data, *arrays) == OK
        assert np.allclose(found.A, expected, rtol=1e-9, atol=1e-9), 'it is the same algorithm'
        kernel = workspace.bind(state.data, tau, found.out)
        seconds = interleaved_medians({'kernel': kernel}, rounds)['kernel']
        operations, moved = count['operations'], count['doubles moved']
        at_peak = operations / fastest
        print(
            f'{pair.name:20} {operations:10} {count["instructions"]:13} '
            f'{count["loads"]:8} {count["stores"]:8} {moved:14} '
            f'{1e6 * at_peak:7.2f} us {1e6 * seconds:7.2f} us {at_peak / seconds:8.0%} '
            f'{8e-9 * moved / seconds:9.0f}',
            flush=True,
        )
        works.append(Work(pair.name, operations, moved, 1e6 * at_peak, 1e6 * seconds))
    return works


if __name__ == '__main__':
    measure(200)
