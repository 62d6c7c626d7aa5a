# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The printed order of inverse dynamics, and what a factorization in an order costs [Nori]."""

from typing import NamedTuple

import numpy as np

from geolin_ros.estimation.sparse.factorization import fill_in, ordered_rows
from geolin_ros.estimation.sparse.ordering import Order, order_of_equations
from geolin_ros.estimation.sparse.system import BlockSystem


def recursive_order(system: BlockSystem) -> Order:
    """Return the order of inverse dynamics, D lower triangular [Nori, Eqs. (10), (11)].

    fx_1, qdd_1, ... fx_N, qdd_N, a_1 ... a_N, f_N, tau_N, ... f_1, tau_1, beside the rows that
    give them. The sensors must be those of `sensors.inverse_dynamics`.
    """
    given, recursion = given_order(system, 18 * system.nb + system.m), order_of_equations(system)
    return Order(
        np.concatenate((given.rows, recursion.rows)),
        np.concatenate((given.columns, recursion.columns)),
    )


def given_order(system: BlockSystem, first: int) -> Order:
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


class OperationCount(NamedTuple):
    """Floating point operations of one solution."""

    multiplications: int
    additions: int

    @property
    def total(self) -> int:
        """Both."""
        return self.multiplications + self.additions


def count_operations(system: BlockSystem, order: Order) -> OperationCount:
    """Count factorization and both substitutions in a fixed order.

    Products and quotients with a factor that is 1 or -1 at every state are free, and so is the
    first number that is added to an empty place; right sides count as full.
    """
    rows = ordered_rows(system, order)
    unit_entry = np.isin(system.values, (1.0, -1.0)) & (system.source < 0)
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
