# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The numbered tree that kernels read, and the workspace they write."""

from typing import NamedTuple

import numpy as np

from geolin_ros.typing import Array, IntArray

# How joint i moves body i; a new joint type adds its code here and its transform in kinematics.py.
# All but a single axis are groups: orthonormal subspace, rates in the moving frame, positions an
# element. Subspaces are constant.
BASE = 0
SINGLE_AXIS = 1
SPHERICAL = 2  # SO(3), s = unit quaternion (x, y, z, w)
PLANAR = 3  # SE(2), s = (x, y, cos, sin)
FLOATING = 4  # SE(3), s = (x, y, z | quaternion)

# What an external wrench keeps constant while its link moves, see wrenches.py.
BODY_WRENCH = 0
WORLD_WRENCH = 1
WORLD_ORIENTED_WRENCH = 2


class Tree(NamedTuple):
    """A robot as read-only arrays: bodies 0..nb-1 depth-first, body 0 is the base.

    Body i is moved relative to its parent by joint i, which owns the positions
    ``s[q_start[i] : q_start[i] + q_size[i]]`` and the rates
    ``r[v_start[i] : v_start[i] + v_size[i]]``; their order is the caller's, not the bodies'.
    With mimic joints these follow fewer independent ones, which are then the caller's.
    There are n rates and n_q positions; n_q > n with group joints.
    """

    parent: IntArray
    """(nb,) parent[i] < i; parent[0] = -1."""
    kind: IntArray
    """(nb,) `BASE` for body 0, else the joint kind."""
    q_start: IntArray
    q_size: IntArray
    v_start: IntArray
    v_size: IntArray
    """(nb,) each."""
    subspace: Array
    """(n, 6) motion subspace: row c is the unit twist of rate c, in the moved body's frame."""
    rotation: Array
    """(nb, 3, 3) joint frame at zero position to parent body frame."""
    translation: Array
    """(nb, 3) origin of the joint frame in the parent body frame [m]."""
    inertia: Array
    """(nb, 6, 6) spatial inertia in the body frame; symmetric, any such matrix."""
    armature: Array
    """(n,) rotor inertia seen at the joint [kg m^2 or kg]."""
    damping: Array
    """(n,) viscous friction [N m s/rad or N s/m]."""
    friction: Array
    """(n,) Coulomb friction f in f tanh(r / friction_speed) [N m or N]."""
    friction_speed: Array
    """(n,) smoothing speed of the Coulomb friction [rad/s or m/s]."""
    stiffness: Array
    """(n,) joint spring k in k (s - rest) [N m/rad or N/m]."""
    rest: Array
    """(n,) rest position of the spring [rad or m]."""
    master: IntArray
    """(n,) independent rate that rate c follows: r = G y_dot."""
    multiplier: Array
    """(n,) the entry of G in that column."""
    position_master: IntArray
    """(n_q,) independent position y that position s follows: s = G y + s0."""
    position_multiplier: Array
    """(n_q,) the entry of G in that column; 1 for positions of group joints."""
    offset: Array
    """(n_q,) the entry of s0 [rad or m]."""


class Wrenches(NamedTuple):
    """External wrenches on bodies, packed for kernels."""

    body: IntArray
    """(nw,) body acted on."""
    kind: IntArray
    """(nw,) one of the codes above."""
    value: Array
    """(nw, 6) [force; moment]: in the body frame (body), about the world origin in world axes
    (world), about ``point`` in world axes (world oriented)."""
    point: Array
    """(nw, 3) point of application in the body frame; only for the world-oriented kind."""


class Workspace(NamedTuple):
    """Scratch of `kernels.kinematics`."""

    R: Array
    """(nb, 3, 3) rotation from body i to its parent (body 0: to the world)."""
    o: Array
    """(nb, 3) origin of body i in its parent (body 0: in the world)."""
    world_R: Array
    """(nb, 3, 3) rotation from body i to the world."""
    world_o: Array
    """(nb, 3) origin of body i in the world."""
    v: Array
    """(nb, 6) twist of body i relative to the world, in i."""
    a: Array
    """(nb, 6) its rate at nu_dot = 0, minus gravity, in i."""
    v_joint: Array
    """(nb, 6) S_i r_i."""
    moved: Array
    """(6,) temporary."""
    x: Array
    """(22 + n_q + n,) state of the tree, [H by rows (16) | s | v | r]."""


def make_workspace(tree: Tree) -> Workspace:
    """Return zeroed scratch for ``tree``."""
    nb, n, n_q = tree.parent.shape[0], tree.armature.shape[0], tree.offset.shape[0]
    places = (nb, 3, 3), (nb, 3), (nb, 3, 3), (nb, 3)
    motion = (nb, 6), (nb, 6), (nb, 6), (6,)
    return Workspace(*map(np.zeros, (*places, *motion, (22 + n_q + n,))))
