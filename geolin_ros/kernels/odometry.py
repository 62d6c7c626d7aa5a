# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From an odometry sample to base pose and body twist at another instant."""

import math

from geolin_ros.kernels._jit import kernel

CHILD_TWIST = 0
WORLD_TWIST = 1


@kernel
def place_base(sample, twist_frame, base_P_child, x_out):
    """Write H (16) and return |quaternion|; ``sample`` = [x y z | qx qy qz qw | twist (6)].

    Afterwards ``sample[7:13]`` is the body twist of the base, for `carry_base`.
    The child frame sits at ``base_P_child`` (4, 4) on the base:

        H = H_child P^-1;   v = X(P) v_child                                          (1)
        world twist (mixed): v_child = blkdiag(R', R') v, R of the child                  (2)
    """
    norm = math.sqrt(
        sample[3] * sample[3]
        + sample[4] * sample[4]
        + sample[5] * sample[5]
        + sample[6] * sample[6]
    )
    i, j, k, w = sample[3] / norm, sample[4] / norm, sample[5] / norm, sample[6] / norm
    R00, R01, R02 = 1.0 - 2.0 * (j * j + k * k), 2.0 * (i * j - w * k), 2.0 * (i * k + w * j)
    R10, R11, R12 = 2.0 * (i * j + w * k), 1.0 - 2.0 * (i * i + k * k), 2.0 * (j * k - w * i)
    R20, R21, R22 = 2.0 * (i * k - w * j), 2.0 * (j * k + w * i), 1.0 - 2.0 * (i * i + j * j)
    if twist_frame == WORLD_TWIST:
        for block in (7, 10):
            a, b, c = sample[block], sample[block + 1], sample[block + 2]
            sample[block] = R00 * a + R10 * b + R20 * c
            sample[block + 1] = R01 * a + R11 * b + R21 * c
            sample[block + 2] = R02 * a + R12 * b + R22 * c
    P = base_P_child
    # rotation of the base: R P_R'
    for c in range(3):
        x_out[c] = R00 * P[c, 0] + R01 * P[c, 1] + R02 * P[c, 2]
        x_out[4 + c] = R10 * P[c, 0] + R11 * P[c, 1] + R12 * P[c, 2]
        x_out[8 + c] = R20 * P[c, 0] + R21 * P[c, 1] + R22 * P[c, 2]
    for row in range(3):
        at = 4 * row
        x_out[at + 3] = sample[row] - (
            x_out[at] * P[0, 3] + x_out[at + 1] * P[1, 3] + x_out[at + 2] * P[2, 3]
        )
        x_out[12 + row] = 0.0
    x_out[15] = 1.0
    u0, u1, u2 = sample[7], sample[8], sample[9]
    w0, w1, w2 = sample[10], sample[11], sample[12]
    for row in range(3):
        sample[10 + row] = P[row, 0] * w0 + P[row, 1] * w1 + P[row, 2] * w2
        sample[7 + row] = P[row, 0] * u0 + P[row, 1] * u1 + P[row, 2] * u2
    sample[7] += P[1, 3] * sample[12] - P[2, 3] * sample[11]
    sample[8] += P[2, 3] * sample[10] - P[0, 3] * sample[12]
    sample[9] += P[0, 3] * sample[11] - P[1, 3] * sample[10]
    return norm


@kernel
def carry_base(pose, v, dt, x_out):
    """Write H exp(v^ dt) by rows into ``x_out[:16]``; ``pose`` (16) is H by rows.

    exp = (1 + a w^ + b w^ w^, (1 + b w^ + c w^ w^) u) with (u; w) = v dt, angle t = |w|,
    a = sin(t)/t, b = (1 - cos t)/t^2, c = (t - sin t)/t^3, by series below t = 1e-2.
    """
    u0, u1, u2 = v[0] * dt, v[1] * dt, v[2] * dt
    w0, w1, w2 = v[3] * dt, v[4] * dt, v[5] * dt
    t2 = w0 * w0 + w1 * w1 + w2 * w2
    if t2 < 1e-4:  # the next terms are below 1e-16
        a = 1.0 - t2 / 6.0 * (1.0 - t2 / 20.0 * (1.0 - t2 / 42.0))
        b = 0.5 - t2 / 24.0 * (1.0 - t2 / 30.0 * (1.0 - t2 / 56.0))
        c = 1.0 / 6.0 - t2 / 120.0 * (1.0 - t2 / 42.0 * (1.0 - t2 / 72.0))
    else:
        t = math.sqrt(t2)
        a, b, c = math.sin(t) / t, (1.0 - math.cos(t)) / t2, (t - math.sin(t)) / (t2 * t)
    E00, E01, E02 = 1.0 - b * (w1 * w1 + w2 * w2), b * w0 * w1 - a * w2, b * w0 * w2 + a * w1
    E10, E11, E12 = b * w0 * w1 + a * w2, 1.0 - b * (w0 * w0 + w2 * w2), b * w1 * w2 - a * w0
    E20, E21, E22 = b * w0 * w2 - a * w1, b * w1 * w2 + a * w0, 1.0 - b * (w0 * w0 + w1 * w1)
    x0, x1, x2 = w1 * u2 - w2 * u1, w2 * u0 - w0 * u2, w0 * u1 - w1 * u0  # w x u
    o0 = u0 + b * x0 + c * (w1 * x2 - w2 * x1)
    o1 = u1 + b * x1 + c * (w2 * x0 - w0 * x2)
    o2 = u2 + b * x2 + c * (w0 * x1 - w1 * x0)
    for row in range(3):
        at = 4 * row
        r0, r1, r2 = pose[at], pose[at + 1], pose[at + 2]
        x_out[at] = r0 * E00 + r1 * E10 + r2 * E20
        x_out[at + 1] = r0 * E01 + r1 * E11 + r2 * E21
        x_out[at + 2] = r0 * E02 + r1 * E12 + r2 * E22
        x_out[at + 3] = pose[at + 3] + r0 * o0 + r1 * o1 + r2 * o2
        x_out[12 + row] = 0.0
    x_out[15] = 1.0


@kernel
def pose_to_quaternion(pose, out):
    """Write the unit quaternion (x, y, z, w), w >= 0, of ``pose`` (16, H by rows) into ``out``.

    The largest of the four is found from the diagonal, the others from sums and differences.
    """
    R00, R11, R22 = pose[0], pose[5], pose[10]
    x, y, z = pose[9] - pose[6], pose[2] - pose[8], pose[4] - pose[1]
    if R00 + R11 + R22 > 0.0:
        w = 1.0 + R00 + R11 + R22
    elif R00 >= R11 and R00 >= R22:
        w, x, y, z = x, 1.0 + R00 - R11 - R22, pose[1] + pose[4], pose[2] + pose[8]
    elif R11 >= R22:
        w, x, y, z = y, pose[1] + pose[4], 1.0 + R11 - R00 - R22, pose[6] + pose[9]
    else:
        w, x, y, z = z, pose[2] + pose[8], pose[6] + pose[9], 1.0 + R22 - R00 - R11
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    if w < 0.0:
        norm = -norm
    out[0], out[1], out[2], out[3] = x / norm, y / norm, z / norm, w / norm
