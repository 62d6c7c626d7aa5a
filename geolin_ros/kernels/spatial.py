# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Spatial vectors [linear; angular] on row views [Traversaro 2019, sections 2-4].

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
def add_wrench_to_parent(R, o, f, out):
    """out += _pX^i f: a wrench from child to parent coordinates."""
    f0 = R[0, 0] * f[0] + R[0, 1] * f[1] + R[0, 2] * f[2]
    f1 = R[1, 0] * f[0] + R[1, 1] * f[1] + R[1, 2] * f[2]
    f2 = R[2, 0] * f[0] + R[2, 1] * f[1] + R[2, 2] * f[2]
    out[0] += f0
    out[1] += f1
    out[2] += f2
    out[3] += R[0, 0] * f[3] + R[0, 1] * f[4] + R[0, 2] * f[5] + o[1] * f2 - o[2] * f1
    out[4] += R[1, 0] * f[3] + R[1, 1] * f[4] + R[1, 2] * f[5] + o[2] * f0 - o[0] * f2
    out[5] += R[2, 0] * f[3] + R[2, 1] * f[4] + R[2, 2] * f[5] + o[0] * f1 - o[1] * f0


@kernel
def add_cross_motion(v, y, scale, out):
    """out += scale (v x y): twist v acting on twist y."""
    out[0] += scale * (v[4] * y[2] - v[5] * y[1] + v[1] * y[5] - v[2] * y[4])
    out[1] += scale * (v[5] * y[0] - v[3] * y[2] + v[2] * y[3] - v[0] * y[5])
    out[2] += scale * (v[3] * y[1] - v[4] * y[0] + v[0] * y[4] - v[1] * y[3])
    out[3] += scale * (v[4] * y[5] - v[5] * y[4])
    out[4] += scale * (v[5] * y[3] - v[3] * y[5])
    out[5] += scale * (v[3] * y[4] - v[4] * y[3])


@kernel
def add_cross_wrench(v, f, scale, out):
    """out += scale (v xb* f): twist v acting on wrench f."""
    out[0] += scale * (v[4] * f[2] - v[5] * f[1])
    out[1] += scale * (v[5] * f[0] - v[3] * f[2])
    out[2] += scale * (v[3] * f[1] - v[4] * f[0])
    out[3] += scale * (v[1] * f[2] - v[2] * f[1] + v[4] * f[5] - v[5] * f[4])
    out[4] += scale * (v[2] * f[0] - v[0] * f[2] + v[5] * f[3] - v[3] * f[5])
    out[5] += scale * (v[0] * f[1] - v[1] * f[0] + v[3] * f[4] - v[4] * f[3])


@kernel
def add_matvec(M, v, out):
    """out += M v for a 6x6 M."""
    for i in range(6):
        out[i] += (
            M[i, 0] * v[0]
            + M[i, 1] * v[1]
            + M[i, 2] * v[2]
            + M[i, 3] * v[3]
            + M[i, 4] * v[4]
            + M[i, 5] * v[5]
        )


@kernel
def dot6(a, b):
    """Return a' b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@kernel
def add_inertia_to_parent(R, o, inertia, out):
    """out += _pX^i I ^iX_p for any 6x6 I.

    With K = blkdiag(R, R) I blkdiag(R', R') = [[P, Q], [T, U]] and o^ the cross matrix:
    [[P, Q - P o^], [T + o^ P, U + o^ Q - T o^ - o^ P o^]].
    """
    P, Q = rotated_block(R, inertia, 0, 0), rotated_block(R, inertia, 0, 3)
    T, U = rotated_block(R, inertia, 3, 0), rotated_block(R, inertia, 3, 3)
    PX, TX = times_cross(P, o), times_cross(T, o)  # P o^, T o^
    for j in range(3):
        for i in range(3):
            out[i, j] += P[3 * i + j]
            out[i, 3 + j] += Q[3 * i + j] - PX[3 * i + j]
            out[3 + i, j] += T[3 * i + j]
            out[3 + i, 3 + j] += U[3 * i + j] - TX[3 * i + j]
        p0, p1, p2 = P[j], P[3 + j], P[6 + j]
        out[3, j] += o[1] * p2 - o[2] * p1
        out[4, j] += o[2] * p0 - o[0] * p2
        out[5, j] += o[0] * p1 - o[1] * p0
        q0, q1, q2 = Q[j] - PX[j], Q[3 + j] - PX[3 + j], Q[6 + j] - PX[6 + j]
        out[3, 3 + j] += o[1] * q2 - o[2] * q1
        out[4, 3 + j] += o[2] * q0 - o[0] * q2
        out[5, 3 + j] += o[0] * q1 - o[1] * q0


@kernel
def rotated_block(R, I6, row, col):
    """Return the nine entries of R B R' for the 3x3 block B of I6 at (row, col)."""
    b00, b01, b02 = I6[row, col], I6[row, col + 1], I6[row, col + 2]
    b10, b11, b12 = I6[row + 1, col], I6[row + 1, col + 1], I6[row + 1, col + 2]
    b20, b21, b22 = I6[row + 2, col], I6[row + 2, col + 1], I6[row + 2, col + 2]
    x0, x1, x2 = R[0, 0], R[0, 1], R[0, 2]
    y0, y1, y2 = R[1, 0], R[1, 1], R[1, 2]
    z0, z1, z2 = R[2, 0], R[2, 1], R[2, 2]
    ax, ay, az = (
        b00 * x0 + b01 * x1 + b02 * x2,
        b00 * y0 + b01 * y1 + b02 * y2,
        b00 * z0 + b01 * z1 + b02 * z2,
    )
    bx, by, bz = (
        b10 * x0 + b11 * x1 + b12 * x2,
        b10 * y0 + b11 * y1 + b12 * y2,
        b10 * z0 + b11 * z1 + b12 * z2,
    )
    cx, cy, cz = (
        b20 * x0 + b21 * x1 + b22 * x2,
        b20 * y0 + b21 * y1 + b22 * y2,
        b20 * z0 + b21 * z1 + b22 * z2,
    )
    return (
        x0 * ax + x1 * bx + x2 * cx,
        x0 * ay + x1 * by + x2 * cy,
        x0 * az + x1 * bz + x2 * cz,
        y0 * ax + y1 * bx + y2 * cx,
        y0 * ay + y1 * by + y2 * cy,
        y0 * az + y1 * bz + y2 * cz,
        z0 * ax + z1 * bx + z2 * cx,
        z0 * ay + z1 * by + z2 * cy,
        z0 * az + z1 * bz + z2 * cz,
    )


@kernel
def times_cross(B, o):
    """Return the nine entries of B o^."""
    x, y, z = o[0], o[1], o[2]
    return (
        B[1] * z - B[2] * y,
        B[2] * x - B[0] * z,
        B[0] * y - B[1] * x,
        B[4] * z - B[5] * y,
        B[5] * x - B[3] * z,
        B[3] * y - B[4] * x,
        B[7] * z - B[8] * y,
        B[8] * x - B[6] * z,
        B[6] * y - B[7] * x,
    )
