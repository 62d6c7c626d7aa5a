# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Differences on SE(3) x R^n x R^6 x R^n, as the demo takes them, and a logarithm."""

import numpy as np
from geolin_demos.demo.differences import (
    ad,
    cross,
    derivative,
    derivative_by_state,
    derivative_by_vector,
    exp,
    hat,
    linearization,
    retract,
)
from scipy.linalg import logm

__all__ = [
    'ad',
    'cross',
    'derivative',
    'derivative_by_state',
    'derivative_by_vector',
    'difference',
    'exp',
    'hat',
    'linearization',
    'retract',
    'vee',
]


def vee(V):
    """Return the twist of a 4x4 matrix of se(3)."""
    return np.array([V[0, 3], V[1, 3], V[2, 3], V[2, 1], V[0, 2], V[1, 0]])


def difference(start, end):
    """Return z = [H; s; v; r] with end = start exp(z), the inverse of `retract`."""
    relative = np.real(logm(np.linalg.solve(start.H, end.H)))
    return np.concatenate((vee(relative), end.s - start.s, end.v - start.v, end.r - start.r))
