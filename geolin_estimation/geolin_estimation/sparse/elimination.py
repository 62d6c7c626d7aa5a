# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All dynamic variables as affine functions of a few: what exact rows leave open.

Given every fx and qdd, the model's equations are a triangle with pivots -1 [Nori, Property 1].
Those that no exact sensor gives, z, stay open, and forward substitution yields

    d = T (1; z)                                                                         (1)

with as many columns as z has entries, one more for the constants. Sensor rows become rows of the
few unknowns z.
"""

from typing import NamedTuple

import numpy as np

from geolin_estimation.kernels.block_system import evaluate_rows, substitute_columns
from geolin_estimation.sparse.report import exact_rows
from geolin_estimation.sparse.system import BlockSystem
from geolin_ros.typing import IntArray


class Order(NamedTuple):
    """Row ``rows[k]`` and column ``columns[k]`` of D stand at place k [Nori, Eq. (1)]."""

    rows: IntArray
    columns: IntArray


class Rows(NamedTuple):
    """Entries of an ordered matrix by rows."""

    start: IntArray
    column: IntArray
    entry: IntArray


class Elimination:
    """T of a system, on a pattern and in an order found once.

    Attributes
    ----------
    T : (size, 1 + open)
        At the last state and readings.
    constraints : (exact rows that do not just give an fx or qdd, 1 + open)
        They have to vanish: of (1; z).
    residuals : (noisy rows, 1 + open)
        What noisy sensors are off by, in the order of the sensors: of (1; z).
    constrained, noisy
        The row numbers in the system of either.
    """

    def __init__(self, system: BlockSystem) -> None:
        self._system = system
        exact = exact_rows(system)
        self._known, self._known_rows = _given(system, exact)
        nb, size, m = system.nb, system.size, system.m
        self.open = np.setdiff1d(np.r_[12 * nb : 18 * nb, size - m : size], self._known)
        of_sensors = np.arange(system.equations, system.rows)
        self.constrained = np.setdiff1d(of_sensors[exact[of_sensors]], self._known_rows)
        self.noisy = of_sensors[~exact[of_sensors]]
        self._order = order_of_equations(system)
        self._recursion = _entries(system, self._order.rows, self._order.columns)
        self._constrained = _entries(system, self.constrained)
        self._read = _entries(system, self.noisy)
        columns = 1 + self.open.size
        self.T = np.zeros((system.size, columns))
        self.T[self.open, 1 + np.arange(self.open.size)] = 1.0
        self.constraints = np.zeros((self.constrained.size, columns))
        self.residuals = np.zeros((self.noisy.size, columns))

    def update(self) -> None:
        """Fill the arrays at the system's last state and readings."""
        values, b, T = self._system.values, self._system.b, self.T
        T[self._known, 0] = -b[self._known_rows]
        substitute_columns(*self._order, *self._recursion, values, b, T)
        evaluate_rows(self.constrained, *self._constrained, values, b, T, self.constraints)
        evaluate_rows(self.noisy, *self._read, values, b, T, self.residuals)


def order_of_equations(system: BlockSystem) -> Order:
    """Return the order of inverse dynamics [Nori, Eqs. (10), (11)], of the model's equations.

    f_N, tau_N, ... f_1, tau_1 behind all fx, qdd and a, beside the rows that give them. Row k
    gives its variable from every fx and qdd and from the variables before; pivots are -1.
    """
    nb = system.nb
    rows, columns = [np.arange(6 * nb)], [np.arange(6 * nb)]
    for i in range(nb - 1, -1, -1):
        rates = np.array(system.joint_columns(i), dtype=np.int64)
        wrench = np.arange(6 * (nb + i), 6 * (nb + i) + 6)
        rows += [wrench, 12 * nb + rates]
        columns += [wrench, 18 * nb + rates]
    return Order(np.concatenate(rows), np.concatenate(columns))


def _given(system: BlockSystem, exact: np.ndarray) -> tuple[IntArray, IntArray]:
    """Return the fx and qdd that one exact sensor row gives, with that row."""
    row, column, nb = system.row, system.column, system.nb
    is_input = (12 * nb <= column) & (column < 18 * nb) | (column >= system.size - system.m)
    alone = (row >= system.equations) & exact[row] & (np.bincount(row)[row] == 1)
    found = is_input & alone & (system.values == 1.0)
    columns, first = np.unique(column[found], return_index=True)
    return columns, row[found][first]


def _entries(system: BlockSystem, rows: IntArray, pivots: IntArray | None = None) -> Rows:
    """Return the entries of rows, those in the column of their pivot left out."""
    first = np.searchsorted(system.row, np.arange(system.rows + 1))
    entries = [np.arange(first[i], first[i + 1]) for i in rows]
    if pivots is not None:
        entries = [e[system.column[e] != p] for e, p in zip(entries, pivots, strict=True)]
    entry = np.concatenate([np.zeros(0, np.int64), *entries])
    start = np.cumsum([0, *map(len, entries)])
    return Rows(start, system.column[entry], entry)
