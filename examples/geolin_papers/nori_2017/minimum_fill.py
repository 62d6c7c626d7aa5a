# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A fill-minimizing order that serves at every state [Nori, Problem 2 and Remark 4].

The least fill is NP-hard to find; this is greedy: again and again the pivot that brings the fewest
new nonzeros [Markowitz 1957]. A pivot has to be large in its row at each of several states, among
them joints at multiples of 90 degrees, where entries vanish that are generic elsewhere: chosen at
one state, pivots vanish at others (erratum N7).
"""

from collections.abc import Callable

import numpy as np

from geolin_papers.nori_2017.factorization import Order, PatternedSystem
from geolin_ros.optional import optional
from geolin_ros.typing import Array

linalg = optional('scipy.sparse.linalg', extra='estimation')

SAFE = 0.01
"""Part of the largest entry of its row that a pivot has at every sampled state, if one does."""
_GENERIC, _ALIGNED = 2, 4
_SINGULAR = 1e-11  # smallest pivot over the largest one
_TINY = np.finfo(float).tiny
Rank = Callable[[int, int, bool], tuple[float, float]]


def minimum_fill_order(system: PatternedSystem) -> Order:
    """Return an order for `FixedLU`: some seconds with a thousand unknowns [Nori, Problem 2].

    Raises `ValueError` if D is structurally singular.
    """
    return elimination_order(system, sampled_entries(system), _by_fill)


def _by_fill(fill: int, products: int, is_unit: bool) -> tuple[float, float]:
    """Prefer little fill, then pivots of 1 or -1."""
    return fill, not is_unit


def sampled_entries(system: PatternedSystem) -> Array:
    """Return the entries of D (nnz, states); aligned states where it is singular are left out."""
    model, rng, samples = system.model, np.random.default_rng(0), []
    for k in range(_GENERIC + _ALIGNED):
        state = system.generic_state(k)
        if k >= _GENERIC:
            z = np.zeros(2 * model.m)
            turns = rng.integers(-1, 3, model.n) if k > _GENERIC else 0
            z[model.m - model.n : model.m] = turns * (np.pi / 2.0)
            state = model.neutral_state().retract(z)
        system.update(state, np.zeros(system.rows - system.equations))
        if k < _GENERIC or _is_regular(system):
            samples.append(system.values)
    return np.array(samples).T


def _is_regular(system: PatternedSystem) -> bool:
    try:
        pivots = np.abs(linalg.splu(system.matrix().tocsc()).U.diagonal())
    except RuntimeError:  # SuperLU: exactly singular
        return False
    return bool(pivots.min() > _SINGULAR * pivots.max())


def elimination_order(system: PatternedSystem, values: Array, rank: Rank) -> Order:
    """Return the pivots of an elimination at all sampled states at once, by least rank.

    Raises `ValueError` if D is structurally singular.

    Parameters
    ----------
    system
        With as many rows as unknowns.
    values : (nnz, states)
        Of `sampled_entries`.
    rank
        Of a safe pivot, from new nonzeros, products, and whether it is 1 or -1.
    """
    entries: list[dict[int, Array]] = [{} for _ in range(system.size)]
    rows_of: list[set[int]] = [set() for _ in range(system.size)]
    for i, j, value in zip(system.row.tolist(), system.column.tolist(), values, strict=True):
        entries[i][j] = value
        rows_of[j].add(i)

    def best(i: int) -> tuple[float, tuple[float, float], int, int]:
        """Return the pivot of row i: unsafe, rank, place."""
        row = entries[i]
        if not row:
            raise ValueError(f'row {i} depends on others whatever the numbers are')
        largest = np.maximum(np.max(np.abs(list(row.values())), axis=0), _TINY)
        choices = []
        for j, value in row.items():
            share = float((np.abs(value) / largest).min())
            others = [entries[k] for k in rows_of[j] if k != i]
            new = sum(column not in other for other in others for column in row)
            unit = bool(np.all(np.abs(value) == 1.0))
            of_pivot = rank(new, len(others) * (len(row) - 1), unit)
            choices.append((0.0 if share > SAFE else 1.0 - share, of_pivot, -i, -j))
        return min(choices)

    candidates = {i: best(i) for i in range(system.size)}
    rows, columns = [], []
    while candidates:
        *_, i, j = min(candidates.values())
        i, j = -i, -j
        rows.append(i)
        columns.append(j)
        del candidates[i]
        for k in _eliminate(entries, rows_of, i, j):
            candidates[k] = best(k)
    return Order(np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64))


def _eliminate(
    entries: list[dict[int, Array]], rows_of: list[set[int]], i: int, j: int
) -> set[int]:
    """Subtract row i from those with an entry in column j; return the rows that it may concern."""
    row = entries[i]
    pivot = row.pop(j)
    below = rows_of[j] - {i}
    rows_of[j] = set()
    for column in row:
        rows_of[column].discard(i)
    for k in below:
        factor = entries[k].pop(j) / pivot
        for column, value in row.items():
            rows_of[column].add(k)
            entries[k][column] = entries[k].get(column, 0.0) - factor * value
    return below.union(*(rows_of[column] for column in row))
