# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The look-up functions jcalc and jcalcderv of the tables, and the links of the tree."""

import numpy as np

from geolin_papers.bos_2022.spatial import cross_twist, inverse_transform, skew
from geolin_ros.kernels.packing.types import Tree
from geolin_ros.typing import Array


def jcalc(tree: Tree, i: int, s: float) -> tuple[Array, Array]:
    """Return ^i X_{p|i} (6, 6) of joint i at position s and its motion subspace (6,).

    ^{p|i} H_i = exp(Gamma^ s), Gamma = (u; w): revolute (0; w), prismatic (u; 0), helical (h w; w)
    with the pitch h in metres per radian and |w| = 1, |u| = 1.
    """
    Gamma: Array = tree.subspace[tree.v_start[i]]
    u, w = Gamma[:3], skew(Gamma[3:])
    R = np.eye(3) + np.sin(s) * w + (1.0 - np.cos(s)) * w @ w
    o = s * u + (1.0 - np.cos(s)) * w @ u + (s - np.sin(s)) * w @ w @ u
    return inverse_transform(R, o), Gamma


def jcalcderv(tree: Tree, i: int, s: float) -> Array:
    """Return d ^i X_{p|i} / ds (6, 6) = -(Gamma x) ^i X_{p|i}."""
    X, Gamma = jcalc(tree, i, s)
    return -cross_twist(Gamma) @ X


def to_joint_frame(tree: Tree, i: int) -> Array:
    """Return the constant ^{p|i} X_p (6, 6): from the parent body to where joint i sits on it."""
    return inverse_transform(tree.rotation[i], tree.translation[i])


def subtree(tree: Tree, i: int) -> list[int]:
    """Return the bodies that joint i supports, i among them; they need not be neighbours."""
    supported = {i}
    for j in range(i + 1, tree.parent.shape[0]):
        if int(tree.parent[j]) in supported:
            supported.add(j)
    return sorted(supported)
