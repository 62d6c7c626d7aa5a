# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""M nu_dot + C nu + G + D = S tau + sum of J' f, in every representation of the base twist.

[Traversaro 2019, section 9], extended by armatures (in M), joint springs (in G) and joint friction
D. From body to any other base velocity, nu_body = Y nu:

    M' = Y' M Y,   C' = Y' (C Y + M Ydot),   G' = Y' G,   D' = D,   S' = S,   J' = J Y     (1)

so that C' nu = Y' (C nu_body + M Ydot nu). In inertial coordinates Ydot nu is zero, in mixed ones
(-w x u; 0).
"""

from typing import NamedTuple

import numpy as np

from geolin_ros.dynamics.arguments import about_state
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.spatial.frames import Expression
from geolin_ros.typing import Array


class EquationsOfMotion(NamedTuple):
    """M nu_dot + C nu + G + D = S tau + sum of J' f."""

    M: Array
    """(m, m) mass matrix."""
    C: Array
    """(m, m) Coriolis matrix; dM/dt - 2 C is skew-symmetric."""
    G: Array
    """(m,) gravity and joint springs: the derivative of the potential energy."""
    D: Array
    """(m,) joint damping and Coulomb friction; D' nu >= 0."""
    S: Array
    """(m, n) joint selection [0; 1]."""
    nu: Array
    """(m,) velocity in the same representation."""


@about_state
def equations_of_motion(
    model: TreeModel, state: State, base: Expression = 'body'
) -> EquationsOfMotion:
    """Return the terms of the equations of motion at a state.

    [Bos 2022, Eqs. (3)-(7); Traversaro 2019, Eq. (80)]. Errors as of `Kinematics`.

    Parameters
    ----------
    base
        Frame of the base twist in nu: ``'body'`` (the state's own), ``'inertial'``, ``'mixed'``
        or any `MovingFrame`. A fixed base has none.

    Returns
    -------
    EquationsOfMotion
        Base rows are wrenches in that frame [N, N m], joint rows efforts [N m or N].

    Notes
    -----
    Of the many C with the same C nu this is the one of Christoffel's symbols where these exist:
    C = sum of J_i' (M_i Jdot_i + B_i J_i) with B_i y = (1/2) (v xb* M y + y xb* M v + M (v x y)),
    v = v_i; B_i is skew-symmetric and B_i v_i = v_i xb* M_i v_i.
    """
    at, tree = Kinematics(model, state), model.tree
    joints = np.arange(model.m - model.n, model.m)
    M = _summed(at.J, tree.inertia @ at.J)
    M[joints, joints] += _independent(model, tree.multiplier * tree.armature)
    B = np.array([_coriolis(*body) for body in zip(tree.inertia, at.v, strict=True)])
    C = _summed(at.J, tree.inertia @ at.J_dot + B @ at.J)
    upward = np.zeros((len(at.v), 6, 1))
    upward[:, :3, 0] = -model.gravity @ at.H[:, :3, :3]
    G = _summed(at.J, tree.inertia @ upward)[:, 0]
    G[joints] += _independent(model, tree.stiffness * spring_stretch(model, state))
    D, S = np.zeros(model.m), np.zeros((model.m, model.n))
    D[joints] = _independent(model, _friction(model, state))
    S[joints] = np.eye(model.n)
    Y, Y_dot = at.base_map(base), at.base_map_rate(base)
    return EquationsOfMotion(
        Y.T @ M @ Y, Y.T @ (C @ Y + M @ Y_dot), Y.T @ G, D, S, at.velocity(base)
    )


@about_state
def spring_stretch(model: TreeModel, state: State) -> Array:
    """Return s - rest of every rate of the tree, dependent joints too [rad or m].

    Zero for spherical, planar and inner floating joints, which have no springs.
    """
    tree, stretch = model.tree, np.zeros(model.tree.rest.size)
    s = tree.position_multiplier * state.s[tree.position_master] + tree.offset
    for q, v, n_s, n in zip(tree.q_start, tree.v_start, tree.q_size, tree.v_size, strict=True):
        if 0 < n == n_s:
            stretch[v : v + n] = s[q : q + n] - tree.rest[v : v + n]
    return stretch


def _friction(model: TreeModel, state: State) -> Array:
    """Return the friction efforts on every coordinate of the tree."""
    tree = model.tree
    r = tree.multiplier * state.r[tree.master]
    speed = np.where(tree.friction > 0.0, tree.friction_speed, 1.0)
    return tree.damping * r + tree.friction * np.tanh(r / speed)


def _independent(model: TreeModel, efforts: Array) -> Array:
    """Return what efforts on the tree's coordinates are on the independent ones (n,)."""
    tree = model.tree
    total = np.zeros(model.n)
    np.add.at(total, tree.master, tree.multiplier * efforts)
    return total


def _summed(J: Array, forces: Array) -> Array:
    """Return the sum of J_i' F_i over the bodies, (m, ...)."""
    return np.tensordot(J, forces, ((0, 1), (0, 1)))


def _coriolis(M: Array, v: Array) -> Array:
    """Return B (6, 6) of the notes for one body."""
    f, t = np.split(M @ v, 2)
    N = np.zeros((6, 6))  # N y = y xb* (f; t)
    N[:3, 3:] = N[3:, :3] = -se3.cross3(f)
    N[3:, 3:] = -se3.cross3(t)
    ad = se3.cross(v)
    return 0.5 * (N - ad.T @ M + M @ ad)
