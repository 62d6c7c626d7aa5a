# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Jacobians of inverse and hybrid dynamics, independent coordinates [Kim 2012, section 4]."""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.cholesky import solve_rows
from geolin_ros.kernels.packing.types import Tree, Workspace, Wrenches
from geolin_ros.kernels.recursions.hybrid_dynamics import evaluate, factor_free, hybrid_dynamics
from geolin_ros.kernels.recursions.inverse_dynamics_derivatives import (
    differentiate_motion,
    differentiate_wrenches,
)
from geolin_ros.kernels.recursions.mass_matrix import mass_matrix
from geolin_ros.kernels.recursions.mimic import reduce_matrix
from geolin_ros.kernels.status import OK


@kernel
def differentiate_inverse_dynamics(tree: Tree, ws: Workspace, wrenches: Wrenches, dtau_y_out):
    """Fill ``dtau_y_out`` (6 + n, 2 (6 + n)), columns [H; s; v; r]; needs `evaluate`."""
    differentiate_motion(tree, ws, ws.x, ws.nu_dot)
    differentiate_wrenches(tree, ws, ws.x, wrenches, ws.dtau)
    reduce_matrix(tree, ws.dtau, 2, dtau_y_out)


@kernel
def differentiate_hybrid_dynamics(
    tree: Tree,
    ws: Workspace,
    x_y,
    gravity,
    wrenches: Wrenches,
    free,
    nu_dot_y,
    tau_y,
    dnu_dot_out,
    dtau_out,
):
    """Fill both Jacobians (m, 3 m), columns [H; s; v; r; given], m = 6 + n; return the status.

    ``given`` are the accelerations of prescribed and the forces of free velocities. At the
    solution, with the derivative D of inverse dynamics by [H; s; v; r]:

        M_vv dnu_dot_v = dtau_v - M_vu dnu_dot_u - D_v;   dtau_u = D_u + M_u dnu_dot
    """
    m = nu_dot_y.shape[0]
    status = hybrid_dynamics(tree, ws, x_y, gravity, wrenches, free, nu_dot_y, tau_y)
    if status != OK:
        return status
    evaluate(tree, ws, gravity, nu_dot_y, ws.tau_y)
    differentiate_inverse_dynamics(tree, ws, wrenches, ws.dtau_y)
    mass_matrix(tree, ws, ws.M)
    reduce_matrix(tree, ws.M, 1, ws.M_y)
    status = factor_free(ws, free)
    if status != OK:
        return status
    dnu_dot_out[:, :] = 0.0
    dtau_out[:, :] = 0.0
    for row in range(m):
        dnu_dot_out[row, 2 * m + row] = 1.0
        if free[row]:
            for c in range(2 * m):
                dnu_dot_out[row, c] = -ws.dtau_y[row, c]
            for c in range(m):
                if not free[c]:
                    dnu_dot_out[row, 2 * m + c] = -ws.M_y[row, c]
    solve_rows(ws.chol, 0, dnu_dot_out)
    for row in range(m):
        if free[row]:
            dtau_out[row, 2 * m + row] = 1.0
            continue
        for c in range(2 * m):
            dtau_out[row, c] = ws.dtau_y[row, c]
        for b in range(m):
            for c in range(3 * m):
                dtau_out[row, c] += ws.M_y[row, b] * dnu_dot_out[b, c]
    return OK
