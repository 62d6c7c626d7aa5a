# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics as a linear function of the inertial parameters [Atkeson 1986]."""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.packing.types import Tree, Workspace
from geolin_ros.kernels.spatial import add_wrench_to_parent, dot6

PARAMETERS = 10  # of a body: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the frame origin


@kernel
def regressor(tree: Tree, ws: Workspace, Y_out):
    """Fill ``Y_out`` (6 + n, 10 nb) with dtau by the parameters; needs `propagate_motion`.

    The wrench of a unit parameter, carried to the root: tau_j = S_j' _jX^i y.
    """
    Y_out[:, :] = 0.0
    f, above = ws.moved, ws.rate
    for i in range(tree.parent.shape[0]):
        for k in range(PARAMETERS):
            body_wrench(ws.v[i], ws.a[i], k, f)
            column, j = PARAMETERS * i + k, i
            while j > 0:
                for c in range(tree.v_start[j], tree.v_start[j] + tree.v_size[j]):
                    Y_out[6 + c, column] = dot6(ws.S[c], f)
                above[:] = 0.0
                add_wrench_to_parent(ws.R[j], ws.o[j], f, above)
                f[:] = above
                j = tree.parent[j]
            for e in range(6):
                Y_out[e, column] = f[e]


@kernel
def body_wrench(v, a, k, out):
    """Fill ``out`` (6,) with the wrench that moves a body whose k-th parameter is one.

    With v = (u; w), a = (b; d), gravity in b, and c = b + w x u:
    mass: (c; 0);  first moment h: (d x h + w x (w x h); h x c);  inertia I: (0; I d + w x I w)
    """
    w0, w1, w2, d0, d1, d2 = v[3], v[4], v[5], a[3], a[4], a[5]
    c0 = a[0] + w1 * v[2] - w2 * v[1]
    c1 = a[1] + w2 * v[0] - w0 * v[2]
    c2 = a[2] + w0 * v[1] - w1 * v[0]
    out[:] = 0.0
    if k == 0:
        out[0], out[1], out[2] = c0, c1, c2
    elif k == 1:
        out[0], out[1], out[2] = -w1 * w1 - w2 * w2, d2 + w0 * w1, w0 * w2 - d1
        out[4], out[5] = -c2, c1
    elif k == 2:
        out[0], out[1], out[2] = w0 * w1 - d2, -w0 * w0 - w2 * w2, d0 + w1 * w2
        out[3], out[5] = c2, -c0
    elif k == 3:
        out[0], out[1], out[2] = d1 + w0 * w2, w1 * w2 - d0, -w0 * w0 - w1 * w1
        out[3], out[4] = -c1, c0
    elif k == 4:
        out[3], out[4], out[5] = d0, w2 * w0, -w1 * w0
    elif k == 5:
        out[3], out[4], out[5] = d1 - w2 * w0, d0 + w2 * w1, w0 * w0 - w1 * w1
    elif k == 6:
        out[3], out[4], out[5] = -w2 * w1, d1, w0 * w1
    elif k == 7:
        out[3], out[4], out[5] = d2 + w1 * w0, w2 * w2 - w0 * w0, d0 - w1 * w2
    elif k == 8:
        out[3], out[4], out[5] = w1 * w1 - w2 * w2, d2 - w0 * w1, d1 + w0 * w2
    else:
        out[3], out[4], out[5] = w1 * w2, -w0 * w2, d2
