# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Accelerations alone: mass matrix and dense factorization [Featherstone 2008, section 6.2]."""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.cholesky import factor
from geolin_ros.kernels.general_linearization import solve_forward_dynamics
from geolin_ros.kernels.inverse_dynamics import place_wrenches
from geolin_ros.kernels.joints import place_bodies
from geolin_ros.kernels.mass_matrix import mass_matrix
from geolin_ros.kernels.status import NOT_FINITE, OK
from geolin_ros.kernels.types import Tree, Workspace, Wrenches


@kernel
def forward_dynamics(tree: Tree, ws: Workspace, x, tau, gravity, wrenches: Wrenches, nu_dot_out):
    """Fill ``nu_dot_out`` (6 + n,) at x = [H (16) | s | v | r]; return the status."""
    first = 0 if tree.v_size[0] == 6 else 6
    place_bodies(tree, ws, x)
    place_wrenches(tree, ws, wrenches)
    mass_matrix(tree, ws, ws.M)
    failed = factor(ws.M, first, ws.chol)
    if failed != 0:
        return failed
    solve_forward_dynamics(tree, ws, x, tau, gravity, first, nu_dot_out)
    total = 0.0
    for row in range(nu_dot_out.shape[0]):
        total += nu_dot_out[row]
    return OK if total - total == 0.0 else NOT_FINITE
