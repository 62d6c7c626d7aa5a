# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""SE(3) for stacks of real or complex poses (..., 4, 4) and twists (..., 6), [linear; angular].

Every function is a power series or a product, so that it holds for complex numbers too: the
imaginary part of f(x + i h d) is h times the derivative of f along d, exact to rounding for a tiny
h [Squire 1998].
"""

from typing import Any

import numpy as np

from geolin_ros.typing import Array

STEP = 2.0**-100
"""h: its square vanishes beside 1, so there is no truncation and nothing cancels."""
IMAGINARY: Any = 1j * STEP
"""i h."""


def hat(w: Array) -> Array:
    """Return w^ (..., 3, 3), w^ y = w x y."""
    W = np.zeros((*w.shape[:-1], 3, 3), dtype=w.dtype)
    W[..., 2, 1], W[..., 0, 2], W[..., 1, 0] = w[..., 0], w[..., 1], w[..., 2]
    W[..., 1, 2], W[..., 2, 0], W[..., 0, 1] = -w[..., 0], -w[..., 1], -w[..., 2]
    return W


def cross(a: Array, b: Array) -> Array:
    """Return a x b (..., 3)."""
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    return np.stack((a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0), axis=-1)


def motion_cross(v: Array, y: Array) -> Array:
    """Return (v x) y of twists."""
    w = v[..., 3:]
    linear = cross(w, y[..., :3]) + cross(v[..., :3], y[..., 3:])
    return np.concatenate((linear, cross(w, y[..., 3:])), axis=-1)


def force_cross(v: Array, f: Array) -> Array:
    """Return (v xb*) f of a twist and a wrench [force; moment]."""
    w = v[..., 3:]
    moment = cross(v[..., :3], f[..., :3]) + cross(w, f[..., 3:])
    return np.concatenate((cross(w, f[..., :3]), moment), axis=-1)


def ad(v: Array) -> Array:
    """Return (v x) (..., 6, 6)."""
    X = np.zeros((*v.shape[:-1], 6, 6), dtype=v.dtype)
    X[..., :3, :3] = X[..., 3:, 3:] = hat(v[..., 3:])
    X[..., :3, 3:] = hat(v[..., :3])
    return X


def adjoint(H: Array) -> Array:
    """Return X = [[R, o^ R], [0, R]] (..., 6, 6)."""
    R = H[..., :3, :3]
    X = np.zeros((*H.shape[:-2], 6, 6), dtype=H.dtype)
    X[..., :3, :3] = X[..., 3:, 3:] = R
    X[..., :3, 3:] = hat(H[..., :3, 3]) @ R
    return X


def inverse(H: Array) -> Array:
    """Return the inverse of a pose."""
    G = np.zeros_like(H)
    G[..., :3, :3] = R = np.swapaxes(H[..., :3, :3], -1, -2)
    G[..., :3, 3] = -(R @ H[..., :3, 3, np.newaxis])[..., 0]
    G[..., 3, 3] = 1.0
    return G


def of_twist_matrix(Z: Array) -> Array:
    """Return z (..., 6) of z^."""
    return np.stack(
        [Z[..., i, j] for i, j in ((0, 3), (1, 3), (2, 3), (2, 1), (0, 2), (1, 0))], -1
    )


def matrix_exponential(M: Array) -> Array:
    """Return exp(M) of square matrices: Taylor's series of M / 2^k, squared k times."""
    size = float(np.fmax(np.max(np.abs(M).sum(axis=-1), initial=0.0), 0.25))
    squarings = int(np.ceil(np.log2(size / 0.25)))
    scaled = M / 2.0**squarings
    one = np.eye(M.shape[-1])
    total = one + scaled / 14.0
    for k in range(13, 0, -1):
        total = one + scaled @ total / k
    for _ in range(squarings):
        total = total @ total
    return total


def exp(z: Array) -> Array:
    """Return the pose exp(z^), z^ = [[w^, u], [0, 0]]."""
    Z = np.zeros((*z.shape[:-1], 4, 4), dtype=z.dtype)
    Z[..., :3, :3], Z[..., :3, 3] = hat(z[..., 3:]), z[..., :3]
    return matrix_exponential(Z)


def right_jacobian(z: Array) -> Array:
    """Return J (..., k, k) of exp(z + dz) = exp(z) exp(J dz), given the matrix (z x)."""
    one, minus = np.eye(z.shape[-1]), -z
    size = float(np.max(np.abs(z).sum(axis=-1), initial=0.0))
    total = np.broadcast_to(one, z.shape)
    for k in range(20 + int(8.0 * size), 0, -1):
        total = one + minus @ total / (k + 1.0)
    return total


def log(H: Array) -> Array:
    """Return the twist z (6,) of smallest angle with exp(z^) = H (4, 4), real or nearly so.

    A complex H is H0 (1 + i h X^) with a real pose H0: z = z0 + i h J_r(z0)^-1 X.
    """
    real = np.ascontiguousarray(H.real)
    R = real[:3, :3]
    axis = np.linalg.svd(R - np.eye(3))[2][-1]  # R leaves it where it is
    sine = 0.5 * axis @ np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    w = np.arctan2(sine, 0.5 * (np.trace(R) - 1.0)) * axis
    # exp((u; w)) = [exp(w^), V u], with V the left Jacobian of w
    V = right_jacobian(hat(-w))
    z: Array = np.concatenate((np.linalg.solve(V, real[:3, 3]), w))
    if not np.iscomplexobj(H):
        return z
    change = of_twist_matrix(inverse(real) @ H.imag)
    return z + 1j * np.linalg.solve(right_jacobian(ad(z)), change)
