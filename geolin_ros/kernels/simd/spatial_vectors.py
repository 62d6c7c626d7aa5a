# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tuples of three and of six, of numbers or of vectors.

A spatial vector takes eight places, [linear 3, pad | angular 3, pad], as in `layout`.
"""

from geolin_ros.kernels._jit import lean_kernel


@lean_kernel
def three(array, k):
    """Return three entries."""
    return array[k], array[k + 1], array[k + 2]


@lean_kernel
def put_three(array, k, v):
    """Store three entries."""
    array[k], array[k + 1], array[k + 2] = v


@lean_kernel
def six(array, k):
    """Return the six entries of a spatial vector."""
    return array[k], array[k + 1], array[k + 2], array[k + 4], array[k + 5], array[k + 6]


@lean_kernel
def put_six(array, k, v):
    """Store a spatial vector."""
    array[k], array[k + 1], array[k + 2] = v[0], v[1], v[2]
    array[k + 4], array[k + 5], array[k + 6] = v[3], v[4], v[5]


@lean_kernel
def strided(array, k, stride):
    """Return six entries, ``stride`` apart."""
    a, b, c = array[k], array[k + stride], array[k + 2 * stride]
    k += 3 * stride
    return a, b, c, array[k], array[k + stride], array[k + 2 * stride]


@lean_kernel
def put_strided(array, k, stride, v):
    """Store six entries, ``stride`` apart."""
    for e in range(6):
        array[k + e * stride] = v[e]


@lean_kernel
def sum3(a, b):
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@lean_kernel
def scaled3(k, a):
    """Return k a."""
    return k * a[0], k * a[1], k * a[2]


@lean_kernel
def cross3(a, b):
    """Return a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@lean_kernel
def cross_motion(v, x):
    """Return v x x, twist on twist."""
    return sum3(cross3(v[3:], x[:3]), cross3(v[:3], x[3:])) + cross3(v[3:], x[3:])


@lean_kernel
def cross_force(v, f):
    """Return v x* f, twist on wrench."""
    return cross3(v[3:], f[:3]) + sum3(cross3(v[:3], f[:3]), cross3(v[3:], f[3:]))


@lean_kernel
def dot(s, rows):
    """Return s' rows: the combination of six rows with six numbers."""
    return (s[0] * rows[0] + s[1] * rows[1] + s[2] * rows[2]) + (
        s[3] * rows[3] + s[4] * rows[4] + s[5] * rows[5]
    )


@lean_kernel
def plus(rows, s, y):
    """Return rows + s y."""
    a, b, c, d, e, f = rows
    return a + s[0] * y, b + s[1] * y, c + s[2] * y, d + s[3] * y, e + s[4] * y, f + s[5] * y


@lean_kernel
def minus(rows, s, y):
    """Return rows - s y."""
    a, b, c, d, e, f = rows
    return a - s[0] * y, b - s[1] * y, c - s[2] * y, d - s[3] * y, e - s[4] * y, f - s[5] * y
