# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Body Jacobians of every body and their rates, in body frames [Traversaro 2019, section 8]."""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.kinematics.joints import place_bodies
from geolin_ros.kernels.kinematics.motion import expand_state, propagate_motion
from geolin_ros.kernels.packing.types import PRODUCT, Tree, Workspace
from geolin_ros.kernels.spatial import add_cross_motion, motion_to_child


@kernel
def kinematics(tree: Tree, ws: Workspace, x_y, gravity, J_out, J_dot_out):
    """Fill J and Jdot (nb, m_y, 6) at x = [H (16) | s | v | r] of the independent coordinates.

    Column c of a Jacobian is row c here; v_i = J_i' nu_y. Poses and twists as `move_bodies`.
    """
    move_bodies(tree, ws, x_y, gravity)
    propagate_jacobians(tree, ws, J_out, J_dot_out)


@kernel
def move_bodies(tree: Tree, ws: Workspace, x_y, gravity):
    """Leave poses and twists of the bodies at x in ``ws.world_R``, ``ws.world_o`` and ``ws.v``."""
    expand_state(tree, x_y, ws.x)
    place_bodies(tree, ws, ws.x)
    ws.nu_dot[:] = 0.0
    propagate_motion(tree, ws, ws.x, gravity, ws.nu_dot)


@kernel
def propagate_jacobians(tree: Tree, ws: Workspace, J_out, J_dot_out):
    """Fill J and Jdot (nb, m_y, 6) by rows; needs `move_bodies`, or its two passes.

    J_0 = [1, 0];  J_i = ^iX_p J_p + S_i G_i, G_i the rows of joint i in s = G y + s0    (1)
    Jdot_i = ^iX_p Jdot_p - (v_J x) ^iX_p J_p + Sdot_i G_i,
    for d/dt ^iX_p = -(v_J x) ^iX_p                                                      (2)
    """
    nb, m_y = J_out.shape[0], J_out.shape[1]
    rates = ws.x.shape[0] - tree.armature.shape[0]
    J_out[0, :, :] = 0.0
    J_dot_out[0, :, :] = 0.0
    for e in range(6):
        J_out[0, e, e] = 1.0
    for i in range(1, nb):
        p = tree.parent[i]
        for c in range(m_y):
            motion_to_child(ws.R[i], ws.o[i], J_out[p, c], J_out[i, c])
            motion_to_child(ws.R[i], ws.o[i], J_dot_out[p, c], J_dot_out[i, c])
            add_cross_motion(ws.v_joint[i], J_out[i, c], -1.0, J_dot_out[i, c])
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            for e in range(6):
                J_out[i, 6 + tree.master[c], e] += tree.multiplier[c] * ws.S[c, e]
        if tree.kind[i] == PRODUCT:  # Sdot_b = sum over c > b of (S_b x S_c) r_c
            for b in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
                for c in range(b + 1, tree.v_start[i] + tree.v_size[i]):
                    row = J_dot_out[i, 6 + tree.master[b]]
                    add_cross_motion(ws.S[b], ws.S[c], ws.x[rates + c], row)


@kernel
def place_points(tree: Tree, ws: Workspace, x_y, bodies, places, h, J):
    """Fill h (K, 3) and J (K, 6, m_y) of points that are at ``places`` (K, 3) on ``bodies``.

    h is in the world at x = [H (16) | s | v | r] of the independent coordinates; J takes nu_y to
    [linear; angular] of the points in world axes. Poses are left as by `move_bodies`.
    """
    expand_state(tree, x_y, ws.x)
    place_bodies(tree, ws, ws.x)
    for k in range(bodies.shape[0]):
        R, o = ws.world_R[bodies[k]], ws.world_o[bodies[k]]
        for e in range(3):
            h[k, e] = o[e]
            for c in range(3):
                h[k, e] += R[e, c] * places[k, c]
        _point_jacobian(tree, ws, bodies[k], h[k], J[k])


@kernel
def place_points_along(tree: Tree, ws: Workspace, states, bodies, places, h, R, J):
    """Fill h and J of `place_points`, and the axes R (N, K, 3, 3) of the bodies, at N states."""
    for k in range(states.shape[0]):
        place_points(tree, ws, states[k], bodies, places, h[k], J[k])
        for i in range(bodies.shape[0]):
            R[k, i] = ws.world_R[bodies[i]]


@kernel
def _point_jacobian(tree: Tree, ws: Workspace, body, point, J):
    """Fill J (6, m_y) of a point (3,) of the world on a body, joint by joint down to the base.

    A joint with the subspace (u; w) in its body i turns it by R_i w, and moves it by
    R_i u + R_i w x (point - o_i)
    """
    J[:, :] = 0.0
    i = body
    while i > 0:
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            column, factor = 6 + tree.master[c], tree.multiplier[c]
            _add_column(ws, i, ws.S[c], factor, point, J[:, column])
        i = tree.parent[i]
    for e in range(6):
        ws.moved[:] = 0.0
        ws.moved[e] = 1.0
        _add_column(ws, 0, ws.moved, 1.0, point, J[:, e])


@kernel
def _add_column(ws: Workspace, i, S, factor, point, column):
    R, o = ws.world_R[i], ws.world_o[i]
    x, y, z = point[0] - o[0], point[1] - o[1], point[2] - o[2]
    w0 = R[0, 0] * S[3] + R[0, 1] * S[4] + R[0, 2] * S[5]
    w1 = R[1, 0] * S[3] + R[1, 1] * S[4] + R[1, 2] * S[5]
    w2 = R[2, 0] * S[3] + R[2, 1] * S[4] + R[2, 2] * S[5]
    for e in range(3):
        column[e] += factor * (R[e, 0] * S[0] + R[e, 1] * S[1] + R[e, 2] * S[2])
    column[0] += factor * (w1 * z - w2 * y)
    column[1] += factor * (w2 * x - w0 * z)
    column[2] += factor * (w0 * y - w1 * x)
    column[3] += factor * w0
    column[4] += factor * w1
    column[5] += factor * w2
