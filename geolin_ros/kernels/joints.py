# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint transforms: where body i stands in its parent."""

import math

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.types import Tree, Workspace


@kernel
def single_axis_transform(S, s, R_out, o_out):
    """(R, o) = exp(S^ s) for a revolute, prismatic or helical unit twist S = (u; w).

    R = 1 + sin(s) w^ + (1 - cos(s)) w^ w^                                (1)
    o = s u + (1 - cos(s)) w x u + (s - sin(s)) w x (w x u)               (2)
    """
    sin, cos = math.sin(s), math.cos(s)
    u0, u1, u2, x, y, z = S[0], S[1], S[2], S[3], S[4], S[5]
    if x == 0.0 and y == 0.0 and z == 0.0:
        sin, cos = 0.0, 1.0
    c = 1.0 - cos
    R_out[0, 0], R_out[0, 1], R_out[0, 2] = cos + c * x * x, c * x * y - sin * z, c * x * z + sin * y
    R_out[1, 0], R_out[1, 1], R_out[1, 2] = c * x * y + sin * z, cos + c * y * y, c * y * z - sin * x
    R_out[2, 0], R_out[2, 1], R_out[2, 2] = c * x * z - sin * y, c * y * z + sin * x, cos + c * z * z
    c0, c1, c2 = y * u2 - z * u1, z * u0 - x * u2, x * u1 - y * u0  # w x u
    e = s - sin
    o_out[0] = s * u0 + c * c0 + e * (y * c2 - z * c1)
    o_out[1] = s * u1 + c * c1 + e * (z * c0 - x * c2)
    o_out[2] = s * u2 + c * c2 + e * (x * c1 - y * c0)


@kernel
def place_bodies(tree: Tree, ws: Workspace, x):
    """Fill ``ws.R``, ``ws.o`` and the world poses from ``x`` = [H (16) | s | v | r].

    ^pH_i = ^pH_joint E_i(s_i);  ^AH_i = ^AH_p ^pH_i.
    """
    for a in range(3):
        for b in range(3):
            ws.R[0, a, b] = x[4 * a + b]
            ws.world_R[0, a, b] = x[4 * a + b]
        ws.o[0, a] = x[4 * a + 3]
        ws.world_o[0, a] = x[4 * a + 3]
    for i in range(1, tree.parent.shape[0]):
        # the joint's own transform first, in the slots of the world pose
        E, t = ws.world_R[i], ws.world_o[i]
        single_axis_transform(tree.subspace[tree.v_start[i]], x[16 + tree.q_start[i]], E, t)
        compose(tree.rotation[i], tree.translation[i], E, t, ws.R[i], ws.o[i])
        p = tree.parent[i]
        compose(ws.world_R[p], ws.world_o[p], ws.R[i], ws.o[i], E, t)


@kernel
def compose(R1, o1, R2, o2, R_out, o_out):
    """(R, o) = (R1, o1) (R2, o2)."""
    for a in range(3):
        for b in range(3):
            R_out[a, b] = R1[a, 0] * R2[0, b] + R1[a, 1] * R2[1, b] + R1[a, 2] * R2[2, b]
        o_out[a] = o1[a] + R1[a, 0] * o2[0] + R1[a, 1] * o2[1] + R1[a, 2] * o2[2]
