# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The algorithms of [Bos 2022] as printed, line by line, with their misprints corrected.

Reference implementations to read beside the paper and to test the fast path against. They are
plain NumPy on purpose: a 6 x 6 product is one ``@`` as in the tables, nothing is compiled, and
nothing but tests, examples and readers calls them. Numbers in the comments are line numbers of the
table; a line that differs from the paper says so and names the entry of the list of errata in
docs/algorithms.md.

All take a `Tree` with a floating base and single-axis joints, its bodies in any order that puts
parents before children, with any symmetric positive definite inertias. Armature, damping, friction
and springs are no part of the paper and are left out. Where the paper numbers a column by its
joint i, it is the coordinate ``tree.v_start[i]`` here. The d of a name is a derivative: ``dv`` for
the partial derivative of v by the variable of the table.
"""

from geolin_papers.bos_2022.derivative_by_pose import derivative_by_pose
from geolin_papers.bos_2022.derivative_by_positions import derivative_by_positions
from geolin_papers.bos_2022.derivative_by_rates import derivative_by_rates
from geolin_papers.bos_2022.derivative_by_twist import derivative_by_twist
from geolin_papers.bos_2022.extended_inverse_dynamics import (
    ExtendedInverseDynamics,
    extended_inverse_dynamics,
)
from geolin_papers.bos_2022.inverse_mass_matrix import inverse_mass_matrix
from geolin_papers.bos_2022.linearization import linearization

__all__ = [
    'ExtendedInverseDynamics',
    'derivative_by_pose',
    'derivative_by_positions',
    'derivative_by_rates',
    'derivative_by_twist',
    'extended_inverse_dynamics',
    'inverse_mass_matrix',
    'linearization',
]
