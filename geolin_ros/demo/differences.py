# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B by differences on SE(3) x R^n x R^6 x R^n; shares no formula with the kernels."""

import itertools
from collections.abc import Callable

import numpy as np
from scipy.linalg import expm

from geolin_ros.model.state import State
from geolin_ros.typing import Array


def hat(twist: Array) -> Array:
    """Return the 4x4 matrix of a twist (u; w)."""
    (a, b, c), (x, y, z) = twist[:3], twist[3:]
    return np.array([[0, -z, y, a], [z, 0, -x, b], [-y, x, 0, c], [0, 0, 0, 0]], dtype=float)


def vee(V: Array) -> Array:
    """Return the twist of a 4x4 matrix of se(3)."""
    return np.array([V[0, 3], V[1, 3], V[2, 3], V[2, 1], V[0, 2], V[1, 0]])


def ad(twist: Array) -> Array:
    """Return the 6x6 matrix v x of [linear; angular] twists."""
    V = hat(twist)
    return np.array([vee(V @ hat(e) - hat(e) @ V) for e in np.eye(6)]).T


def retract(state: State, z: Array) -> State:
    """Return g exp(z), z = [H; s; v; r] (fixed base: [s; r])."""
    n = state.s.size
    if z.size == 2 * n:
        z = np.concatenate((np.zeros(6), z[:n], np.zeros(6), z[n:]))
    H = state.H @ expm(hat(z[:6])) if z[:6].any() else state.H
    return State(H, state.s + z[6 : 6 + n], state.v + z[6 + n : 12 + n], state.r + z[12 + n :])


def derivative(function: Callable[[float], Array], step: float = 2e-2) -> Array:
    """Return df/dt (0) of a smooth ``function`` of one number.

    D(h) = (f(h) - f(-h)) / (2 h) at h, h/2, h/4, then R(h) = (4 D(h/2) - D(h)) / 3 and
    (16 R(h/2) - R(h)) / 15: the error is of order h^6 [Richardson 1911].
    """
    D = [(function(h) - function(-h)) / (2.0 * h) for h in (step, 0.5 * step, 0.25 * step)]
    R = [(4.0 * finer - coarser) / 3.0 for coarser, finer in itertools.pairwise(D)]
    return (16.0 * R[1] - R[0]) / 15.0


def derivative_by_state(
    function: Callable[[State], Array], state: State, width: int, step: float = 2e-2
) -> Array:
    """Return the columns d function(g exp(t e_k)) / dt for the ``width`` unit vectors e_k."""
    columns = [
        derivative(lambda t, e=direction: function(retract(state, t * e)), step)  # type: ignore[misc]
        for direction in np.eye(width)
    ]
    return np.array(columns).T


def derivative_by_vector(
    function: Callable[[Array], Array], x: Array, step: float = 2e-2
) -> Array:
    """Return the Jacobian of ``function`` at the vector ``x``."""
    columns = [
        derivative(lambda t, e=direction: function(x + t * e), step)  # type: ignore[misc]
        for direction in np.eye(x.size)
    ]
    return np.array(columns).T


def linearization(
    forward_dynamics: Callable[[State, Array], Array],
    m: int,
    state: State,
    tau: Array,
    step: float = 2e-2,
) -> tuple[Array, Array]:
    """Return A and B of the moving reference by differences of ``forward_dynamics(state, tau)``.

    A = D f(g exp z) - ad_f for the left-trivialized f = (v, r, nu_dot) [Bos 2022, Eq. (12)];
    m is the number of velocities, n + 6 or n (fixed base).
    """
    base = m - tau.size

    def velocity(at: State) -> Array:
        return np.concatenate((at.v[:base], at.r, forward_dynamics(at, tau)))

    A = derivative_by_state(velocity, state, 2 * m, step)
    if base:
        A[:6, :6] -= ad(state.v)
    B = np.zeros((2 * m, tau.size))
    B[m:] = derivative_by_vector(lambda at: forward_dynamics(state, at), tau, step)
    return A, B
