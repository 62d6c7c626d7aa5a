# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Small dense quadratic programs, by ProxQP [Bambade 2022]."""

import numpy as np

from geolin_ros.optional import optional
from geolin_ros.typing import Array

proxsuite = optional('proxsuite', extra='control')

_ACCURACY = 1e-9


def solve(
    H: Array, g: Array, A: Array, b: Array, C: Array, lower: Array, upper: Array
) -> Array | None:
    """Return the x that minimizes x'Hx/2 + g'x where Ax = b and lower <= Cx <= upper.

    None where there is no such x. H is positive semidefinite, bounds may be infinite.
    """
    proxqp = proxsuite.proxqp
    problem = proxqp.dense.QP(len(g), len(b), len(lower))
    problem.settings.eps_abs = problem.settings.eps_primal_inf = _ACCURACY
    problem.settings.eps_rel = 0.0
    problem.settings.max_iter = 1000
    problem.init(H, g, A, b, C, np.maximum(lower, -1e20), np.minimum(upper, 1e20))
    problem.solve()
    if problem.results.info.status != proxqp.PROXQP_SOLVED:
        return None
    return np.array(problem.results.x)
