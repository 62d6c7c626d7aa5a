# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Three ways to solve a square system, each with its order and pattern fixed beforehand."""

import heapq
from typing import NamedTuple

import numpy as np

from geolin_ros.estimation.sparse.ordering import Order
from geolin_ros.estimation.sparse.system import BlockSystem
from geolin_ros.kernels.sparse.sparse_lu import factor, solve, substitute
from geolin_ros.kernels.status import OK
from geolin_ros.optional import optional
from geolin_ros.typing import Array, IntArray

sparse = optional('scipy.sparse', extra='estimation')
linalg = optional('scipy.sparse.linalg', extra='estimation')

PIVOT_THRESHOLD = 0.1
ACCURATE = 1e-12  # residual over the terms of its row
SUSPECT = 1e-11  # smallest pivot over the largest one: the rank is then looked at


class Rows(NamedTuple):
    """Entries of an ordered matrix by rows, columns ascending."""

    start: IntArray
    column: IntArray
    entry: IntArray


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
    """Return the entries of D with rows and columns in an order."""
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


class Substitution:
    """Forward substitution of a triangular system [Nori, Property 1]."""

    name = 'forward substitution'

    def __init__(self, system: BlockSystem, order: Order) -> None:
        rows = ordered_rows(system, order)
        ends = rows.start[1:] - 1  # the diagonal closes each row
        assert np.array_equal(rows.column[ends], np.arange(ends.size)), 'lower triangular'
        self.order, self._pivot = order, rows.entry[ends]
        keep = np.ones(rows.entry.size, dtype=bool)
        keep[ends] = False
        self._start = rows.start - np.arange(rows.start.size)
        self._column, self._entry = order.columns[rows.column[keep]], rows.entry[keep]

    def solve(self, values: Array, b: Array, d: Array) -> bool:
        """Fill d; return whether it is finite."""
        status = substitute(
            self.order.rows, self.order.columns, self._pivot, self._start, self._column,
            self._entry, values, b, d,
        )  # fmt: skip
        return bool(status == OK)


class FixedLU:
    """LU without pivoting in a fixed order and on a fixed pattern.

    Attributes
    ----------
    lower, upper, pivot
        Numbers of L (by rows, unit diagonal left out), U and its diagonal, of the last system.
    """

    name = 'LU in the order of the articulated-body algorithm'

    def __init__(self, system: BlockSystem, order: Order) -> None:
        self.order = order
        self._rows = ordered_rows(system, order)
        self.pattern = fill_in(self._rows)
        self._lower_start, self._lower_column = _flat(self.pattern.lower)
        self._upper_start, self._upper_column = _flat(self.pattern.upper)
        self.lower, self.upper = (
            np.zeros(self._lower_column.size),
            np.zeros(self._upper_column.size),
        )
        self.pivot, self._work = np.zeros(order.rows.size), np.zeros(order.rows.size)

    def factor(self, values: Array) -> bool:
        """Fill the factors; return whether every pivot is well away from zero."""
        status = factor(
            *self._rows, values, self._lower_start, self._lower_column, self._upper_start,
            self._upper_column, self.lower, self.upper, self.pivot, self._work,
        )  # fmt: skip
        if status != OK:
            self._work[:] = 0.0
        return bool(status == OK)

    def solve(self, values: Array, b: Array, d: Array) -> bool:
        """Fill d; return whether the system is regular and d finite."""
        if not self.factor(values):
            d[:] = np.nan
            return False
        status = solve(
            *self.order, self._lower_start, self._lower_column, self._upper_start,
            self._upper_column, self.lower, self.upper, self.pivot, b, self._work, d,
        )  # fmt: skip
        return bool(status == OK)


class ThresholdLU:
    """SuperLU with the columns in a fixed, fill-reducing order and threshold row pivoting.

    Rows are chosen anew at every state: an order of rows that is good at one state has pivots
    that vanish at others.
    """

    name = 'LU with threshold pivoting'

    def __init__(self, row: IntArray, column: IntArray, values: Array, size: int) -> None:
        """Find the order at given values; raises RuntimeError if they are singular."""
        self._options = {
            'diag_pivot_thresh': PIVOT_THRESHOLD,
            'options': {'Equil': False, 'SymmetricMode': False},
        }
        first = sparse.csc_matrix((values, (row, column)), shape=(size, size))
        lu = linalg.splu(first, permc_spec='COLAMD', **self._options)
        self.columns = np.argsort(lu.perm_c)
        self.rows = np.argsort(lu.perm_r)
        self.nonzeros = lu.L.nnz + lu.U.nnz - size
        place = places(self.columns)[column]
        self._entry = np.lexsort((row, place))
        start = np.searchsorted(place[self._entry], np.arange(size + 1))
        self._matrix = sparse.csc_matrix(
            (values[self._entry], row[self._entry], start), shape=(size, size)
        )

    def solve(self, values: Array, b: Array, d: Array) -> bool:
        """Fill d; return False if a pivot is suspiciously small or d not finite."""
        np.take(values, self._entry, out=self._matrix.data)
        try:
            lu = linalg.splu(self._matrix, permc_spec='NATURAL', **self._options)
        except RuntimeError:  # SuperLU: exactly singular
            d[:] = np.nan
            return False
        d[self.columns] = lu.solve(-b)
        pivots = np.abs(lu.U.diagonal())
        return bool(pivots.min() > SUSPECT * pivots.max() and np.isfinite(d).all())


class CheckedLU:
    """LU in a fixed order, and with threshold pivoting where its result does not stand a check.

    [Nori, Remark 4].
    """

    name = 'LU in a fill-minimizing order'

    def __init__(self, system: BlockSystem, order: Order) -> None:
        """Find both patterns; raises RuntimeError if the last values are singular."""
        self._row, self._column = system.row, system.column
        self._pivoting = ThresholdLU(system.row, system.column, system.values, system.size)
        self._fixed = FixedLU(system, order)

    def solve(self, values: Array, b: Array, d: Array) -> bool:
        """Fill d; return False if a pivot is suspiciously small or d not finite."""
        if self._fixed.solve(values, b, d):
            pivots = np.abs(self._fixed.pivot)
            if pivots.min() > SUSPECT * pivots.max() and self._error(values, b, d) < ACCURATE:
                return True
        return self._pivoting.solve(values, b, d)

    def _error(self, values: Array, b: Array, d: Array) -> float:
        """Return the largest residual over the terms of its row [Higham 2002, theorem 7.3]."""
        terms = values * d[self._column]
        residual = np.bincount(self._row, terms) + b
        size = np.bincount(self._row, np.abs(terms)) + np.abs(b)
        return float(np.max(np.abs(residual) / np.maximum(size, np.finfo(float).tiny)))


def _flat(rows: tuple[tuple[int, ...], ...]) -> tuple[IntArray, IntArray]:
    start = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return start, np.array([j for row in rows for j in row], dtype=np.int64)
