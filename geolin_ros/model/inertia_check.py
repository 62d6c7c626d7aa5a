# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks that inertias are physical, and that every joint moves some."""

import numpy as np

from geolin_ros.description import Description
from geolin_ros.errors import SingularInertiaError
from geolin_ros.kernels.types import Tree
from geolin_ros.typing import Array

SMALLEST_SHARE = 1e-12  # of a joint's composite inertia that must be left when the base is free


def suspicious_inertias(description: Description) -> list[str]:
    """Return a sentence for each link whose rotational inertia is not positive definite."""
    found = []
    for link in description.links:
        if not np.any(link.inertia):
            continue
        lowest = float(np.linalg.eigvalsh(link.inertia)[0])
        if not lowest > 0.0:
            found.append(
                f'{description.source}: link {link.name!r} has an inertia with smallest '
                f'eigenvalue {lowest:.3g}, expected more than 0; correct its <inertial>'
            )
    return found


def check_joint_inertias(source: str, tree: Tree, names: list[str]) -> None:
    """Raise `SingularInertiaError` where the mass matrix would be singular, naming the link.

    Articulated inertias at a generic posture [Featherstone 2008, section 7.3]: the share
    S' IA S of each joint, and the base's whole matrix, must be positive.
    """
    nb = tree.parent.shape[0]
    articulated, composite = tree.inertia.copy(), tree.inertia.copy()
    for i in range(nb - 1, 0, -1):
        S = tree.subspace[tree.v_start[i] : tree.v_start[i] + tree.v_size[i]].T
        rotor = np.diag(tree.armature[tree.v_start[i] : tree.v_start[i] + tree.v_size[i]])
        U = articulated[i] @ S
        D = S.T @ U + rotor
        scale = float(np.trace(S.T @ composite[i] @ S + rotor))
        if not float(np.linalg.eigvalsh(D)[0]) > SMALLEST_SHARE * scale:
            raise SingularInertiaError(
                f'{source}: link {names[i]!r} and the links behind it hold no inertia for the '
                f'joint that moves it (share {float(np.linalg.eigvalsh(D)[0]):.3g}), expected a '
                'positive one; give the link a mass and inertia or make the joint fixed'
            )
        left = articulated[i] - U @ np.linalg.solve(D, U.T)
        X = _generic_transform(tree, i)
        p = tree.parent[i]
        articulated[p] += X.T @ left @ X
        composite[p] += X.T @ composite[i] @ X
    if tree.v_size[0]:
        lowest = float(np.linalg.eigvalsh(articulated[0])[0])
        if not lowest > SMALLEST_SHARE * float(np.trace(composite[0])):
            raise SingularInertiaError(
                f'{source}: base link {names[0]!r} has no inertia of its own left (smallest '
                f'eigenvalue {lowest:.3g}), expected a positive one; give it a mass and inertia '
                "or use base='fixed'"
            )


def _generic_transform(tree: Tree, i: int) -> Array:
    """Return ^iX_p with joint i moved by an arbitrary amount, so that no axes align by chance."""
    u, w = np.split(tree.subspace[tree.v_start[i] : tree.v_start[i] + tree.v_size[i]].sum(0), 2)
    amount = 0.3 + 0.1 * (i % 7)
    length = float(np.linalg.norm(w))
    angle, cross = amount * length, _cross(w / (length or 1.0))
    E = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    R, o = tree.rotation[i] @ E, tree.translation[i] + tree.rotation[i] @ (u * amount)
    return np.block([[R.T, -R.T @ _cross(o)], [np.zeros((3, 3)), R.T]])


def _cross(w: Array) -> Array:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
