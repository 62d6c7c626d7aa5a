# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of any tree: one derivative pass and a dense factorization [Bos 2022, Proposition 1].

Serves what the fast kernel of `linearization` does not carry, and checks it in the tests.
"""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.cholesky import factor, solve_rows
from geolin_ros.kernels.inverse_dynamics import (
    place_wrenches,
    project_wrenches,
    propagate_motion,
)
from geolin_ros.kernels.inverse_dynamics_derivatives import (
    differentiate_motion,
    differentiate_wrenches,
)
from geolin_ros.kernels.joints import place_bodies
from geolin_ros.kernels.mass_matrix import mass_matrix
from geolin_ros.kernels.status import NOT_FINITE, OK
from geolin_ros.kernels.types import Tree, Workspace, Wrenches


@kernel
def linearize(tree: Tree, ws: Workspace, x, tau, gravity, wrenches: Wrenches, A, B, nu_dot_out):
    """Fill A (k, k), B (k, n) and nu_dot (m,) at x = [H (16) | s | v | r]; return the status.

    The system is that of the moving reference, rows and columns [H; s; v; r], m = 6 + n, k = 2 m:

        nu_dot = M^-1 ([0; tau] - h)                                              (1)
        A = [[-(v x), 0, 1, 0], [0, 0, 0, 1], [-M^-1 dtau]],  B = [0; 0; M^-1 [0; 1]]   (2)

    A fixed base keeps its rows and columns: its acceleration is zero, as are their derivatives.
    """
    n = tree.armature.shape[0]
    m = 6 + n
    first = 0 if tree.v_size[0] == 6 else 6
    place_bodies(tree, ws, x)
    place_wrenches(tree, ws, wrenches)
    mass_matrix(tree, ws, ws.M)
    failed = factor(ws.M, first, ws.chol)
    if failed != 0:
        return failed
    solve_forward_dynamics(tree, ws, x, tau, gravity, first, nu_dot_out)
    propagate_motion(tree, ws, x, gravity, nu_dot_out)
    project_wrenches(tree, ws, x, nu_dot_out, ws.tau)
    differentiate_motion(tree, ws)
    differentiate_wrenches(tree, ws, x, wrenches, ws.dtau)
    if first == 6:
        ws.dtau[:6, :] = 0.0
    solve_rows(ws.chol, first, ws.dtau)
    B[:, :] = 0.0
    for c in range(n):
        B[m + 6 + c, c] = 1.0
    solve_rows(ws.chol, first, B[m:])
    A[:m, :] = 0.0
    write_kinematic_rows(x[x.shape[0] - m : x.shape[0] - n], A)
    for row in range(m):
        for c in range(2 * m):
            A[m + row, c] = -ws.dtau[row, c]
    total = 0.0
    for row in range(m):
        total += nu_dot_out[row]
    return OK if total - total == 0.0 else NOT_FINITE


@kernel
def solve_forward_dynamics(tree: Tree, ws: Workspace, x, tau, gravity, first, nu_dot_out):
    """Fill ``nu_dot_out`` by Eq. (1); needs poses, wrenches and the factor of M."""
    m = 6 + tree.armature.shape[0]
    nu_dot_out[:] = 0.0
    propagate_motion(tree, ws, x, gravity, nu_dot_out)
    project_wrenches(tree, ws, x, nu_dot_out, ws.tau)
    for row in range(m):
        nu_dot_out[row] = (tau[row - 6] if row >= 6 else 0.0) - ws.tau[row]
    if first == 6:
        nu_dot_out[:6] = 0.0
    solve_rows(ws.chol, first, nu_dot_out.reshape((m, 1)))


@kernel
def write_kinematic_rows(v, A):
    """Rows of H and s: [-(v x), 0, 1, 0] and [0, 0, 0, 1], the rest zero before."""
    m = A.shape[0] // 2
    for row in range(m):
        A[row, m + row] = 1.0
    for block in (0, 3):  # -[[w^, u^], [0, w^]]
        A[block, block + 1], A[block, block + 2] = v[5], -v[4]
        A[block + 1, block], A[block + 1, block + 2] = -v[5], v[3]
        A[block + 2, block], A[block + 2, block + 1] = v[4], -v[3]
    A[0, 4], A[0, 5] = v[2], -v[1]
    A[1, 3], A[1, 5] = -v[2], v[0]
    A[2, 3], A[2, 4] = v[1], -v[0]
