# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Equations of motion, energies, and the momentum about the centre of mass.

In every representation of the base twist, [Traversaro 2019, section 9] extended by armatures (in
M), joint springs (in G) and joint friction D,

    M nu_dot + C nu + G + D = S tau + sum of J' f

From body to any other base velocity, nu_body = Y nu:

    M' = Y' M Y,   C' = Y' (C Y + M Ydot),   G' = Y' G,   D' = D,   S' = S,   J' = J Y

so that C' nu = Y' (C nu_body + M Ydot nu). In inertial coordinates Ydot nu is zero, in mixed ones
(-w x u; 0).

Centroidal quantities are in G: origin at the centre of mass, axes of the world [Orin 2013]. Per
body, with ^i X_G and V_i its twist,

    A = sum (^iX_G)' M_i J_i,   M_G = sum (^iX_G)' M_i ^iX_G,   h = A nu                  (1)
    Adot = sum (Xdot_i)' M_i J_i + (^iX_G)' M_i Jdot_i                                    (2)
    Xdot_i = ^iX_G ((odot; 0) x) - (V_i x) ^iX_G,   odot the velocity of the centre of mass
"""

from typing import NamedTuple

import numpy as np

from geolin_ros.dynamics.arguments import about_state
from geolin_ros.dynamics.functions import mass_matrix
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.spatial.frames import Expression, MovingFrame, twist_map, twist_map_rate
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
    q, v = tree.q_start[tree.v_size == 1], tree.v_start[tree.v_size == 1]
    stretch[v] = s[q] - tree.rest[v]
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


class Centroidal(NamedTuple):
    """Momentum of the whole robot about its centre of mass, in world axes."""

    mass: float
    """[kg], fixed links of a fixed base included."""
    com: Array
    """(3,) centre of mass in the world [m]."""
    com_velocity: Array
    """(3,) [m/s]"""
    A: Array
    """(6, m) centroidal momentum matrix; its first three rows over the mass are the Jacobian of
    the centre of mass."""
    A_dot: Array
    """(6, m) its time derivative along the velocity of the state."""
    h: Array
    """(6,) momentum A nu [kg m/s, kg m^2/s]."""
    bias: Array
    """(6,) A_dot nu [N, N m]: hdot = A nu_dot + bias."""
    inertia: Array
    """(6, 6) M_G of the robot locked into one body, blkdiag(mass 1, rotational)."""
    average_velocity: Array
    """(6,) M_G^-1 h: the twist of the robot locked so, with this momentum; linear part =
    com_velocity."""


@about_state
def centroidal(model: TreeModel, state: State, base: Expression = 'body') -> Centroidal:
    """Return the centroidal quantities at a state.

    Inertias must be those of rigid bodies; errors as of `Kinematics`. ``base`` is the frame of the
    base twist in nu, which A and A_dot multiply.
    """
    at, inertias, mass = Kinematics(model, state), model.tree.inertia, model.total_mass
    com = _first_moment(at) / mass
    momentum = np.einsum('iab,ib->ia', inertias, at.v)
    com_velocity = np.einsum('iab,ib->a', at.H[:, :3, :3], momentum[:, :3]) / mass
    G = MovingFrame(np.eye(4), np.concatenate((com_velocity, np.zeros(3))))
    G.H[:3, 3] = com
    A, A_dot, locked = np.zeros((6, model.m)), np.zeros((6, model.m)), np.zeros((6, 6))
    for i, M in enumerate(inertias):
        body = MovingFrame(at.H[i], at.v[i])
        X, X_dot = twist_map(G, body), twist_map_rate(G, body)
        A += X.T @ M @ at.J[i]
        A_dot += X_dot.T @ M @ at.J[i] + X.T @ M @ at.J_dot[i]
        locked += X.T @ M @ X
    A_dot = A_dot @ at.base_map(base) + A @ at.base_map_rate(base)
    A, nu = A @ at.base_map(base), at.velocity(base)
    h = A @ nu
    average = np.asarray(np.linalg.solve(locked, h), dtype=np.float64)
    return Centroidal(mass, com, com_velocity, A, A_dot, h, A_dot @ nu, locked, average)


class Mass(NamedTuple):
    """The centre of mass (3,) in the world [m], and its Jacobian (3, m) in world axes."""

    com: Array
    jacobian: Array


@about_state
def centre_of_mass(model: TreeModel, state: State) -> Mass:
    """Return where the centre of mass is, and how it moves."""
    if model.base == 'fixed':
        found = centroidal(model, state)
        return Mass(found.com, found.A[:3] / found.mass)
    M, R = mass_matrix(model, state), state.H[:3, :3]
    mass = M[0, 0]
    own = np.array([M[1, 5], M[2, 3], M[0, 4]]) / mass
    return Mass(state.H[:3, 3] + R @ own, R @ M[:3] / mass)


@about_state
def kinetic_energy(model: TreeModel, state: State) -> float:
    """Return the sum of v_i' M_i v_i / 2 over the bodies, and of a_c r_c^2 / 2 over rotors [J].

    [Traversaro 2019, Eq. (83)]. Errors as of `Kinematics`.
    """
    tree, v = model.tree, Kinematics(model, state).v
    rates = tree.multiplier * state.r[tree.master]
    twice = np.einsum('ia,iab,ib->', v, tree.inertia, v) + tree.armature @ rates**2
    return 0.5 * float(twice)


@about_state
def potential_energy(model: TreeModel, state: State) -> float:
    """Return -m g'o of the centre of mass o, zero at the world origin, and of joint springs [J].

    [Traversaro 2019, Eq. (83)]. Errors as of `Kinematics`.
    """
    weight = model.gravity @ _first_moment(Kinematics(model, state))
    return float(0.5 * model.tree.stiffness @ spring_stretch(model, state) ** 2 - weight)


def _first_moment(at: Kinematics) -> Array:
    """Return mass times centre of mass in the world (3,) [kg m]."""
    M = at.model.tree.inertia
    own = np.stack((M[:, 5, 1], M[:, 3, 2], M[:, 4, 0]), axis=1)
    in_world = M[:, :1, 0] * at.H[:, :3, 3] + np.einsum('iab,ib->ia', at.H[:, :3, :3], own)
    total: Array = in_world.sum(axis=0)
    return total
