# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Hybrid dynamics: some accelerations given, forces for the others [Kim 2012, section 2.3].

    [M_uu M_uv; M_vu M_vv] [nu_dot_u; nu_dot_v] + h = [tau_u; tau_v],  nu_dot_u and tau_v given

Nothing prescribed is forward dynamics (ABA), everything is inverse dynamics (RNEA). Differs from
Table 4 in the order of work only: inverse dynamics with nu_dot_v = 0 first, then the response to
what is missing in tau_v. Forward dynamics, the derivatives and constraints share that response.
"""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.cholesky import factor, solve_rows
from geolin_ros.kernels.packing.types import Tree, Workspace, Wrenches
from geolin_ros.kernels.recursions.articulated_body import (
    eliminate_velocities,
    respond_articulated,
)
from geolin_ros.kernels.recursions.inverse_dynamics import (
    place_wrenches,
    project_wrenches,
    propagate_motion,
)
from geolin_ros.kernels.recursions.joints import place_bodies
from geolin_ros.kernels.recursions.mass_matrix import mass_matrix, reduced_mass_matrix
from geolin_ros.kernels.recursions.mimic import (
    expand_state,
    expand_velocity,
    reduce_force,
    reduce_matrix,
)
from geolin_ros.kernels.status import NOT_FINITE, OK, SINGULAR


@kernel
def inverse_dynamics_at(
    tree: Tree, ws: Workspace, x_y, gravity, wrenches: Wrenches, nu_dot_y, tau_y_out
):
    """Fill ``tau_y_out`` (6 + n,) on the independent coordinates; poses and forces stay."""
    expand_state(tree, x_y, ws.x)
    place_bodies(tree, ws, ws.x)
    place_wrenches(tree, ws, wrenches)
    evaluate(tree, ws, gravity, nu_dot_y, tau_y_out)


@kernel
def evaluate(tree: Tree, ws: Workspace, gravity, nu_dot_y, tau_y_out):
    """Fill ``tau_y_out`` with other accelerations at the bodies and wrenches as placed."""
    expand_velocity(tree, nu_dot_y, ws.nu_dot)
    propagate_motion(tree, ws, ws.x, gravity, ws.nu_dot)
    project_wrenches(tree, ws, ws.x, ws.nu_dot, ws.tau)
    reduce_force(tree, ws.tau, tau_y_out)


@kernel
def prepare_response(tree: Tree, ws: Workspace, free):
    """Factor M_vv for `respond`; needs `place_bodies`; return the status.

    Trees without mimic joints in O(n), others by a dense factorization, rows and columns of
    prescribed velocities those of the identity.
    """
    m_y = ws.M_y.shape[0]
    if m_y == ws.M.shape[0]:
        return eliminate_velocities(tree, ws, free)
    mass_matrix(tree, ws, ws.M)
    reduce_matrix(tree, ws.M, 1, ws.M_y)
    return factor_free(ws, free)


@kernel
def factor_free(ws: Workspace, free):
    """Factor ``ws.M_y`` masked into ``ws.chol``; return the status."""
    m_y = ws.M_y.shape[0]
    for row in range(m_y):
        for col in range(m_y):
            ws.masked[row, col] = ws.M_y[row, col] if free[row] and free[col] else 0.0
        if not free[row]:
            ws.masked[row, row] = 1.0
    failed = factor(ws.masked, 0, ws.chol)
    return OK if failed == 0 else SINGULAR + failed - 1


@kernel
def respond(tree: Tree, ws: Workspace, free, force, nu_dot_out, reaction_out):
    """nu_dot_v = M_vv^-1 force_v, nu_dot_u = 0; reaction_u = M_uv nu_dot_v, reaction_v = 0.

    At rest, without gravity: the wrenches and accelerations of bodies are overwritten.
    """
    m_y = ws.M_y.shape[0]
    if m_y == ws.M.shape[0]:
        respond_articulated(tree, ws, free, force, nu_dot_out, reaction_out)
        return
    for row in range(m_y):
        nu_dot_out[row] = force[row] if free[row] else 0.0
    solve_rows(ws.chol, 0, nu_dot_out.reshape((m_y, 1)))
    for row in range(m_y):
        total = 0.0
        if not free[row]:
            for col in range(m_y):
                total += ws.M_y[row, col] * nu_dot_out[col]
        reaction_out[row] = total


@kernel
def hybrid_dynamics(
    tree: Tree, ws: Workspace, x_y, gravity, wrenches: Wrenches, free, nu_dot_y, tau_y
):
    """Complete nu_dot_y and tau_y (6 + n,), given prescribed and free entries; return the status.

    On the independent coordinates, base first; ``free`` (6 + n,). A fixed base is prescribed.
    """
    m_y = nu_dot_y.shape[0]
    for row in range(m_y):
        if free[row]:
            nu_dot_y[row] = 0.0
    inverse_dynamics_at(tree, ws, x_y, gravity, wrenches, nu_dot_y, ws.tau_y)
    status = prepare_response(tree, ws, free)
    if status != OK:
        return status
    for row in range(m_y):
        if free[row]:
            ws.tau_y[row] = tau_y[row] - ws.tau_y[row]  # what the free velocities have to take up
        else:
            tau_y[row] = ws.tau_y[row]
    respond(tree, ws, free, ws.tau_y, ws.response, ws.reaction)
    total = 0.0
    for row in range(m_y):
        if free[row]:
            nu_dot_y[row] = ws.response[row]
        else:
            tau_y[row] += ws.reaction[row]
        total += nu_dot_y[row] + tau_y[row]
    return OK if total - total == 0.0 else NOT_FINITE


@kernel
def inverse_mass_matrix(tree: Tree, ws: Workspace, x_y, first, Minv_out):
    """Fill M^-1 [first:, first:] on the independent coordinates; return the status."""
    reduced_mass_matrix(tree, ws, x_y, ws.M_y)
    failed = factor(ws.M_y, first, ws.chol)
    if failed != 0:
        return SINGULAR + failed - 1
    Minv_out[:, :] = 0.0
    for row in range(first, ws.M_y.shape[0]):
        Minv_out[row, row] = 1.0
    solve_rows(ws.chol, first, Minv_out)
    return OK
