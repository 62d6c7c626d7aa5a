# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics as a linear function of the inertial parameters [Atkeson 1986]."""

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.packing import layout as at
from geolin_ros.kernels.plain.passes import parent, turned, work
from geolin_ros.kernels.simd.spatial_vectors import (
    cross3,
    dot,
    plus,
    put_strided,
    scaled3,
    six,
    sum3,
    three,
)

PARAMETERS = 10  # of a body: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the frame origin
PAIRS = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # rows and columns of the last six


@lean_kernel
def regressor(ints, bodies, turns, ws, Y):
    """Fill ``Y`` (6 + n, 10 per body), flat, zeros in place, after `passes.hybrid_dynamics`.

    With everything prescribed. The wrench of a unit parameter, in base axes, loads each joint
    on the way to the base: tau_j = S_j' f.

    Parameters
    ----------
    bodies
        The body here of each body of the caller.
    turns : (9 per body,)
        Rows: the caller's body axes in the axes here.
    """
    width = PARAMETERS * bodies.size
    for b in range(bodies.size):
        body, k = bodies[b], 9 * b
        here = work(body)
        pose = here + at.POSE
        px, py, pz = three(ws, pose), three(ws, pose + 4), three(ws, pose + 8)
        x = turned(px, py, pz, three(turns, k))
        y = turned(px, py, pz, three(turns, k + 3))
        z, o = turned(px, py, pz, three(turns, k + 6)), three(ws, pose + 12)
        V, A = six(ws, here + at.V), plus(six(ws, here + at.AV), six(ws, here + at.ACC), 1.0)
        u, w = seen(x, y, z, sum3(V[:3], cross3(V[3:], o))), seen(x, y, z, V[3:])
        a, d = seen(x, y, z, sum3(A[:3], cross3(A[3:], o))), seen(x, y, z, A[3:])
        for parameter in range(PARAMETERS):
            f, t = unit_wrench(sum3(a, cross3(w, u)), w, d, parameter)
            f, t = turned(x, y, z, f), turned(x, y, z, t)
            F = f + sum3(t, cross3(o, f))
            to, j = PARAMETERS * b + parameter, body
            while j > 0:
                Y[width * (5 + j) + to] = dot(six(ws, work(j) + at.S), F)
                j = parent(ints, j)
            put_strided(Y, to, width, F)


@lean_kernel
def seen(x, y, z, v):
    """Return the coordinates of v along x, y, z."""
    return dot3(x, v), dot3(y, v), dot3(z, v)


@lean_kernel
def unit_wrench(c, w, d, k):
    """Return force and torque that move a body whose k-th parameter is one.

    With the acceleration c of its origin, gravity in it, twist rate d and angular velocity w:
    mass: (c; 0);  first moment h: (d x h + w x (w x h); h x c);  inertia I: (0; I d + w x I w)
    """
    none = 0.0, 0.0, 0.0
    if k == 0:
        return c, none
    if k < 4:
        h = axis(k - 1)
        return sum3(cross3(d, h), cross3(w, cross3(w, h))), cross3(h, c)
    row, column = PAIRS[k - 4]
    e, g = axis(row), axis(column)
    Id, Iw = scaled3(dot3(g, d), e), scaled3(dot3(g, w), e)
    if row != column:
        Id, Iw = sum3(Id, scaled3(dot3(e, d), g)), sum3(Iw, scaled3(dot3(e, w), g))
    return none, sum3(Id, cross3(w, Iw))


@lean_kernel
def axis(k):
    """Return the k-th unit vector."""
    return 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0


@lean_kernel
def dot3(a, b):
    """Return a' b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
