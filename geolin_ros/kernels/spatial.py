# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Spatial vectors [linear; angular] on row views [Traversaro 2019, sections 2-4].

[Kim 2012, Eqs. (1)-(13)].

A pose of frame i in its parent frame p is (R, o): p_x = R i_x + o. Outputs never alias inputs.
"""

from geolin_ros.kernels._jit import kernel


@kernel
def motion_to_child(R, o, v, out):
    """out = ^iX_p v: a twist from parent to child coordinates."""
    a0 = v[0] - (o[1] * v[5] - o[2] * v[4])
    a1 = v[1] - (o[2] * v[3] - o[0] * v[5])
    a2 = v[2] - (o[0] * v[4] - o[1] * v[3])
    for j in range(3):
        out[j] = R[0, j] * a0 + R[1, j] * a1 + R[2, j] * a2
        out[3 + j] = R[0, j] * v[3] + R[1, j] * v[4] + R[2, j] * v[5]


@kernel
def add_cross_motion(v, y, scale, out):
    """out += scale (v x y): twist v acting on twist y."""
    out[0] += scale * (v[4] * y[2] - v[5] * y[1] + v[1] * y[5] - v[2] * y[4])
    out[1] += scale * (v[5] * y[0] - v[3] * y[2] + v[2] * y[3] - v[0] * y[5])
    out[2] += scale * (v[3] * y[1] - v[4] * y[0] + v[0] * y[4] - v[1] * y[3])
    out[3] += scale * (v[4] * y[5] - v[5] * y[4])
    out[4] += scale * (v[5] * y[3] - v[3] * y[5])
    out[5] += scale * (v[3] * y[4] - v[4] * y[3])
