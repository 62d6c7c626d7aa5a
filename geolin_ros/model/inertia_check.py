# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks that inertias are physical, and that every joint moves some."""

from collections.abc import Iterator, Sequence

import numpy as np

from geolin_ros.description import Description, Finding, mass_properties, raise_errors
from geolin_ros.errors import SingularInertiaError
from geolin_ros.kernels.packing.ballast import at_zero, ballast_of_ties
from geolin_ros.kernels.packing.types import Tree
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

SMALLEST_SHARE = 1e-12  # of a joint's composite inertia that must be left when the base is free
ROUNDING = 1e-9  # of the largest moment: what a URDF's digits leave of a zero


def principal_moments(inertia: Array) -> Array:
    """Return the moments (3,) about the centre of mass, ascending; rounding of zero is zero."""
    mass, com, rotational = mass_properties(inertia)
    moments = np.linalg.eigvalsh(rotational)
    rounding = ROUNDING * (float(np.abs(moments).max()) + mass * float(com @ com))
    return np.where(np.abs(moments) <= rounding, 0.0, moments)


def negative_moments(description: Description) -> Iterator[Finding]:
    """Yield a finding for each link with a negative principal moment; thin bodies have none."""
    for link in description.links:
        lowest = float(principal_moments(link.inertia)[0])
        if lowest < 0.0:
            yield Finding(
                'warning',
                f'link {link.name!r}',
                f'has an inertia with a negative principal moment, {lowest:.3g} kg m^2',
                'correct its <inertial>: copy the tensor about the centre of mass again',
            )


def check_joint_inertias(source: str, tree: Tree, names: Sequence[str]) -> None:
    """Raise `SingularInertiaError` where the mass matrix would be singular, naming the links."""
    raise_errors(source, _without_inertia(tree, names), SingularInertiaError)


def _without_inertia(tree: Tree, names: Sequence[str]) -> Iterator[Finding]:
    """Yield the bodies whose joint has no inertia to move.

    Articulated inertias at a generic posture [Featherstone 2008, section 7.3]: the share
    S' IA S of each joint, and the base's whole matrix, must be positive. A joint that moves with
    others by mimicry may have the inertia of those.
    """
    articulated, composite = tree.inertia.copy(), tree.inertia.copy()
    lent, _ = ballast_of_ties(tree, at_zero(tree))
    for i in range(len(tree.parent) - 1, -1, -1):
        own = slice(tree.v_start[i], tree.v_start[i] + tree.v_size[i])
        S, rotor = tree.subspace[own].T, np.diag(tree.armature[own] + lent[own])
        if i == 0:  # a base that floats, or none that moves
            S, rotor = np.eye(6)[:, : tree.v_size[0]], np.zeros((1, 1))
            if not S.size:
                return
        U, left = articulated[i] @ S, articulated[i]
        D = S.T @ U + rotor
        lowest = float(np.linalg.eigvalsh(D)[0])
        if lowest > SMALLEST_SHARE * float(np.trace(S.T @ composite[i] @ S + rotor)):
            left = left - U @ np.linalg.solve(D, U.T)
        else:
            yield Finding(
                'error',
                f'{"link" if i else "base link"} {names[i]!r}',
                'has, with the links behind it, no inertia for the joint that moves it (share '
                f'{lowest:.3g}), expected a positive one',
                'give it a mass and inertia, or fix '
                + ('the joint' if i else "the base: base='fixed'"),
            )
        if i:
            X, p = _generic_transform(tree, i), tree.parent[i]
            articulated[p] += X.T @ left @ X
            composite[p] += X.T @ composite[i] @ X


def _generic_transform(tree: Tree, i: int) -> Array:
    """Return ^iX_p with joint i moved by an arbitrary amount, so that no axes align by chance."""
    twist = tree.subspace[tree.v_start[i] : tree.v_start[i] + tree.v_size[i]].sum(axis=0)
    H = np.eye(4)
    H[:3, :3], H[:3, 3] = tree.rotation[i], tree.translation[i]
    return se3.adjoint(se3.inverse(H @ se3.exp((0.3 + 0.1 * (i % 7)) * twist)))
