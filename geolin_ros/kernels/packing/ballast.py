# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inertia lent to light bodies that others hold, and which of them need it.

The engine eliminates joint by joint and imposes rows J (of contacts, loops, mimic joints) after
that. A body that is light by itself and heavy with what holds it, as the drive of a gripper or a
foot on the ground, then loses digits like the square of the ratio of the two. So it is lent an
inertia W along rows e of its own, which one row more takes back:

    (M + e' W e) nu_dot + h = tau + J' lam + e' mu,     e nu_dot - W^-1 mu = 0               (1)

mu = W e nu_dot whatever W is: nothing changes but the rounding, which grows with W over the
inertia of the body with what holds it, and not with its square. Contacts: see `site_ballast`.
"""

import numpy as np

from geolin_ros.kernels.packing.types import Tree
from geolin_ros.typing import Array

LIGHT_TIE = 1e-3  # share in the inertia of what is tied, below which a joint is lent some


def ballast_of_ties(tree: Tree) -> tuple[Array, Array]:
    """Return what mimic joints and their masters are lent.

    Returns
    -------
    armature : (n,)
        Of each joint, zero for most [kg m^2 or kg].
    total : (own coordinates,)
        Sum of k^2 times these over the joints that follow a coordinate, itself included.
    """
    armature, total = np.zeros(tree.master.size), np.zeros(int(tree.master.max(initial=-1)) + 1)
    if np.unique(tree.master).size == tree.master.size:
        return armature, total
    alone, carried = _inertias(tree)
    for own in range(total.size):
        tied = np.flatnonzero(tree.master == own)
        squares = tree.multiplier[tied] ** 2
        sum_ = float(squares @ carried[tied])
        moves = squares > 0.0
        light = np.where(moves, squares * alone[tied] < LIGHT_TIE * sum_, False)
        light |= ~moves & (alone[tied] < LIGHT_TIE * carried[tied])
        if tied.size > 1 and light.any():
            armature[tied] = np.where(moves, sum_ / np.where(moves, squares, 1.0), carried[tied])
            total[own] = float(squares @ armature[tied])
    return armature, total


def _inertias(tree: Tree) -> tuple[Array, Array]:
    """Return the inertia (n,) about each joint of its body alone, and with all behind it, at 0."""
    carried = tree.inertia.copy()
    alone, together = tree.armature.copy(), tree.armature.copy()
    for i in range(tree.parent.size - 1, 0, -1):
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            S = tree.subspace[c]
            alone[c] += S @ tree.inertia[i] @ S
            together[c] += S @ carried[i] @ S
        R, o = tree.rotation[i], tree.translation[i]
        arm = np.array([[0.0, -o[2], o[1]], [o[2], 0.0, -o[0]], [-o[1], o[0], 0.0]])
        X = np.block([[R.T, -R.T @ arm], [np.zeros((3, 3)), R.T]])
        carried[tree.parent[i]] += X.T @ carried[i] @ X
    return alone, together
