# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A search for orders with few operations, by many greedy runs [Nori, Problem 2].

Each run takes the safe pivot of least w_f (new nonzeros) + w_m (products) + w_1 [not 1 or -1],
ties at random, with one of several weights. Finding the least fill is NP-complete: what is found
is no bound, another run may find less.
"""

import itertools

import numpy as np

from geolin_ros.estimation.sparse.factorization import count_operations
from geolin_ros.estimation.sparse.minimum_fill import elimination_order, sampled_entries
from geolin_ros.estimation.sparse.ordering import Order
from geolin_ros.estimation.sparse.system import BlockSystem

WEIGHTS = (
    (1.0, 0.0, 0.5),
    (1.0, 0.0, 0.1),
    (1.0, 0.1, 0.5),
    (1.0, 0.25, 0.5),
    (0.0, 1.0, 0.5),
    (1.0, 0.5, 0.5),
    (1.0, 1.0, 1.0),
)
"""(w_f, w_m, w_1), in turn."""


def searched_order(system: BlockSystem, runs: int, rng: np.random.Generator) -> tuple[Order, int]:
    """Return the order of fewest operations of so many runs, and these.

    Parameters
    ----------
    system
        With as many rows as unknowns.
    runs
        How many; one takes a tenth of a second with a hundred unknowns.
    rng
        Where ties are broken.

    Raises
    ------
    ValueError
        If D is structurally singular.
    """
    values = sampled_entries(system)
    best: tuple[Order, int] | None = None
    for weights, _ in zip(itertools.cycle(WEIGHTS), range(max(1, runs)), strict=False):

        def rank(
            fill: int, products: int, is_unit: bool, w: tuple[float, float, float] = weights
        ) -> tuple[float, float]:
            return w[0] * fill + w[1] * products + w[2] * (not is_unit), float(rng.random())

        order = elimination_order(system, values, rank)
        operations = count_operations(system, order).total
        if best is None or operations < best[1]:
            best = order, operations
    assert best is not None
    return best
