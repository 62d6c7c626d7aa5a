# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""LU of the sparse system in an order that is found once, without pivoting [Nori, section V-D]."""

import heapq
from typing import NamedTuple

import numpy as np
from geolin_estimation.sparse.elimination import Order, Rows
from geolin_estimation.sparse.system import BlockSystem

from geolin_ros.optional import optional
from geolin_ros.typing import Array, IntArray

linalg = optional('scipy.sparse.linalg', extra='estimation')


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


def ordered_rows(system: BlockSystem, order: Order) -> Rows:
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

    def __init__(self, system: BlockSystem, order: Order) -> None:
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
