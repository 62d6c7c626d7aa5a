# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Search orders of few operations for the systems of figure 1 of [Nori, Problem 2].

    python tools/orders.py LINKS KIND [--seconds S] [--seed N] [--best FILE]

A run is greedy: again and again the safe pivot (see `minimum_fill`) of least w_f (new nonzeros) +
w_m (products) + w_1 [not 1 or -1] + its own number. Runs begin with numbers at random; from the
best, local search changes a few numbers, and keeps what is no worse, or worse by a little while
it is hot. Finding the least fill is NP-complete: what is found is no bound, and another search
may find less.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import njit

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'examples')]

from geolin_estimation.sparse import forward_dynamics  # noqa: E402

from examples import sparse_figures  # noqa: E402
from geolin_papers.nori_2017.factorization import Order, PatternedSystem  # noqa: E402
from geolin_papers.nori_2017.minimum_fill import SAFE, sampled_entries  # noqa: E402
from geolin_papers.nori_2017.orders import count_operations  # noqa: E402
from geolin_ros.typing import Array, BoolArray, IntArray  # noqa: E402

WEIGHTS = np.array(
    [[1.0, 0.0, 0.5], [1.0, 0.1, 0.5], [1.0, 0.25, 0.5], [0.5, 0.5, 0.5], [0.0, 1.0, 0.5]]
)
"""(w_f, w_m, w_1), one drawn for each start."""
UNSAFE = np.int64(1) << 40


class Core(NamedTuple):
    """What is left of D behind pivots that are alone in their row or column: these come first.

    Values (n, n, states), where D is nonzero, and where it is 1 or -1 at all states; its rows and
    columns in D.
    """

    value: Array
    full: BoolArray
    unit: BoolArray
    rows: IntArray
    columns: IntArray
    first: IntArray

    @classmethod
    def of(cls, system: PatternedSystem) -> 'Core':
        """Return that of a system with as many rows as unknowns."""
        values = sampled_entries(system)
        n, at = system.size, (system.row, system.column)
        value, full = np.zeros((n, n, values.shape[1])), np.zeros((n, n), bool)
        value[at], full[at] = values, True
        unit = np.zeros((n, n), bool)
        unit[at] = np.isin(system.values, (1.0, -1.0)) & system.is_constant
        left, first = full.copy(), []
        while True:
            alone = left & ((left.sum(1) == 1)[:, np.newaxis] | (left.sum(0) == 1))
            if not alone.any():
                break
            i, j = np.argwhere(alone)[0]
            first.append((i, j))
            left[i], left[:, j] = False, False
        rows, columns = np.flatnonzero(left.any(1)), np.flatnonzero(left.any(0))
        core = np.ix_(rows, columns)
        return cls(value[core], full[core], unit[core], rows, columns, np.array(first))

    def order(self, pivots: IntArray) -> Order:
        """Return that of all of D."""
        return Order(
            np.concatenate((self.first[:, 0], self.rows[pivots[:, 0]])),
            np.concatenate((self.first[:, 1], self.columns[pivots[:, 1]])),
        )


@njit(cache=True)
def _greedy(value0, full0, unit0, extra, weights, limit):  # type: ignore[no-untyped-def]
    """Return pivots (n, 2) and operations of one run; ended where they exceed ``limit``."""
    n, states = full0.shape[0], value0.shape[2]
    value, full, unit = value0.copy(), full0.copy(), unit0.copy()
    in_row, in_column = full.sum(axis=1), full.sum(axis=0)
    is_left, stale = np.ones(n, np.bool_), np.ones(n, np.bool_)
    best, place = np.zeros(n), np.zeros(n, np.int64)
    pivots, operations = np.zeros((n, 2), np.int64), 0
    columns, rows, largest = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(states)
    for step in range(n):
        for i in range(n):
            if not (is_left[i] and stale[i]):
                continue
            stale[i] = False
            count = 0
            largest[:] = 0.0
            for j in range(n):
                if full[i, j]:
                    columns[count] = j
                    count += 1
                    for k in range(states):
                        largest[k] = max(largest[k], abs(value[i, j, k]))
            best[i] = np.inf
            for c in range(count):
                j = columns[c]
                is_safe = True
                for k in range(states):
                    is_safe = is_safe and abs(value[i, j, k]) > SAFE * largest[k]
                if not is_safe:
                    continue
                new = 0
                if count > 1 and in_column[j] > 1:
                    for other in range(n):
                        if full[other, j] and other != i:
                            for d in range(count):
                                new += not full[other, columns[d]]
                rank = (
                    weights[0] * new
                    + weights[1] * (in_column[j] - 1) * (count - 1)
                    + weights[2] * (not unit[i, j])
                    + extra[i, j]
                )
                if rank < best[i]:
                    best[i], place[i] = rank, j
        i = -1
        for row in range(n):
            if is_left[row] and (i < 0 or best[row] < best[i]):
                i = row
        if best[i] == np.inf:
            return pivots, UNSAFE
        j = place[i]
        pivots[step] = i, j
        is_left[i] = False
        count = below = 0
        for c in range(n):
            if full[i, c] and c != j:
                columns[count] = c
                count += 1
                operations += 1 + (not unit[i, c])  # back substitution
        operations += not unit[i, j]
        for r in range(n):
            if full[r, j] and r != i:
                rows[below] = r
                below += 1
        for b in range(below):
            r = rows[b]
            is_unit = unit[r, j] and unit[i, j]
            operations += (not unit[i, j]) + 1 + (not is_unit)  # quotient, forward substitution
            for c in columns[:count]:
                operations += not (is_unit or unit[i, c])
                if full[r, c]:
                    operations += 1
                    unit[r, c] = False
                else:
                    full[r, c] = True
                    unit[r, c] = is_unit and unit[i, c]
                    in_row[r] += 1
                    in_column[c] += 1
                for k in range(states):
                    value[r, c, k] -= value[r, j, k] / value[i, j, k] * value[i, c, k]
            full[r, j] = False
            value[r, j] = 0.0
            stale[r] = True
        for c in columns[:count]:
            full[i, c] = False
            in_column[c] -= 1
            for r in range(n):
                if full[r, c]:
                    stale[r] = True
        full[i, j] = False
        if operations > limit:
            return pivots, UNSAFE
    return pivots, operations


@njit(cache=True)
def _search(core, extra, weights, runs, heat, rng):  # type: ignore[no-untyped-def]
    """Change a few numbers of ``extra`` in each run; return the best pivots, numbers, count."""
    value, full, unit = core
    n = full.shape[0]
    pivots, now = _greedy(value, full, unit, extra, weights, UNSAFE)
    least, of_least, numbers = now, pivots.copy(), extra.copy()
    for run in range(runs):
        temperature = heat * (1.0 - run / runs)
        trial = extra.copy()
        for _ in range(1 + rng.integers(0, 4)):
            i, j = pivots[rng.integers(0, n)]
            if rng.random() < 0.5:  # another place of this row, or of this column
                k = rng.integers(0, n)
                i, j = (i, k) if rng.random() < 0.5 else (k, j)
            trial[i, j] = 0.0 if rng.random() < 0.2 else 3.0 * rng.standard_normal()
        bound = now - temperature * np.log(1.0 - rng.random()) if heat > 0.0 else float(now)
        found, operations = _greedy(value, full, unit, trial, weights, np.int64(bound))
        if operations <= bound:
            pivots, now, extra = found, operations, trial
            if now < least:
                least, of_least, numbers = now, pivots.copy(), extra.copy()
    return of_least, numbers, least


def searched_order(
    system: PatternedSystem, runs: int, seed: int, heat: float = 4.0, starts: int = 20
) -> tuple[Order, int]:
    """Return the order of fewest operations of so many runs, and these."""
    core, rng = Core.of(system), np.random.default_rng(seed)
    best: tuple[int, Array, Array] | None = None
    for _ in range(starts):
        weights = WEIGHTS[rng.integers(len(WEIGHTS))]
        extra = rng.uniform(0.0, 0.4, core.full.shape)
        _, operations = _greedy(*core[:3], extra, weights, UNSAFE)
        if best is None or operations < best[0]:
            best = operations, extra, weights
    assert best is not None
    pivots, _, _ = _search(tuple(core[:3]), *best[1:], runs, heat, rng)
    order = core.order(pivots)
    return order, count_operations(system, order).total


def main() -> None:
    """Search until the time is over, and keep the best order in a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('links', type=int)
    parser.add_argument('kind', choices=[kind.replace(' ', '-') for kind in sparse_figures.CHAINS])
    parser.add_argument('--seconds', type=float, default=60.0)
    parser.add_argument('--runs', type=int, default=20_000, help='of each local search')
    parser.add_argument('--heat', type=float, default=4.0, help='operations, at the beginning')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--best', type=Path, help='JSON of the best order, replaced by a better')
    args = parser.parse_args()
    model = sparse_figures.chain(args.links, args.kind.replace('-', ' '))
    system = PatternedSystem(model, forward_dynamics(model))
    theirs = sparse_figures.articulated_body_algorithm(args.links).operations
    end, seed, total, least = time.monotonic() + args.seconds, args.seed, 0, None
    if args.best and args.best.exists():
        least = json.loads(args.best.read_text())['operations']
    while total == 0 or time.monotonic() < end:
        order, operations = searched_order(system, args.runs, seed, args.heat)
        total += args.runs
        fill = sparse_figures.cost(system, order).fill
        print(f'seed {seed}: {operations} operations, fill {fill}; algorithm {theirs}', flush=True)
        if args.best and (least is None or operations < least):
            least = operations
            found = {'operations': operations, 'fill': fill}
            found |= {name: part.tolist() for name, part in order._asdict().items()}
            args.best.write_text(json.dumps(found))
        seed += 1
    print(f'{total} runs, least {least}')


if __name__ == '__main__':
    main()
