# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Energies, and the momentum about the centre of mass.

Centroidal quantities are in G: origin at the centre of mass, axes of the world [Orin 2013]. Per
body, with ^i X_G and V_i its twist,

    A = sum (^iX_G)' M_i J_i,   M_G = sum (^iX_G)' M_i ^iX_G,   h = A nu                  (1)
    Adot = sum (Xdot_i)' M_i J_i + (^iX_G)' M_i Jdot_i                                    (2)
    Xdot_i = ^iX_G ((odot; 0) x) - (V_i x) ^iX_G,   odot the velocity of the centre of mass
"""

from typing import NamedTuple

import numpy as np

from geolin_ros.dynamics.arguments import about_state
from geolin_ros.dynamics.equations_of_motion import spring_stretch
from geolin_ros.dynamics.functions import mass_matrix
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial.frames import Expression, MovingFrame, twist_map, twist_map_rate
from geolin_ros.typing import Array


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
