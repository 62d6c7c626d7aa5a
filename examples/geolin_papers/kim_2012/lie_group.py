# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Operators on se(3) and dse(3), [angular; linear] [Kim 2012, sections 1.1 to 1.4]."""

import numpy as np

from geolin_ros.typing import Array


def bracket(w: Array) -> Array:
    """Return [w] (3, 3), the matrix of the cross product w x."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def inverse(T: Array) -> Array:
    """Return T^-1 (4, 4)."""
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R.T, -(R.T @ p)[:, np.newaxis]], [np.zeros((1, 3)), np.ones((1, 1))]])


def Ad(T: Array) -> Array:
    """Return Ad_T (6, 6), Eq. (7); Ad*_T is its transpose, Eq. (8)."""
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [bracket(p) @ R, R]])


def ad(V: Array) -> Array:
    """Return ad_V (6, 6) [Kim 2012, Lemmas 1 and 2, Eqs. (25)-(29)]."""
    w, v = bracket(V[:3]), bracket(V[3:])
    return np.block([[w, np.zeros((3, 3))], [v, w]])
