# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Orders of rows and columns, and what a factorization in one costs [Nori, sections IV, V]."""

from typing import NamedTuple

import numpy as np

from geolin_papers.nori_2017.factorization import Order, PatternedSystem, fill_in, ordered_rows
from geolin_ros.typing import IntArray


def recursive_order(system: PatternedSystem) -> Order:
    """Return the order of inverse dynamics, D lower triangular [Nori, Eqs. (10), (11)].

    fx_1, qdd_1, ... fx_N, qdd_N, a_1 ... a_N, f_N, tau_N, ... f_1, tau_1, beside the rows that
    give them. The sensors must be those of `sensors.inverse_dynamics`.
    """
    nb = system.nb
    given = given_order(system, 18 * nb + system.m)
    rows, columns = [given.rows, np.arange(6 * nb)], [given.columns, np.arange(6 * nb)]
    for i in range(nb - 1, -1, -1):
        rates, wrench = np.array(system.joint_columns(i), np.int64), 6 * (nb + i) + np.arange(6)
        rows += [wrench, 12 * nb + rates]
        columns += [wrench, 18 * nb + rates]
    return Order(np.concatenate(rows), np.concatenate(columns))


def given_order(system: PatternedSystem, first: int) -> Order:
    """Return fx_i and the unknowns of joint i, body by body, beside the rows of their sensors.

    Those unknowns stand from column ``first`` on; the sensors must be all external wrenches, then
    one for each of these.
    """
    nb, rows, columns = system.nb, [], []
    for i in range(nb):
        rates, wrench = np.array(system.joint_columns(i), np.int64), 6 * i + np.arange(6)
        rows += [system.equations + wrench, system.equations + 6 * nb + rates]
        columns += [12 * nb + wrench, first + rates]
    return Order(np.concatenate(rows), np.concatenate(columns))


def peel(row: IntArray, column: IntArray, rows: int, columns: int) -> Order:
    """Order a pattern into a lower triangle as far as possible, in linear time.

    Takes, again and again, a row with one column left. If the pattern can be permuted into a
    triangle without zeros on its diagonal, all rows are taken, whatever their order was; the
    result is shorter otherwise [Nori, Problem 1].

    Parameters
    ----------
    row, column : (nnz,)
        Where the entries stand, each place once.
    rows, columns
        Size of the matrix.
    """
    of_row: list[list[int]] = [[] for _ in range(rows)]
    of_column: list[list[int]] = [[] for _ in range(columns)]
    for i, j in zip(row.tolist(), column.tolist(), strict=True):
        of_row[i].append(j)
        of_column[j].append(i)
    left = [len(entries) for entries in of_row]
    ready = [i for i in range(rows) if left[i] == 1]
    taken = [False] * columns
    found: list[tuple[int, int]] = []
    while ready:
        i = ready.pop()
        if left[i] != 1:
            continue  # another row took its column
        j = next(j for j in of_row[i] if not taken[j])
        taken[j] = True
        found.append((i, j))
        for other in of_column[j]:
            left[other] -= 1
            if left[other] == 1:
                ready.append(other)
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return Order(pairs[:, 0].copy(), pairs[:, 1].copy())


def articulated_body_order(system: PatternedSystem) -> Order | None:
    """Return the order in which elimination is the articulated-body algorithm, without pivoting.

    Known variables first, then for each body from the leaves to the base f_i, a_i and what is
    unknown of its joint, beside the rows f_i, a_i, tau_i. The pivots are -1 and S_i' M_i^A S_i
    plus rotor inertia, for the base the whole matrix M_0^A; they are positive at every state.
    None if the sensors are not exact ones of every fx and, for every rate, of qdd or tau, or if
    joints mimic others.
    """
    nb, m = system.nb, system.m
    if system.model.dependent_joints:
        return None
    known = _exactly_known(system)
    if known is None:
        return None
    rows = [np.array(list(known.values()), dtype=np.int64)]
    columns = [np.array(list(known), dtype=np.int64)]
    wrenches = set(range(12 * nb, 18 * nb))
    if not wrenches <= known.keys() or len(known) != 6 * nb + m:
        return None
    for i in range(nb - 1, -1, -1):
        rates = system.joint_columns(i)
        wrench, motion = 6 * (nb + i) + np.arange(6), 6 * i + np.arange(6)
        unknown = []
        for c in rates:
            pair = [k for k in (18 * nb + c, 18 * nb + m + c) if k not in known]
            if len(pair) != 1:
                return None
            unknown += pair
        rows += [wrench, motion, 12 * nb + np.array(rates, dtype=np.int64)]
        columns += [wrench, motion, np.array(unknown, dtype=np.int64)]
    return Order(np.concatenate(rows), np.concatenate(columns))


def _exactly_known(system: PatternedSystem) -> dict[int, int] | None:
    """Return the row that gives each known column; None if a sensor row does something else."""
    known: dict[int, int] = {}
    of_sensors = system.row >= system.equations
    rows, columns = system.row[of_sensors], system.column[of_sensors]
    if rows.size != system.rows - system.equations or np.unique(columns).size != columns.size:
        return None
    if np.unique(rows).size != rows.size or np.any(system.values[of_sensors] != 1.0):
        return None
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        known[j] = i
    return known


class OperationCount(NamedTuple):
    """Floating point operations of one solution."""

    multiplications: int
    additions: int

    @property
    def total(self) -> int:
        """Both."""
        return self.multiplications + self.additions


def count_operations(system: PatternedSystem, order: Order) -> OperationCount:
    """Count factorization and both substitutions in a fixed order.

    Products and quotients with a factor that is 1 or -1 at every state are free, and so is the
    first number that is added to an empty place; right sides count as full.
    """
    rows = ordered_rows(system, order)
    unit_entry = np.isin(system.values, (1.0, -1.0)) & system.is_constant
    pattern = fill_in(rows)
    multiplications = additions = 0
    upper: list[dict[int, bool]] = []
    unit_pivot: list[bool] = []
    for i in range(len(pattern.lower)):
        unit = {
            int(rows.column[e]): bool(unit_entry[rows.entry[e]])
            for e in range(rows.start[i], rows.start[i + 1])
        }
        for k in pattern.lower[i]:
            unit_factor = unit[k] and unit_pivot[k]
            multiplications += not unit_pivot[k]
            additions += 1  # forward substitution
            multiplications += not unit_factor
            for j, unit_u in upper[k].items():
                multiplications += not (unit_factor or unit_u)
                if j in unit:
                    additions += 1
                    unit[j] = False
                else:
                    unit[j] = unit_factor and unit_u
        unit_pivot.append(unit[i])
        upper.append({j: unit[j] for j in pattern.upper[i]})
        multiplications += sum(not unit_u for unit_u in upper[i].values()) + (not unit[i])
        additions += len(upper[i])  # back substitution
    return OperationCount(multiplications, additions)
