# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The group SE(3) for [linear; angular] twists z = (u; w) [Traversaro 2019, section 2].

ad_z = [[w^, u^], [0, w^]] is the dual number w^ + eps u^, so that every analytic function of ad_z
follows from its Rodrigues formula on rotations, F = p0 1 + p1(x) w^ + p2(x) w^ w^ with x = w'w:

    F(ad_z) = [[F, D], [0, F]]                                                           (1)
    D = p1 u^ + p2 (w^ u^ + u^ w^) + 2 (w'u) (p1' w^ + p2' w^ w^)
"""

import math

from geolin_ros.kernels._jit import kernel, lean_kernel

CHILD_TWIST, WORLD_TWIST = 0, 1  # axes of the twist of an odometry sample
POSE_TOLERANCE = 1e-5
SERIES_BELOW = 0.25  # of the squared angle: the closed forms lose digits below it


@lean_kernel
def is_pose(x):
    """Whether x, a pose by rows, holds a rotation: det R = 1 and tr R'R = 3.

    Then the squares of the singular values of R have the same geometric and arithmetic mean, 1.
    """
    a, b, c = x[0], x[1], x[2]
    d, e, f = x[4], x[5], x[6]
    g, h, i = x[8], x[9], x[10]
    volume = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
    squares = (a * a + b * b + c * c) + (d * d + e * e + f * f) + (g * g + h * h + i * i)
    return abs(volume - 1.0) < POSE_TOLERANCE and abs(squares - 3.0) < POSE_TOLERANCE


@lean_kernel
def first_without_pose(states, size):
    """Return the first of flat states of a size that begins with no pose, or their number."""
    count = states.size // size
    for k in range(count):
        if not is_pose(states[k * size : k * size + 12]):
            return k
    return count


@lean_kernel
def rodrigues(x):
    """Return a = sin t / t, b = (1 - cos t) / t^2, c = (t - sin t) / t^3 and da, db, dc by dx.

    x = t^2;  exp(w^) = 1 + a w^ + b w^ w^, its left Jacobian is 1 + b w^ + c w^ w^.
    """
    if x < SERIES_BELOW:
        a = b = c = da = db = dc = 0.0
        for k in range(8, -1, -1):  # sums of (-x)^k / (2 k + 1)!, (2 k + 2)!, (2 k + 3)!
            f = INVERSE_FACTORIALS[2 * k + 1]
            g = INVERSE_FACTORIALS[2 * k + 2]
            h = INVERSE_FACTORIALS[2 * k + 3]
            da, db, dc = -x * da - a, -x * db - b, -x * dc - c
            a, b, c = f - x * a, g - x * b, h - x * c
        return a, b, c, da, db, dc
    t = math.sqrt(x)
    half = math.sin(0.5 * t)
    a, b = math.sin(t) / t, 2.0 * half * half / x
    c = (1.0 - a) / x
    da = (math.cos(t) - a) / (2.0 * x)
    return a, b, c, da, (0.5 * a - b) / x, (-da - c) / x


INVERSE_FACTORIALS = tuple(1.0 / math.factorial(k) for k in range(20))
# e(x) = (1 - (t/2) cot(t/2)) / t^2 = sum of |B_2k| x^(k-1) / (2 k)! with Bernoulli's numbers
INVERSE_SERIES = (
    1.0 / 12.0,
    1.0 / 720.0,
    1.0 / 30240.0,
    1.0 / 1209600.0,
    1.0 / 47900160.0,
    691.0 / 1307674368000.0,
    1.0 / 74724249600.0,
    3617.0 / 10670622842880000.0,
)


@lean_kernel
def inverse_rodrigues(x):
    """Return e = (1 - (t/2) cot(t/2)) / t^2 at x = t^2, and de/dx.

    The inverse of the left Jacobian of a rotation is 1 - w^/2 + e w^ w^; t < 2 pi.
    """
    if x < SERIES_BELOW:
        e = de = 0.0
        for k in range(7, -1, -1):
            de = x * de + e
            e = x * e + INVERSE_SERIES[k]
        return e, de
    a, b, _, da, db, _ = rodrigues(x)
    e = (1.0 - 0.5 * a / b) / x
    return e, (-0.5 * (da * b - a * db) / (b * b) - e) / x


@lean_kernel
def dual_polynomial(z, p1, p2, dp1, dp2, out):
    """Fill ``out`` (6, 6) with Eq. (1), p0 = 1."""
    u0, u1, u2, w0, w1, w2 = z[0], z[1], z[2], z[3], z[4], z[5]
    uw = u0 * w0 + u1 * w1 + u2 * w2
    x = w0 * w0 + w1 * w1 + w2 * w2
    # w^ w^ = w w' - x 1,  w^ u^ + u^ w^ = u w' + w u' - 2 (w'u) 1
    q1, q2 = 2.0 * uw * dp1, 2.0 * uw * dp2
    for i in range(3):
        for j in range(3):
            w_w, w_u = z[3 + i] * z[3 + j], z[i] * z[3 + j] + z[3 + i] * z[j]
            if i == j:
                w_w -= x
                w_u -= 2.0 * uw
            F = p2 * w_w
            out[i, 3 + j] = p2 * w_u + q2 * w_w
            out[i, j] = F
            out[3 + i, 3 + j] = F
            out[3 + i, j] = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        cross, dual = p1 * z[3 + i], p1 * z[i] + q1 * z[3 + i]
        for block in (0, 3):
            out[block + i, block + i] += 1.0
            out[block + k, block + j] += cross
            out[block + j, block + k] -= cross
        out[k, 3 + j] += dual
        out[j, 3 + k] -= dual


@lean_kernel
def squared_angle(z):
    """Return w'w of a twist (u; w)."""
    return z[3] * z[3] + z[4] * z[4] + z[5] * z[5]


@lean_kernel
def left_jacobian(z, sign, out):
    """Fill ``out`` (6, 6) with J of exp(z + dz) = exp(J dz) exp(z); sign -1: exp(z) exp(J dz)."""
    _, b, c, _, db, dc = rodrigues(squared_angle(z))
    dual_polynomial(z, sign * b, c, sign * db, dc, out)


@lean_kernel
def left_jacobian_inverse(z, sign, out):
    """Fill ``out`` (6, 6) with the inverse of `left_jacobian`; angles below 2 pi."""
    e, de = inverse_rodrigues(squared_angle(z))
    dual_polynomial(z, -0.5 * sign, e, 0.0, de, out)


@lean_kernel
def adjoint_of_exp(z, sign, out):
    """Fill ``out`` (6, 6) with Ad of exp(sign z)."""
    a, b, _, da, db, _ = rodrigues(squared_angle(z))
    dual_polynomial(z, sign * a, b, sign * da, db, out)


@lean_kernel
def exp(z, H_out):
    """Fill ``H_out`` (4, 4) with [[1 + a w^ + b w^ w^, (1 + b w^ + c w^ w^) u], [0, 1]]."""
    a, b, c, _, _, _ = rodrigues(squared_angle(z))
    u0, u1, u2, w0, w1, w2 = z[0], z[1], z[2], z[3], z[4], z[5]
    H_out[0, 0] = 1.0 - b * (w1 * w1 + w2 * w2)
    H_out[1, 1] = 1.0 - b * (w0 * w0 + w2 * w2)
    H_out[2, 2] = 1.0 - b * (w0 * w0 + w1 * w1)
    H_out[0, 1], H_out[1, 0] = b * w0 * w1 - a * w2, b * w0 * w1 + a * w2
    H_out[2, 0], H_out[0, 2] = b * w0 * w2 - a * w1, b * w0 * w2 + a * w1
    H_out[1, 2], H_out[2, 1] = b * w1 * w2 - a * w0, b * w1 * w2 + a * w0
    x0, x1, x2 = w1 * u2 - w2 * u1, w2 * u0 - w0 * u2, w0 * u1 - w1 * u0  # w x u
    H_out[0, 3] = u0 + b * x0 + c * (w1 * x2 - w2 * x1)
    H_out[1, 3] = u1 + b * x1 + c * (w2 * x0 - w0 * x2)
    H_out[2, 3] = u2 + b * x2 + c * (w0 * x1 - w1 * x0)
    H_out[3, 0], H_out[3, 1], H_out[3, 2], H_out[3, 3] = 0.0, 0.0, 0.0, 1.0


@lean_kernel
def log(H, z_out):
    """Fill ``z_out`` (6,) with the twist of smallest angle, at most pi, whose exp is ``H``.

    By the quaternion (q; q_w): w = 2 atan2(|q|, q_w) q / |q| keeps its digits at 0 and at pi.
    """
    q0, q1, q2, q3 = quaternion(H)
    norm = math.sqrt(q0 * q0 + q1 * q1 + q2 * q2)
    scale = 2.0 * math.atan2(norm, q3) / norm if norm > 0.0 else 2.0
    w0, w1, w2 = scale * q0, scale * q1, scale * q2
    e, _ = inverse_rodrigues(w0 * w0 + w1 * w1 + w2 * w2)
    o0, o1, o2 = H[0, 3], H[1, 3], H[2, 3]
    x0, x1, x2 = w1 * o2 - w2 * o1, w2 * o0 - w0 * o2, w0 * o1 - w1 * o0  # w x o
    z_out[0] = o0 - 0.5 * x0 + e * (w1 * x2 - w2 * x1)
    z_out[1] = o1 - 0.5 * x1 + e * (w2 * x0 - w0 * x2)
    z_out[2] = o2 - 0.5 * x2 + e * (w0 * x1 - w1 * x0)
    z_out[3], z_out[4], z_out[5] = w0, w1, w2


@lean_kernel
def quaternion(R):
    """Return the unit quaternion (x, y, z, w), w >= 0, of the rotation in ``R``'s upper left.

    Divides by the largest of its entries, which is at least 1/2.
    """
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]  # 4 w (x, y, z)
    a, b, c = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]  # 4 xy, 4 xz, 4 yz
    if trace >= R[0, 0] and trace >= R[1, 1] and trace >= R[2, 2]:
        w = 1.0 + trace
    elif R[0, 0] >= R[1, 1] and R[0, 0] >= R[2, 2]:
        x, y, z, w = 1.0 + 2.0 * R[0, 0] - trace, a, b, x
    elif R[1, 1] >= R[2, 2]:
        x, y, z, w = a, 1.0 + 2.0 * R[1, 1] - trace, c, y
    else:
        x, y, z, w = b, c, 1.0 + 2.0 * R[2, 2] - trace, z
    norm = math.copysign(math.sqrt(x * x + y * y + z * z + w * w), w)
    return x / norm, y / norm, z / norm, w / norm


@lean_kernel
def rotation(x, y, z, w, R_out):
    """Fill the upper left of ``R_out`` from a quaternion of any length but zero."""
    s = 2.0 / (x * x + y * y + z * z + w * w)
    R_out[0, 0] = 1.0 - s * (y * y + z * z)
    R_out[1, 1] = 1.0 - s * (x * x + z * z)
    R_out[2, 2] = 1.0 - s * (x * x + y * y)
    R_out[0, 1], R_out[1, 0] = s * (x * y - w * z), s * (x * y + w * z)
    R_out[2, 0], R_out[0, 2] = s * (x * z - w * y), s * (x * z + w * y)
    R_out[1, 2], R_out[2, 1] = s * (y * z - w * x), s * (y * z + w * x)


@lean_kernel
def retract(H, z, H_out):
    """Fill ``H_out`` (4, 4) with H exp(z); it may not be ``H``."""
    exp(z, H_out)
    for j in range(4):
        e0, e1, e2 = H_out[0, j], H_out[1, j], H_out[2, j]
        for i in range(3):
            H_out[i, j] = H[i, 0] * e0 + H[i, 1] * e1 + H[i, 2] * e2
    for i in range(3):
        H_out[i, 3] += H[i, 3]


@lean_kernel
def difference(H1, H2, G, z_out):
    """Fill ``z_out`` (6,) with log(H1^-1 H2); ``G`` (4, 4) is scratch."""
    for i in range(3):
        for j in range(3):
            G[i, j] = H1[0, i] * H2[0, j] + H1[1, i] * H2[1, j] + H1[2, i] * H2[2, j]
        o0, o1, o2 = H2[0, 3] - H1[0, 3], H2[1, 3] - H1[1, 3], H2[2, 3] - H1[2, 3]
        G[i, 3] = H1[0, i] * o0 + H1[1, i] * o1 + H1[2, i] * o2
    log(G, z_out)


@kernel
def place_base(sample, twist_frame, base_P_child, H_out, v_out):
    """Fill H (4, 4) and v (6,) of a base from odometry of a frame that is fixed to it.

    ``sample`` (13,) = [x y z | qx qy qz qw | twist]; the child frame sits at P = ``base_P_child``
    (4, 4) on the base; p is P's origin:

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
