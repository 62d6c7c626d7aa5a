# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inertia lent to light bodies that others hold, and which of them need it.

The engine eliminates joint by joint and imposes rows J (of contacts, loops, mimic joints) after
that. A body that is light by itself and heavy with what holds it, as the drive of a gripper or a
foot on the ground, then loses digits like the square of the ratio of the two. So it is lent an
inertia W along rows e of its own, which one row more takes back:

    (M + e' W e) nu_dot + h = tau + J' lam + e' mu,     e nu_dot - W^-1 mu = 0               (1)

mu = W e nu_dot whatever W is: nothing changes but the rounding, which grows with W over the
inertia of the body with what holds it, and not with its square. Which are light is seen where all
positions are zero. A foot is lent a mass in the directions that its contact holds.
"""

from typing import NamedTuple

import numpy as np

from geolin_ros.kernels.packing.types import Tree
from geolin_ros.typing import Array, IntArray

LIGHT_TIE = 1e-3  # share in the inertia of what is tied, below which a joint is lent some
LOST = 2e7  # factor of rounding in what a contact leaves free, above which bodies are light
LENT = 0.1  # share of the mass of the robot that is lent to feet


class AtZero(NamedTuple):
    """The base and all joints, nothing tied, at positions zero."""

    J: Array
    """(nb, 6, 6 + n) body Jacobians of the bodies of `Tree`."""
    M: Array
    """(6 + n, 6 + n) mass matrix."""
    base: int
    """6 if the base moves, else 0."""


def ballast_of_ties(tree: Tree, at: AtZero) -> tuple[Array, Array]:
    """Return what mimic joints and their masters are lent, by inertias that all else leaves free.

    Returns
    -------
    armature : (n,)
        Of each joint, zero for most [kg m^2 or kg].
    total : (own coordinates,)
        Sum of k^2 times these over the joints that follow a coordinate, itself included.
    """
    n, base = tree.master.size, at.base
    armature, total = np.zeros(n), np.zeros(int(tree.master.max(initial=-1)) + 1)
    if np.unique(tree.master).size == n:
        return armature, total
    M, T = at.M[6 - base :, 6 - base :], np.zeros((base + n, base + total.size))
    T[:base, :base] = np.eye(base)
    T[np.arange(base, base + n), base + tree.master] = tree.multiplier
    alone, tied_together = (1.0 / np.diag(mobility(A))[base:] for A in (M, T.T @ M @ T))
    squares = tree.multiplier**2
    for own in range(total.size):
        tied = np.flatnonzero(tree.master == own)
        k2, moves = squares[tied], squares[tied] > 0.0  # one that does not is locked
        whole = np.where(
            moves, tied_together[own] / np.where(moves, k2, 1.0), np.diag(M)[base:][tied]
        )
        if tied.size > 1 and (alone[tied] < LIGHT_TIE * whole).any():
            armature[tied] = whole
            total[own] = float(k2 @ whole)
    return armature, total


def ballast_of_sites(
    at: AtZero, bodies: IntArray, widths: IntArray, poses: Array
) -> tuple[IntArray, Array]:
    """Return which contacts get ballast, all or none, and W, its diagonal (6,) [kg, kg m^2].

    From Y = M^-1 J', Lambda = J Y, each contact alone takes Y Lambda^-1 Y' of the mobilities M^-1.
    Rounding grows with the condition of Lambda, and with M^-1 over what is left of it. Lengths are
    in radii of gyration.

    Parameters
    ----------
    at
        The robot at zero.
    bodies
        Of `Tree`.
    widths, poses
        As of `contact_layout.pack_contacts`.
    """
    if not len(bodies):
        return np.zeros(0, np.int64), np.zeros(6)
    mass = at.M[0, 0]
    about = np.trace(at.M[3:6, 3:6]) / 2.0  # m |c|^2 more than about its centre c
    own_moment = about - np.sum(at.M[:3, 3:6] ** 2) / (2.0 * mass)
    radius = np.sqrt(max(own_moment, 1e-12 * about) / mass)
    units = np.where(at.J[:, 3:].any(axis=(0, 1)), 1.0, radius)
    units[:3] = radius
    six, own, worst = np.repeat((1.0, radius), 3), slice(6 - at.base, None), 0.0
    M = (at.M * np.outer(units, units))[own, own]
    free = mobility(M)
    for body, width, pose in zip(bodies, widths, poses, strict=True):
        J = six[:, np.newaxis] * (to_frame(pose[:3, :3], pose[:3, 3]) @ at.J[body]) * units
        J = J[:width, own]
        moved, Y = J.any(axis=0), free @ J.T
        Lambda = J @ Y
        if Lambda.any() and np.isfinite(Lambda).all():  # far away: no answer will be finite
            sizes, V = np.linalg.eigh(Lambda)
            kept = sizes > 1e-14 * sizes[-1]
            left = np.diag(free) - np.sum((Y @ V[:, kept]) ** 2 / sizes[kept], axis=1)
            least = max(np.max(left[moved]), 1.0 / np.max(np.diag(M)))
            condition = sizes[-1] / sizes[kept][0]
            worst = max(worst, condition * np.max(np.diag(free)[moved]) / least)
    return np.arange(len(bodies) if worst > LOST else 0), LENT * mass * six**2


def mobility(M: Array) -> Array:
    """Return the inverse of M, which may be singular, to rounding of each coordinate."""
    size = np.sqrt(np.diag(M))
    size[size == 0.0] = 1.0
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    inverse = vectors / np.maximum(values, np.finfo(float).eps) @ vectors.T
    found: Array = inverse / np.outer(size, size)
    return found


def at_zero(tree: Tree) -> AtZero:
    """Return how the robot moves where all positions are zero."""
    n = tree.master.size
    J = np.zeros((tree.parent.size, 6, 6 + n))
    J[0, :, :6] = np.eye(6)
    for i in range(1, tree.parent.size):
        own = tree.v_start[i] + np.arange(tree.v_size[i])
        J[i] = to_frame(tree.rotation[i], tree.translation[i]) @ J[tree.parent[i]]
        J[i][:, 6 + own] += tree.subspace[own].T
    M: Array = np.sum(np.swapaxes(J, 1, 2) @ tree.inertia @ J, axis=0)
    M[6:, 6:] += np.diag(tree.armature)
    return AtZero(J, M, int(tree.v_size[0]))


def to_frame(R: Array, o: Array) -> Array:
    """Return X (6, 6), twists of a frame at o with axes R from those of the one it is in."""
    return np.block([[R.T, -R.T @ hat(o)], [np.zeros((3, 3)), R.T]])


def hat(o: Array) -> Array:
    """Return o^ (3, 3), o^ y = o x y."""
    x, y, z = o
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
