# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a joint of each kind contributes: names of its positions and rates, motion subspace.

[Bos 2022, section 2.2].
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.description import SHORTEST_AXIS, SINGLE_AXIS_KINDS, Joint
from geolin_ros.errors import ModelError
from geolin_ros.kernels.packing.types import FLOATING, PLANAR, SINGLE_AXIS, SPHERICAL
from geolin_ros.typing import Array

_TURN = ('rx', 'ry', 'rz')
_QUATERNION = ('qx', 'qy', 'qz', 'qw')


class JointKind(NamedTuple):
    """Code for kernels, and suffixes of the names of the joint's positions and rates."""

    code: int
    positions: tuple[str, ...]
    rates: tuple[str, ...]


KINDS = {
    **dict.fromkeys(SINGLE_AXIS_KINDS, JointKind(SINGLE_AXIS, ('',), ('',))),
    'spherical': JointKind(SPHERICAL, _QUATERNION, _TURN),
    'se2': JointKind(PLANAR, ('x', 'y', 'cos', 'sin'), ('x', 'y', 'rz')),
    'floating': JointKind(FLOATING, ('x', 'y', 'z', *_QUATERNION), ('x', 'y', 'z', *_TURN)),
}

CHAINS = {
    'planar': {'x': 'prismatic', 'y': 'prismatic', 'yaw': 'continuous'},
    'universal': {'first': 'continuous', 'second': 'continuous'},
    'cylindrical': {'turn': 'continuous', 'slide': 'prismatic'},
}
"""Joints that are several with one axis: their suffixes and kinds [Bos 2022, section 2.2]."""


def chain_axes(source: str, joint: Joint) -> tuple[Array, ...]:
    """Return the unit axis of each joint of a chain."""
    axis = unit_axis(joint.axis)
    if joint.kind == 'planar':  # its normal
        return (*plane_axes(axis), axis)
    if joint.kind == 'cylindrical':
        return axis, axis
    second = unit_axis(joint.second_axis)
    if not np.linalg.norm(np.cross(axis, second)) > SHORTEST_AXIS:
        raise ModelError(
            f'{source}: universal joint {joint.name!r} has parallel axes {axis.tolist()} and '
            f'{second.tolist()}, expected two directions; correct second_axis'
        )
    return axis, second


def names_of(joints: Iterable[Joint], part: str) -> tuple[str, ...]:
    """Return the names of the ``positions`` or ``rates`` of joints: their own, or joint/suffix."""
    return tuple(
        f'{joint.name}/{suffix}' if suffix else joint.name
        for joint in joints
        for suffix in getattr(KINDS[joint.kind], part)
    )


def motion_subspace(joint: Joint) -> Array:
    """Return the unit twists (u; w) of a joint's rates, (rates, 6), in the child's frame."""
    if joint.kind == 'spherical':
        return np.eye(6)[3:]
    if joint.kind == 'floating':
        return np.eye(6)
    axis = unit_axis(joint.axis)
    along, about = np.concatenate((axis, np.zeros(3))), np.concatenate((np.zeros(3), axis))
    if joint.kind == 'prismatic':
        return along[np.newaxis]
    if joint.kind == 'se2':
        x, y = plane_axes(axis)
        return np.array([[*x, 0.0, 0.0, 0.0], [*y, 0.0, 0.0, 0.0], about])
    pitch = joint.pitch if joint.kind == 'helical' else 0.0
    twist: Array = about + pitch * along
    return twist[np.newaxis]


def unit_axis(axis: ArrayLike) -> Array:
    """Return an axis (3,) as a unit vector."""
    unit: Array = np.asarray(axis, dtype=np.float64) / np.linalg.norm(axis)
    return unit


def plane_axes(normal: Array) -> tuple[Array, Array]:
    """Return two unit vectors that span a plane, right-handed with its unit normal."""
    helper = np.eye(3)[np.argmin(np.abs(normal))]
    x = helper - normal * (normal @ helper)
    if abs(normal[2]) > 1.0 - 1e-12:
        x = np.array([1.0, 0.0, 0.0])
    x /= np.linalg.norm(x)
    return x, np.cross(normal, x)
