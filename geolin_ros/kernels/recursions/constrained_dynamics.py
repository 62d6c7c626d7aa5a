# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Hybrid dynamics and how it answers to forces along rows [Kim 2012, sections 3.2 and 3.3]."""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.packing.types import Tree, Workspace, Wrenches
from geolin_ros.kernels.recursions.hybrid_dynamics import hybrid_dynamics, respond
from geolin_ros.kernels.status import OK


@kernel
def respond_to_rows(
    tree: Tree, ws: Workspace, x_y, gravity, wrenches: Wrenches, free, rows, nu_dot_y, tau_y,
    nu_dot_rows, tau_rows,
):  # fmt: skip
    """Complete nu_dot_y and tau_y as `hybrid_dynamics` does, and the same by each row.

    Row k of ``nu_dot_rows`` and ``tau_rows`` (rows, 6 + n) answers to tau_v = row k of ``rows``
    at rest, without gravity, with nu_dot_u = 0; the articulated inertias are those of the first
    solution. Returns the status.
    """
    status = hybrid_dynamics(tree, ws, x_y, gravity, wrenches, free, nu_dot_y, tau_y)
    if status != OK:
        return status
    for k in range(rows.shape[0]):
        respond(tree, ws, free, rows[k], nu_dot_rows[k], tau_rows[k])
    return OK
