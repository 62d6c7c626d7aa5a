# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Operators on twists and wrenches [linear; angular] [Bos 2022, section 3.1; Traversaro 2019]."""

import numpy as np

from geolin_ros.typing import Array


def skew(w: Array) -> Array:
    """Return w^ (3, 3), the matrix of the cross product w x."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def transform(R: Array, o: Array) -> Array:
    """Return ^A X_B (6, 6) of the pose ^A H_B = (R, o): twists from B to A."""
    return np.block([[R, skew(o) @ R], [np.zeros((3, 3)), R]])


def inverse_transform(R: Array, o: Array) -> Array:
    """Return ^B X_A (6, 6) of the pose ^A H_B = (R, o): twists from A to B."""
    return transform(R.T, -R.T @ o)


def cross_twist(v: Array) -> Array:
    """Return v x (6, 6), acting on twists: Eq. (18)."""
    u, w = skew(v[:3]), skew(v[3:])
    return np.block([[w, u], [np.zeros((3, 3)), w]])


def cross_wrench(v: Array) -> Array:
    """Return v xb* (6, 6), acting on wrenches: -(v x)'."""
    return -cross_twist(v).T


def columns_cross_twist(V: Array, y: Array) -> Array:
    """Return V x y (6, k), column by column: (V x y)_k = V_k x y = -(y x) V_k.

    The paper writes this product without defining it for a matrix V (errata B14).
    """
    return -cross_twist(y) @ V


def columns_cross_wrench(V: Array, m: Array) -> Array:
    """Return V xb* m (6, k), column by column, for m = (f; t).

    (V xb* m)_k = V_k xb* m = [[0, -f^], [-f^, -t^]] V_k (errata B14).
    """
    f, t = skew(m[:3]), skew(m[3:])
    return np.block([[np.zeros((3, 3)), -f], [-f, -t]]) @ V
