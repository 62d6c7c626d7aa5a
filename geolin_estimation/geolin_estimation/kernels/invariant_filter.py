# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A right-invariant Kalman filter for a body with an IMU and points on the ground [Hartley 2020].

The state X = (R, v, p, d_1 ... d_K) has (3, 5 + K) columns: axes, velocity and place of the
IMU, and the points, in the world; b = (b_w, b_a) (6,) are the biases of gyro and accelerometer.
The error is (xi, zeta),  X_hat = exp(xi) X,  zeta = b_hat - b,  in the order

    theta 0:3 | v 3:6 | p 6:9 | b_w 9:12 | b_a 12:15 | d_i 15 + 3 i : 18 + 3 i

with covariance P (n, n), n = 15 + 3 K. Rows of points that are not on the ground are zeros.
"""

import math

import numpy as np

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.se3 import rodrigues

V, POINTS, BIAS, FEET = 3, 5, 9, 15
"""Column of v and of the first point in X; row of the biases and of the first point in P."""
LOST = -1
"""Instead of how many points were let go: numbers grow without bounds."""


@kernel
def rotation_of(x, y, z, E, Gamma):
    """Fill E (3, 3) with exp(w^) and Gamma with its left Jacobian, w = (x, y, z)."""
    w = (x, y, z)
    t2 = x * x + y * y + z * z
    a, b, c, _, _, _ = rodrigues(t2)
    for i in range(3):
        for j in range(3):
            E[i, j] = b * w[i] * w[j]
            Gamma[i, j] = c * w[i] * w[j]
        E[i, i] += 1.0 - b * t2
        Gamma[i, i] += 1.0 - c * t2
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        E[k, j] += a * w[i]
        E[j, k] -= a * w[i]
        Gamma[k, j] += b * w[i]
        Gamma[j, k] -= b * w[i]


@kernel
def turn(X, E, Y):
    """Replace R by R E, brought back to a rotation by one step of Newton's iteration."""
    for i in range(3):
        for j in range(3):
            Y[i, j] = X[i, 0] * E[0, j] + X[i, 1] * E[1, j] + X[i, 2] * E[2, j]
    for j in range(3):
        for k in range(3):
            E[j, k] = -0.5 * (Y[0, j] * Y[0, k] + Y[1, j] * Y[1, k] + Y[2, j] * Y[2, k])
        E[j, j] += 1.5
    for i in range(3):
        for j in range(3):
            X[i, j] = Y[i, 0] * E[0, j] + Y[i, 1] * E[1, j] + Y[i, 2] * E[2, j]


@kernel
def carry(X, b, P, active, recent, times, samples, longest, gravity, noise, E, T):
    """`propagate` over IMU samples (N, 6) taken at times[1:], from times[0] (1 + N,) on [s].

    Between two samples their mean counts, in steps of at most ``longest`` [s]. recent[0] of
    (2, 6) is the sample before, and is left as the last one.
    """
    last, mean = recent[0], recent[1]
    for k in range(samples.shape[0]):
        step = times[k + 1] - times[k]
        for c in range(6):
            mean[c] = 0.5 * (last[c] + samples[k, c])
            last[c] = samples[k, c]
        if step > 0.0:
            count = max(1, math.ceil(step / longest))
            for _ in range(count):
                propagate(X, b, P, active, mean, step / count, gravity, noise, E, T)


@kernel
def propagate(X, b, P, active, imu, dt, gravity, noise, E, T):
    """Carry state and covariance over ``dt`` by an IMU sample (6,) = [gyro; accelerometer].

    noise (5,): squared densities of gyro, accelerometer, their biases, and how points slip.
    E (n, 15) and T (n, n) are scratch memory. With Phi = 1 + E on the first 15 columns,

        Phi = exp(A dt) to first order in b, to second in g^  (Eqs. 35, 52)
        P   = Phi P Phi' + E_b diag(noise) E_b' / dt,  E_b = columns of the biases of E
    """
    n, K = P.shape[0], active.shape[0]
    half = 0.5 * dt * dt
    _errors(X, active, dt, gravity, E)
    for r in range(n):
        for j in range(n):
            T[r, j] = P[r, j]
        for c in range(FEET):
            e = E[r, c]
            if e != 0.0:
                for j in range(n):
                    T[r, j] += e * P[c, j]
    for r in range(n):
        first, end = _columns_of(r)
        for i in range(r, n):
            total = T[i, r]
            for c in range(first, end):
                total += T[i, c] * E[r, c]
            for c in range(BIAS, min(end, BIAS + 3)):
                total += E[i, c] * E[r, c] * noise[0] / dt
            for c in range(BIAS + 3, end):
                total += E[i, c] * E[r, c] * noise[1] / dt
            P[i, r] = total
            P[r, i] = total
    for c in range(3):
        P[BIAS + c, BIAS + c] += noise[2] * dt
        P[BIAS + 3 + c, BIAS + 3 + c] += noise[3] * dt
        for k in range(K):
            if active[k]:
                P[FEET + 3 * k + c, FEET + 3 * k + c] += noise[4] * dt
    # R exp(w dt), with the specific force in the axes half way
    w0, w1, w2 = (imu[0] - b[0]) * dt, (imu[1] - b[1]) * dt, (imu[2] - b[2]) * dt
    Q, Gamma, scratch = E[0:3, 0:3], E[3:6, 0:3], E[6:9, 0:3]
    rotation_of(0.5 * w0, 0.5 * w1, 0.5 * w2, Q, Gamma)
    f0, f1, f2 = imu[3] - b[3], imu[4] - b[4], imu[5] - b[5]
    g0 = Q[0, 0] * f0 + Q[0, 1] * f1 + Q[0, 2] * f2
    g1 = Q[1, 0] * f0 + Q[1, 1] * f1 + Q[1, 2] * f2
    g2 = Q[2, 0] * f0 + Q[2, 1] * f1 + Q[2, 2] * f2
    for i in range(3):
        a = X[i, 0] * g0 + X[i, 1] * g1 + X[i, 2] * g2 + gravity[i]
        X[i, 4] += dt * X[i, 3] + half * a
        X[i, 3] += dt * a
    rotation_of(w0, w1, w2, Q, Gamma)
    turn(X, Q, scratch)


@kernel
def _columns_of(row):
    """Return first and end of the columns of E where a row may have other numbers than zeros."""
    if row < BIAS:
        return 0, FEET
    if row < FEET:
        return 0, 0
    return BIAS, BIAS + 3


@kernel
def _errors(X, active, dt, gravity, E):
    """Fill E (n, 15) with Phi - 1 on the columns of theta, v, p and the biases."""
    K, half = active.shape[0], 0.5 * dt * dt
    E[:] = 0.0
    for i in range(3):
        E[6 + i, V + i] = dt
        for j in range(3):
            E[i, BIAS + j] = -dt * X[i, j]
            E[V + i, BIAS + 3 + j] = -dt * X[i, j]
            E[6 + i, BIAS + 3 + j] = -half * X[i, j]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        E[V + k, j] = dt * gravity[i]
        E[V + j, k] = -dt * gravity[i]
        E[6 + k, j] = half * gravity[i]
        E[6 + j, k] = -half * gravity[i]
        for c in range(3):  # x^ R = columns x x R_c
            E[V + i, BIAS + c] = -dt * (X[j, 3] * X[k, c] - X[k, 3] * X[j, c])
            E[6 + i, BIAS + c] = -dt * (X[j, 4] * X[k, c] - X[k, 4] * X[j, c])
            for m in range(K):
                if active[m]:
                    E[FEET + 3 * m + i, BIAS + c] = -dt * (
                        X[j, POINTS + m] * X[k, c] - X[k, POINTS + m] * X[j, c]
                    )


@kernel
def sandwich(J, P, out):
    """Fill ``out`` (r, r) with J P J', J (r, c), P (c or more, c or more)."""
    rows, columns = J.shape
    out[:, :] = 0.0
    for i in range(rows):
        for a in range(columns):
            if J[i, a] != 0.0:
                for j in range(rows):
                    total = 0.0
                    for c in range(columns):
                        total += P[a, c] * J[j, c]
                    out[i, j] += J[i, a] * total


@kernel
def touch(X, P, k, h, N, S):
    """Put point ``k`` on the ground where h (3,), with covariance N, sees it from the IMU."""
    d = FEET + 3 * k
    sandwich(X[:, 0:3], N, S[0:3, 0:3])
    for i in range(3):
        X[i, POINTS + k] = X[i, 4] + X[i, 0] * h[0] + X[i, 1] * h[1] + X[i, 2] * h[2]
    P[d : d + 3] = P[6:9]
    P[:, d : d + 3] = P[:, 6:9]
    P[d : d + 3, d : d + 3] += S[0:3, 0:3]


@kernel
def lift(P, k):
    """Forget where point ``k`` was."""
    d = FEET + 3 * k
    P[d : d + 3] = 0.0
    P[:, d : d + 3] = 0.0


@kernel
def correct(X, b, P, k, h, N, gate, L, T):
    """Correct by where h (3,), with covariance N (3, 3), sees point ``k`` from the IMU.

    The innovation is R h - (d_k - p) = xi_p - xi_dk + R n, Eq. (20). L, T (n, n) are scratch
    memory. Returns what `_absorb` does.
    """
    d, S, z = FEET + 3 * k, L[0:3, 0:3], L[3, 0:3]
    sandwich(X[:, 0:3], N, S)
    for i in range(3):
        z[i] = X[i, 0] * h[0] + X[i, 1] * h[1] + X[i, 2] * h[2] - X[i, POINTS + k] + X[i, 4]
        for c in range(P.shape[0]):
            T[i, c] = P[6 + i, c] - P[d + i, c]
        for j in range(3):
            S[i, j] += T[i, 6 + j] - T[i, d + j]
    return _absorb(X, b, P, S, z, gate, L, T)


@kernel
def level(X, b, P, k, height, variance, gate, L, T):
    """Correct by the height of point ``k``, as `correct`.

    The innovation is d_z - height = xi_dz + theta_x d_y - theta_y d_x to first order.
    """
    d, x, y, S, z = FEET + 3 * k, X[0, POINTS + k], X[1, POINTS + k], L[0:1, 0:1], L[1, 0:1]
    for c in range(P.shape[0]):
        T[0, c] = P[d + 2, c] + y * P[0, c] - x * P[1, c]
    S[0, 0] = T[0, d + 2] + y * T[0, 0] - x * T[0, 1] + variance
    z[0] = X[2, POINTS + k] - height
    return _absorb(X, b, P, S, z, gate, L, T)


@kernel
def _absorb(X, b, P, S, z, gate, L, T):
    """Correct by innovations z (r,) of covariance S (r, r), with H P in the first rows of T.

    With S = C C' and Y = C^-1 H P, Y' Y is taken from P, and X and b move by -Y' C^-1 z, unless
    z' S^-1 z is above ``gate`` or no number. Returns whether they do, and z' S^-1 z.
    """
    r, n, size = z.shape[0], P.shape[0], 0.0
    for i in range(r):
        for j in range(i):
            for c in range(j):
                S[i, j] -= S[i, c] * S[j, c]
            S[i, j] /= S[j, j]
            S[i, i] -= S[i, j] * S[i, j]
            z[i] -= S[i, j] * z[j]
            for c in range(n):
                T[i, c] -= S[i, j] * T[j, c]
        S[i, i] = math.sqrt(S[i, i])
        z[i] /= S[i, i]
        size += z[i] * z[i]
        for c in range(n):
            T[i, c] /= S[i, i]
    if not size <= gate:
        return False, size
    T[r] = 0.0
    for i in range(r):
        for j in range(n):
            T[r, j] -= T[i, j] * z[i]
            for c in range(n):
                P[j, c] -= T[i, j] * T[i, c]
    for c in range(6):
        b[c] += T[r, BIAS + c]
    _move(X, T[r], L)
    return True, size


@kernel
def _move(X, xi, scratch):
    """Replace X by exp(xi) X; entries of points that are lifted are zeros."""
    Q, Gamma = scratch[0:3, 0:3], scratch[3:6, 0:3]
    rotation_of(xi[0], xi[1], xi[2], Q, Gamma)
    for c in range(X.shape[1]):
        x, y, z = X[0, c], X[1, c], X[2, c]
        for i in range(3):
            X[i, c] = Q[i, 0] * x + Q[i, 1] * y + Q[i, 2] * z
        if c >= 3:
            r = 3 * (c - 2) if c < POINTS else FEET + 3 * (c - POINTS)
            for i in range(3):
                X[i, c] += Gamma[i, 0] * xi[r] + Gamma[i, 1] * xi[r + 1] + Gamma[i, 2] * xi[r + 2]


@kernel
def roll(X, active, axes, last, radius):
    """Move the middles of round feet on the ground along by the turning of their axes.

    axes (K, 3, 3) are those of the feet as the IMU sees them; last, in the world, those of the
    call before, which are replaced.
    """
    for k in range(active.shape[0]):
        t0, t1 = 0.0, 0.0  # twice the turning about x and y: D - D' of D = R axes last'
        for c in range(3):
            a0 = X[0, 0] * axes[k, 0, c] + X[0, 1] * axes[k, 1, c] + X[0, 2] * axes[k, 2, c]
            a1 = X[1, 0] * axes[k, 0, c] + X[1, 1] * axes[k, 1, c] + X[1, 2] * axes[k, 2, c]
            a2 = X[2, 0] * axes[k, 0, c] + X[2, 1] * axes[k, 1, c] + X[2, 2] * axes[k, 2, c]
            t0 += a2 * last[k, 1, c] - a1 * last[k, 2, c]
            t1 += a0 * last[k, 2, c] - a2 * last[k, 0, c]
            last[k, 0, c], last[k, 1, c], last[k, 2, c] = a0, a1, a2
        if active[k]:
            X[0, POINTS + k] += 0.5 * t1 * radius
            X[1, POINTS + k] -= 0.5 * t0 * radius


@kernel
def meet(X, b, P, active, until, touching, now, h, J, rules, N, L, T):
    """Correct by all points that touch the ground; lift those that do not, place the new ones.

    h (K, 3), J (K, 6, 6 + n): where the IMU sees them, and how that moves with joints. A point
    that is refused is let go until ``now`` + distrust [s].
    rules (8,): variances of joint positions and of points, gate, distrust, what is added to the
    variance of velocity when all are refused, what no number is as large as, and variance and
    mean of the heights at which points are placed; no variance: they are not known.
    N (3, 3), L and T (n, n) are scratch memory. Returns how many points were let go, or `LOST`.
    """
    K, tried, refused = active.shape[0], 0, 0
    for k in range(K):
        if active[k] and not touching[k]:
            active[k] = False
            lift(P, k)
    for k in range(K):
        if active[k]:
            tried += 1
            _uncertainty(J[k], rules[0], rules[1], N)
            is_accepted, _ = correct(X, b, P, k, h[k], N, rules[2], L, T)
            if not is_accepted:
                refused += 1
                active[k], until[k] = False, now + rules[3]
                lift(P, k)
    if refused > 0 and refused == tried:  # it may be the base that is wrong
        for i in range(V, V + 3):
            P[i, i] += rules[4]
    for k in range(K):
        if touching[k] and not active[k] and until[k] <= now:
            active[k] = True
            _uncertainty(J[k], rules[0], rules[1], N)
            touch(X, P, k, h[k], N, L)
            if rules[6] > 0.0:
                level(X, b, P, k, rules[7], rules[6], rules[2], L, T)
    most = rules[5]
    is_known = np.abs(X).max() < most and np.abs(b).max() < most
    return refused if is_known and np.abs(P).max() < most * most else LOST


@kernel
def _uncertainty(J, joint, point, N):
    """Fill N (3, 3) with joint J J' + point 1, of the joints' columns of the linear rows of J."""
    for i in range(3):
        for j in range(i + 1):
            total = 0.0
            for c in range(6, J.shape[1]):
                total += J[i, c] * J[j, c]
            N[i, j] = N[j, i] = joint * total
        N[i, i] += point


@kernel
def read_base(X, b, P, gyro, imu_H_base, gyro_variance, J, H, v, pose, twist):
    """Fill pose H (4, 4) and body twist v (6,) of the base with their covariances (6, 6).

    Of the pose [place; turning] in world axes, of the twist [linear; angular] in base axes; J
    (6, 15) is scratch memory. With w = gyro - b_w, r from the IMU to the base, ^IR_B its axes,

        R_B = R ^IR_B,  p_B = p + R r,  v_B = R_B' v + ^IR_B' (w x r),  w_B = ^IR_B' w
        place: xi_p - p_B^ theta;  v_B: R_B' xi_v + ^IR_B' r^ zeta_w;  w_B: -^IR_B' zeta_w + noise
    """
    r0, r1, r2 = imu_H_base[0, 3], imu_H_base[1, 3], imu_H_base[2, 3]
    w0, w1, w2 = gyro[0] - b[0], gyro[1] - b[1], gyro[2] - b[2]
    c0, c1, c2 = w1 * r2 - w2 * r1, w2 * r0 - w0 * r2, w0 * r1 - w1 * r0
    for i in range(3):
        H[i, 3] = X[i, 4] + X[i, 0] * r0 + X[i, 1] * r1 + X[i, 2] * r2
        for j in range(3):
            H[i, j] = X[i, 0] * imu_H_base[0, j] + X[i, 1] * imu_H_base[1, j]
            H[i, j] += X[i, 2] * imu_H_base[2, j]
    J[:, :] = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        J[i, 6 + i] = J[3 + i, i] = 1.0
        J[k, j] -= H[i, 3]
        J[j, k] += H[i, 3]
    sandwich(J, P, pose)
    J[:, :] = 0.0
    for i in range(3):
        x, y, z = imu_H_base[0, i], imu_H_base[1, i], imu_H_base[2, i]
        v[i] = H[0, i] * X[0, V] + H[1, i] * X[1, V] + H[2, i] * X[2, V] + x * c0 + y * c1 + z * c2
        v[3 + i] = x * w0 + y * w1 + z * w2
        for c in range(3):
            J[i, V + c] = H[c, i]
        J[i, BIAS] = y * r2 - z * r1
        J[i, BIAS + 1] = z * r0 - x * r2
        J[i, BIAS + 2] = x * r1 - y * r0
        J[3 + i, BIAS], J[3 + i, BIAS + 1], J[3 + i, BIAS + 2] = -x, -y, -z
    sandwich(J, P, twist)
    for i in range(6):
        for j in range(6):
            for c in range(BIAS, BIAS + 3):
                twist[i, j] += J[i, c] * J[j, c] * gyro_variance
