# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Accelerations of any tree by a dense factorization [Featherstone 2008, chapter 6]."""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.cholesky import factor, solve_rows
from geolin_ros.kernels.packing.types import Tree, Workspace, Wrenches
from geolin_ros.kernels.recursions.inverse_dynamics import (
    place_wrenches,
    project_wrenches,
    propagate_motion,
)
from geolin_ros.kernels.recursions.joints import place_bodies
from geolin_ros.kernels.recursions.mass_matrix import mass_matrix
from geolin_ros.kernels.recursions.mimic import expand_state, reduce_force, reduce_matrix
from geolin_ros.kernels.status import NOT_FINITE, OK


@kernel
def forward_dynamics(tree: Tree, ws: Workspace, x_y, tau_y, gravity, wrenches: Wrenches, nu_dot_y):
    """Fill nu_dot (6 + n,) at x = [H (16) | s | v | r]; return the status.

    On the independent coordinates (suffix y): nu_dot = M^-1 ([0; tau] - h). Leaves the factor of
    M in ``ws.chol`` and state, poses and wrenches of the tree in place for its derivatives.
    """
    m = nu_dot_y.shape[0]
    first = 0 if tree.v_size[0] == 6 else 6
    expand_state(tree, x_y, ws.x)
    place_bodies(tree, ws, ws.x)
    place_wrenches(tree, ws, wrenches)
    mass_matrix(tree, ws, ws.M)
    reduce_matrix(tree, ws.M, 1, ws.M_y)
    failed = factor(ws.M_y, first, ws.chol)
    if failed != 0:
        return failed
    ws.nu_dot[:] = 0.0
    propagate_motion(tree, ws, ws.x, gravity, ws.nu_dot)
    project_wrenches(tree, ws, ws.x, ws.nu_dot, ws.tau)
    reduce_force(tree, ws.tau, ws.tau_y)
    for row in range(m):
        nu_dot_y[row] = (tau_y[row - 6] if row >= 6 else 0.0) - ws.tau_y[row]
    if first == 6:
        nu_dot_y[:6] = 0.0
    solve_rows(ws.chol, first, nu_dot_y.reshape((m, 1)))
    total = 0.0
    for row in range(m):
        total += nu_dot_y[row]
    return OK if total - total == 0.0 else NOT_FINITE
