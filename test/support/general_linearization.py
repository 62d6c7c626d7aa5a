# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of any tree: one derivative pass and a dense factorization [Bos 2022, Proposition 1].

Referee of the engine; accelerations by [Featherstone 2008, chapter 6].
"""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.cholesky import factor, solve_rows
from geolin_ros.kernels.kinematics.joints import place_bodies
from geolin_ros.kernels.kinematics.motion import (
    differentiate_motion,
    expand_state,
    propagate_motion,
)
from geolin_ros.kernels.packing.types import BODY_WRENCH, PRODUCT, SINGLE_AXIS, Tree, Wrenches
from geolin_ros.kernels.spatial import add_cross_motion
from geolin_ros.kernels.status import NOT_FINITE, OK
from support.body_frames import (
    Workspace,
    differentiate_wrenches,
    dot6,
    expand_velocity,
    mass_matrix,
    place_wrenches,
    project_wrenches,
    reduce_force,
    reduce_matrix,
)


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


@kernel
def linearize(tree: Tree, ws: Workspace, x_y, tau_y, gravity, wrenches: Wrenches, A, B, nu_dot_y):
    """Fill A (k, k), B (k, n) and nu_dot (m,) at x = [H (16) | s | v | r]; return the status.

    The system is that of the moving reference, rows and columns [H; s; v; r], m = 6 + n, k = 2 m,
    n independent coordinates (suffix y; the same as the tree's without mimic joints):

        A = [[-(v x), 0, 1, 0], [0, K, 0, 1], [-M^-1 dtau]],  B = [0; 0; M^-1 [0; 1]]

    K is zero but for the blocks of group joints, see `write_group_blocks`.

    A fixed base keeps its rows and columns: its acceleration is zero, as are their derivatives.
    """
    m, n = nu_dot_y.shape[0], tau_y.shape[0]
    first = 0 if tree.v_size[0] == 6 else 6
    status = forward_dynamics(tree, ws, x_y, tau_y, gravity, wrenches, nu_dot_y)
    if status != OK:
        return status
    expand_velocity(tree, nu_dot_y, ws.nu_dot)
    propagate_motion(tree, ws, ws.x, gravity, ws.nu_dot)
    project_wrenches(tree, ws, ws.x, ws.nu_dot, ws.tau)
    differentiate_motion(tree, ws, ws.x, ws.nu_dot)
    differentiate_wrenches(tree, ws, ws.x, wrenches, ws.dtau)
    reduce_matrix(tree, ws.dtau, 2, ws.dtau_y)
    if first == 6:
        ws.dtau_y[:6, :] = 0.0
    solve_rows(ws.chol, first, ws.dtau_y)
    B[:, :] = 0.0
    for c in range(n):
        B[m + 6 + c, c] = 1.0
    solve_rows(ws.chol, first, B[m:])
    A[:m, :] = 0.0
    v = x_y[x_y.shape[0] - m : x_y.shape[0] - n]
    write_kinematic_rows(v, A)
    write_group_blocks(tree, ws, A)
    for row in range(m):
        for c in range(2 * m):
            A[m + row, c] = -ws.dtau_y[row, c]
    if first == 0:
        write_uniform_fields(tree, v, ws.upward, wrenches, A)
    return OK


@kernel
def write_kinematic_rows(v, A):
    """Rows of H and s: [-(v x), 0, 1, 0] and [0, 0, 0, 1], the rest zero before."""
    m = A.shape[0] // 2
    for row in range(m):
        A[row, m + row] = 1.0
    write_minus_cross(v[3:], A[:3, :3])  # -(v x) = -[[w^, u^], [0, w^]]
    write_minus_cross(v[3:], A[3:6, 3:6])
    write_minus_cross(v[:3], A[:3, 3:6])


@kernel
def write_group_blocks(tree: Tree, ws: Workspace, A):
    """Block (s, s) of each group joint: -S' (S r x) S, as -(v x) is that of the base."""
    turned = ws.moved
    for i in range(1, tree.parent.shape[0]):
        if tree.kind[i] == SINGLE_AXIS or tree.kind[i] == PRODUCT:
            continue
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            turned[:] = 0.0
            add_cross_motion(ws.v_joint[i], ws.S[c], -1.0, turned)
            for b in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
                A[6 + tree.master[b], 6 + tree.master[c]] = dot6(ws.S[b], turned)


@kernel
def write_uniform_fields(tree: Tree, v, upward, wrenches: Wrenches, A):
    """Columns that move all bodies alike, in closed form: their zeros are exact.

    by the linear velocity: [-w^; 0], for rigid bodies;
    by the pose: [0, -upward^; 0], unless a wrench depends on it
    """
    m = A.shape[0] // 2
    if are_rigid(tree.inertia):
        A[m:, m : m + 3] = 0.0
        write_minus_cross(v[3:], A[m : m + 3, m : m + 3])
    for w in range(wrenches.kind.shape[0]):
        if wrenches.kind[w] != BODY_WRENCH:
            return
    A[m:, :6] = 0.0
    write_minus_cross(upward, A[m : m + 3, 3:6])


@kernel
def are_rigid(inertia):
    """Whether every matrix has the form [[m 1, -h^], [h^, .]] of a rigid body's inertia."""
    for i in range(inertia.shape[0]):
        I6, size = inertia[i], 0.0
        for e in range(6):
            size += abs(I6[e, e])
        error = abs(I6[0, 0] - I6[1, 1]) + abs(I6[0, 0] - I6[2, 2])
        for a in range(3):
            for b in range(3):
                error += abs(I6[3 + a, b] + I6[3 + b, a])
                if a != b:
                    error += abs(I6[a, b])
        if error > 1e-12 * size:
            return False
    return True


@kernel
def write_minus_cross(w, out):
    """Write -w^ into a (3, 3) of zeros."""
    out[0, 1], out[0, 2] = w[2], -w[1]
    out[1, 0], out[1, 2] = -w[2], w[0]
    out[2, 0], out[2, 1] = w[1], -w[0]
