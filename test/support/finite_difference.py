# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives on SE(3) x R^n x R^6 x R^n by central differences and Richardson extrapolation.

Shares no formula with the kernels: they are what it judges.
"""

import itertools

import numpy as np

from geolin_ros.model.state import State


def cross(w):
    """Return the 3x3 matrix of w x."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def ad(twist):
    """Return the 6x6 matrix v x of [linear; angular] twists."""
    V = np.zeros((6, 6), np.result_type(twist, float))
    V[:3, :3] = V[3:, 3:] = cross(twist[3:])
    V[:3, 3:] = cross(twist[:3])
    return V


def hat(twist):
    """Return the 4x4 matrix of a twist (u; w)."""
    V = np.zeros((4, 4))
    V[:3, :3], V[:3, 3] = cross(twist[3:]), twist[:3]
    return V


def exp(twist):
    """Return the pose exp(twist^): the series of the matrix over 16, squared four times."""
    step = hat(twist) / 16.0
    term = result = np.eye(4)
    for k in range(1, 16):
        term = term @ step / k
        result = result + term
    for _ in range(4):
        result = result @ result
    return result


def retract(state, z):
    """Return g exp(z), z = [H; s; v; r] (fixed base: [s; r])."""
    n = state.s.size
    if z.size == 2 * n:
        z = np.concatenate((np.zeros(6), z[:n], np.zeros(6), z[n:]))
    H = state.H @ exp(z[:6]) if z[:6].any() else state.H
    return State(H, state.s + z[6 : 6 + n], state.v + z[6 + n : 12 + n], state.r + z[12 + n :])


def derivative(function, step=2e-2):
    """Return df/dt (0) of a smooth ``function`` of one number.

    D(h) = (f(h) - f(-h)) / (2 h) at h, h/2, h/4, then R(h) = (4 D(h/2) - D(h)) / 3 and
    (16 R(h/2) - R(h)) / 15: the error is of order h^6.
    """
    D = [(function(h) - function(-h)) / (2.0 * h) for h in (step, 0.5 * step, 0.25 * step)]
    R = [(4.0 * finer - coarser) / 3.0 for coarser, finer in itertools.pairwise(D)]
    return (16.0 * R[1] - R[0]) / 15.0


def derivative_by_state(function, state, width, step=2e-2):
    """Return the columns d function(g exp(t e_k)) / dt for the ``width`` unit vectors e_k."""

    def column(direction):
        return derivative(lambda t: function(retract(state, t * direction)), step)

    return np.array([column(direction) for direction in np.eye(width)]).T


def derivative_by_vector(function, x, step=2e-2):
    """Return the Jacobian of ``function`` at the vector ``x``."""

    def column(direction):
        return derivative(lambda t: function(x + t * direction), step)

    return np.array([column(direction) for direction in np.eye(x.size)]).T


def linearization(forward_dynamics, model, state, tau, step=2e-2):
    """Return A and B of the moving reference by differences of ``forward_dynamics(state, tau)``.

    A = D f(g exp z) - ad_f for the left-trivialized f = (v, r, nu_dot) [Bos 2022, Eq. (12)].
    """
    m, n = model.m, model.n
    base = m - n

    def velocity(at):
        return np.concatenate((at.v[:base], at.r, forward_dynamics(at, tau)))

    A = derivative_by_state(velocity, state, 2 * m, step)
    if base:
        A[:6, :6] -= ad(state.v)
    B = np.zeros((2 * m, n))
    B[m:] = derivative_by_vector(lambda at: forward_dynamics(state, at), tau, step)
    return A, B


def vee(V):
    """Return the twist of a 4x4 matrix of se(3)."""
    return np.array([V[0, 3], V[1, 3], V[2, 3], V[2, 1], V[0, 2], V[1, 0]])
