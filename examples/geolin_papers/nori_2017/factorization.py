# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""LU of the sparse system in an order that is found once, without pivoting [Nori, section V-D]."""

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from geolin_estimation.sparse import BlockSystem, Sensor

from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array, IntArray

linalg = optional('scipy.sparse.linalg', extra='estimation')


# The entries of ^iX_p are combinations of 1, sin s, cos s, s, s sin s and s cos s: one that
# vanishes at seven random positions vanishes at all.
_DRAWS = 7
_ROUNDING = 1e-14


class Order(NamedTuple):
    """Row ``rows[k]`` and column ``columns[k]`` of D stand at place k [Nori, Eq. (1)]."""

    rows: IntArray
    columns: IntArray


class Rows(NamedTuple):
    """Entries of an ordered matrix by rows."""

    start: IntArray
    column: IntArray
    entry: IntArray


class PatternedSystem(BlockSystem):
    """D on the pattern that holds at every state [Nori, Remark 4].

    Attributes
    ----------
    row, column : (nnz,)
        Where the entries stand.
    is_constant : (nnz,)
        Whether they are the same at all states; those of ^iX_p count as changing.
    """

    def __init__(self, model: TreeModel, sensors: Sequence[Sensor] = ()) -> None:
        super().__init__(model, sensors)
        matrices = []
        for seed in range(_DRAWS):
            self.update(self.generic_state(seed), np.zeros(self.rows - self.equations))
            matrices.append(self.matrix().toarray())
        drawn = np.array(matrices)
        lengths = np.maximum(1.0, np.abs(drawn).max(axis=2, keepdims=True))
        row, column = np.nonzero(np.any(np.abs(drawn) > _ROUNDING * lengths, axis=0))
        self.row, self.column = row.astype(np.int64), column.astype(np.int64)
        is_square = (row < 12 * self.nb) & (row // (6 * self.nb) == column // (6 * self.nb))
        is_pose = is_square & (row // 6 != column // 6)
        self.is_constant = ~is_pose & (np.ptp(drawn[:, row, column], axis=0) == 0.0)

    @property
    def values(self) -> Array:
        """The entries (nnz,) at the last state."""
        return np.asarray(self.matrix()[self.row, self.column]).ravel()

    def joint_columns(self, body: int) -> list[int]:
        """Return which of the m rates move a body and none before it: none for a fixed base."""
        moved = np.abs(self.S).max(axis=1) > 0.0
        return np.flatnonzero(moved[body] & ~moved[:body].any(axis=0)).tolist()


class Pattern(NamedTuple):
    """Where L and U of an ordered matrix are nonzero, without their diagonals."""

    lower: tuple[tuple[int, ...], ...]
    upper: tuple[tuple[int, ...], ...]

    @property
    def nonzeros(self) -> int:
        """Entries of L and U, one diagonal counted."""
        return len(self.lower) + sum(map(len, self.lower)) + sum(map(len, self.upper))


def places(order: IntArray) -> IntArray:
    """Return the inverse of a permutation."""
    inverse = np.empty_like(order)
    inverse[order] = np.arange(order.size)
    return inverse


def ordered_rows(system: PatternedSystem, order: Order) -> Rows:
    """Return the entries of D with rows and columns in an order, columns ascending."""
    row, column = places(order.rows)[system.row], places(order.columns)[system.column]
    entry = np.lexsort((column, row))
    start = np.searchsorted(row[entry], np.arange(order.rows.size + 1))
    return Rows(start.astype(np.int64), column[entry], entry.astype(np.int64))


def fill_in(rows: Rows) -> Pattern:
    """Return the pattern of L and U without pivoting: the symbolic phase.

    Raises `ValueError` if a place on the diagonal stays empty.
    """
    lower: list[tuple[int, ...]] = []
    upper: list[tuple[int, ...]] = []
    for i in range(rows.start.size - 1):
        pattern = set(rows.column[rows.start[i] : rows.start[i + 1]].tolist())
        pending = [k for k in pattern if k < i]
        heapq.heapify(pending)
        left = []
        while pending:
            k = heapq.heappop(pending)
            left.append(k)
            for j in upper[k]:
                if j not in pattern:
                    pattern.add(j)
                    if j < i:
                        heapq.heappush(pending, j)
        if i not in pattern:
            raise ValueError(f'row {i} has an empty place on the diagonal')
        lower.append(tuple(left))
        upper.append(tuple(sorted(j for j in pattern if j > i)))
    return Pattern(tuple(lower), tuple(upper))


class FixedLU:
    """SuperLU in a fixed order, without pivoting.

    Attributes
    ----------
    order
        Of rows and columns.
    pattern
        Of L and U, whatever the state is.
    lower, upper
        L, its diagonal of ones included, and U (size, size), of the last system that was solved.
    """

    def __init__(self, system: PatternedSystem, order: Order) -> None:
        self.order, self._system = order, system
        self.pattern = fill_in(ordered_rows(system, order))

    def solve(self) -> Array:
        """Return the unknowns (size,) at the last state and readings of the system.

        Raises `RuntimeError` if a pivot vanishes.
        """
        rows, columns = self.order
        ordered = self._system.matrix()[rows][:, columns].tocsc()
        options = {'Equil': False, 'SymmetricMode': False}
        lu = linalg.splu(ordered, permc_spec='NATURAL', diag_pivot_thresh=0.0, options=options)
        if not np.array_equal(lu.perm_r, np.arange(rows.size)):
            raise RuntimeError('a pivot vanishes in this order')
        self.lower, self.upper = lu.L, lu.U
        d: Array = np.empty(rows.size)
        d[columns] = lu.solve(-self._system.b[rows])
        return d
