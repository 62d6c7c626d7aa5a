# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From an odometry sample about a link to pose and body twist of the base it is fixed to."""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.se3 import rotation

CHILD_TWIST = 0
WORLD_TWIST = 1


@kernel
def place_base(sample, twist_frame, base_P_child, H_out, v_out):
    """Fill H (4, 4) and v (6,) from ``sample`` (13,) = [x y z | qx qy qz qw | twist].

    The child frame sits at P = ``base_P_child`` (4, 4) on the base; p is P's origin:

        R = R_child R_P';   o = o_child - R p                                      (1)
        v = X(P) v_child:   w = R_P w_child,   u = R_P u_child + p x w             (2)
        world twist (world axes at the child's origin): v_child = blkdiag(R_child', R_child') v
    """
    P = base_P_child
    rotation(sample[3], sample[4], sample[5], sample[6], H_out)
    for block in (0, 3):
        a, b, c = sample[7 + block], sample[8 + block], sample[9 + block]
        if twist_frame == WORLD_TWIST:
            a, b, c = (
                H_out[0, 0] * a + H_out[1, 0] * b + H_out[2, 0] * c,
                H_out[0, 1] * a + H_out[1, 1] * b + H_out[2, 1] * c,
                H_out[0, 2] * a + H_out[1, 2] * b + H_out[2, 2] * c,
            )
        for row in range(3):
            v_out[block + row] = P[row, 0] * a + P[row, 1] * b + P[row, 2] * c
    v_out[0] += P[1, 3] * v_out[5] - P[2, 3] * v_out[4]
    v_out[1] += P[2, 3] * v_out[3] - P[0, 3] * v_out[5]
    v_out[2] += P[0, 3] * v_out[4] - P[1, 3] * v_out[3]
    for i in range(3):
        a, b, c = H_out[i, 0], H_out[i, 1], H_out[i, 2]
        for j in range(3):
            H_out[i, j] = a * P[j, 0] + b * P[j, 1] + c * P[j, 2]
        H_out[i, 3] = sample[i] - (
            H_out[i, 0] * P[0, 3] + H_out[i, 1] * P[1, 3] + H_out[i, 2] * P[2, 3]
        )
        H_out[3, i] = 0.0
    H_out[3, 3] = 1.0
