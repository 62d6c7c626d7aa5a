# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From named links and joints to numbered bodies: roots, planar chains, fixed joints, checks."""

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from geolin_ros.description import SINGLE_AXIS_KINDS, Description, Joint, Link, check_tree
from geolin_ros.errors import ModelError, ModelWarning, UnsupportedJointError, unknown_name
from geolin_ros.kernels.types import BASE, SINGLE_AXIS, Tree
from geolin_ros.model.inertia_check import check_joint_inertias, suspicious_inertias
from geolin_ros.typing import Array

SHORTEST_AXIS = 1e-9
FRICTION_SPEED = 0.01  # rad/s or m/s; the smoothing speed while Coulomb friction is off


@dataclass
class Body:
    """A moving body under construction: a link and all that is fixed to it."""

    name: str
    parent: int
    joint: Joint | None
    placement: Array
    inertia: Array = field(default_factory=lambda: np.zeros((6, 6)))


class Numbered(NamedTuple):
    """A description in numbers."""

    tree: Tree
    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    frames: dict[str, tuple[int, Array]]
    limits: tuple[Array, Array, Array, Array]
    warnings: tuple[str, ...]


def number_bodies(
    description: Description, base: str, mimic: str, joints: Sequence[str] | None
) -> Numbered:
    """Give numbers to the bodies of a description depth first; see `TreeModel.from_description`."""
    check_tree(description)
    description = _expand_planar_joints(description)
    links = {link.name: link for link in description.links}
    children: dict[str, list[Joint]] = {name: [] for name in links}
    for joint in description.joints:
        children[joint.parent].append(joint)
    root = _root_link(description, base, children)
    bodies, frames = _merge_fixed_joints(description, root, links, children)
    for joint in _moving_joints(bodies):
        _check_joint(description, joint, mimic)
    found = suspicious_inertias(description)
    for sentence in found:
        warnings.warn(sentence, ModelWarning, stacklevel=4)
    tree, names, limits = _tree_arrays(description, bodies, base, joints)
    check_joint_inertias(description.source, tree, [body.name for body in bodies])
    return Numbered(tree, names, tuple(body.name for body in bodies), frames, limits, tuple(found))


def _expand_planar_joints(description: Description) -> Description:
    """Replace each planar joint j by j/x, j/y, j/yaw; the axis is the normal of the plane."""
    links, joints = list(description.links), []
    for joint in description.joints:
        if joint.kind != 'planar':
            joints.append(joint)
            continue
        normal = _unit_axis(description.source, joint)
        helper = np.eye(3)[np.argmin(np.abs(normal))]
        along_x = helper - normal * (normal @ helper)
        if abs(normal[2]) > 1.0 - 1e-12:
            along_x = np.array([1.0, 0.0, 0.0])
        along_x /= np.linalg.norm(along_x)
        along_y = np.cross(normal, along_x)
        middle = [f'{joint.name}/x_link', f'{joint.name}/y_link']
        links += [Link(name) for name in middle]
        steps = (
            ('x', 'prismatic', along_x, joint.parent, middle[0], joint.placement),
            ('y', 'prismatic', along_y, middle[0], middle[1], np.eye(4)),
            ('yaw', 'continuous', normal, middle[1], joint.child, np.eye(4)),
        )
        for suffix, kind, axis, parent, child, placement in steps:
            joints.append(
                dataclasses.replace(
                    joint,
                    name=f'{joint.name}/{suffix}',
                    kind=kind,
                    axis=axis,
                    parent=parent,
                    child=child,
                    placement=placement,
                )
            )
    return dataclasses.replace(description, links=tuple(links), joints=tuple(joints))


def _root_link(description: Description, base: str, children: dict[str, list[Joint]]) -> str:
    """Return the base link; a world link with one floating joint is not part of the robot."""
    moved = {joint.child for joint in description.joints}
    root = next(link.name for link in description.links if link.name not in moved)
    if any(joint.kind == 'floating' for joint in children[root]):
        if base == 'floating' and len(children[root]) == 1:
            return children[root][0].child
        name = next(joint.name for joint in children[root] if joint.kind == 'floating')
        raise UnsupportedJointError(
            f'{description.source}: joint {name!r} is floating below root {root!r}, '
            "expected it to be the only joint of the root and base='floating'; remove the joint and the root link"
        )
    return root


def _merge_fixed_joints(
    description: Description,
    root: str,
    links: dict[str, Link],
    children: dict[str, list[Joint]],
) -> tuple[list[Body], dict[str, tuple[int, Array]]]:
    """Walk the tree depth first; links behind fixed joints join the body that carries them."""
    bodies: list[Body] = []
    frames: dict[str, tuple[int, Array]] = {}
    pending: list[tuple[str, Joint | None, int, Array]] = [(root, None, -1, np.eye(4))]
    while pending:
        name, joint, carrier, placement = pending.pop()
        if joint is None or joint.kind != 'fixed':  # this link opens a body
            bodies.append(Body(name, carrier, joint, placement))
            carrier, placement = len(bodies) - 1, np.eye(4)
        frames[name] = (carrier, placement)
        bodies[carrier].inertia += moved_inertia(links[name].inertia, placement)
        for following in reversed(children[name]):
            pending.append((following.child, following, carrier, placement @ following.placement))
    return bodies, frames


def _moving_joints(bodies: list[Body]) -> list[Joint]:
    return [body.joint for body in bodies[1:] if body.joint is not None]


def moved_inertia(inertia: Array, placement: Array) -> Array:
    """Return a spatial inertia given in a frame with pose ``placement``, in the outer frame."""
    R, o = placement[:3, :3], placement[:3, 3]
    cross = np.array([[0.0, -o[2], o[1]], [o[2], 0.0, -o[0]], [-o[1], o[0], 0.0]])
    to_inner = np.block([[R.T, -R.T @ cross], [np.zeros((3, 3)), R.T]])
    moved: Array = to_inner.T @ inertia @ to_inner
    return moved


def _check_joint(description: Description, joint: Joint, mimic: str) -> None:
    """Refuse what a single-axis tree cannot hold."""
    where = f'{description.source}: joint {joint.name!r}'
    if joint.kind not in SINGLE_AXIS_KINDS:
        raise UnsupportedJointError(
            f'{where} is {joint.kind}, expected one of {", ".join(SINGLE_AXIS_KINDS)}, planar or '
            'fixed, or floating at the root; change its type'
        )
    if joint.mimic is not None and mimic != 'independent':
        raise UnsupportedJointError(
            f'{where} mimics joint {joint.mimic.joint!r}, expected a joint of its own; '
            "read it as one with mimic='independent'"
        )


def _unit_axis(source: str, joint: Joint) -> Array:
    axis = np.asarray(joint.axis, dtype=np.float64)
    norm = float(np.linalg.norm(axis))
    if not norm > SHORTEST_AXIS:
        raise ModelError(
            f'{source}: joint {joint.name!r} has an axis of norm {norm:g}, expected more than '
            f'{SHORTEST_AXIS:g}; set <axis xyz="..."/>'
        )
    return axis / norm


def _motion_subspace(source: str, joint: Joint) -> Array:
    """Return the unit twist (u; w) of a single-axis joint [Bos 2022, section 3.2]."""
    axis = _unit_axis(source, joint)
    if joint.kind == 'prismatic':
        return np.concatenate((axis, np.zeros(3)))
    pitch = joint.pitch if joint.kind == 'helical' else 0.0
    return np.concatenate((pitch * axis, axis))


def _tree_arrays(
    description: Description, bodies: list[Body], base: str, order: Sequence[str] | None
) -> tuple[Tree, tuple[str, ...], tuple[Array, Array, Array, Array]]:
    """Assign coordinates and pack everything into read-only arrays."""
    moving = _moving_joints(bodies)
    names = [joint.name for joint in moving]
    coordinate = _coordinate_order(description, names, order)
    nb, n = len(bodies), len(names)
    by_coordinate = sorted(moving, key=lambda joint: coordinate[joint.name])
    start = np.array([0, *(coordinate[name] for name in names)], dtype=np.int64)
    single = np.array([0] + [1] * n, dtype=np.int64)
    placements = np.array([body.placement for body in bodies])
    tree = Tree(
        parent=np.array([body.parent for body in bodies], dtype=np.int64),
        kind=np.array([BASE] + [SINGLE_AXIS] * n, dtype=np.int64),
        q_start=start,
        q_size=single,
        v_start=start,
        v_size=np.array([6 if base == 'floating' else 0] + [1] * n, dtype=np.int64),
        subspace=np.array(
            [_motion_subspace(description.source, joint) for joint in by_coordinate]
        ).reshape(n, 6),
        rotation=np.ascontiguousarray(placements[:, :3, :3]),
        translation=np.ascontiguousarray(placements[:, :3, 3]),
        inertia=np.array([body.inertia for body in bodies]).reshape(nb, 6, 6),
        armature=np.zeros(n),
        damping=np.array([joint.damping for joint in by_coordinate], dtype=np.float64),
        friction=np.zeros(n),
        friction_speed=np.full(n, FRICTION_SPEED),
        stiffness=np.zeros(n),
        rest=np.zeros(n),
    )
    bounds = np.array(
        [
            (j.limits.lower, j.limits.upper, j.limits.velocity, j.limits.effort)
            for j in by_coordinate
        ]
    ).reshape(n, 4)
    limits = (bounds[:, 0], bounds[:, 1], bounds[:, 2], bounds[:, 3])
    for array in (*tree, *limits):
        array.setflags(write=False)
    return tree, tuple(joint.name for joint in by_coordinate), limits


def _coordinate_order(
    description: Description, names: list[str], order: Sequence[str] | None
) -> dict[str, int]:
    """Return the coordinate of each joint; ``order`` must name each of ``names`` once."""
    if order is None:
        order = names
    where = f'robot {description.name!r}'
    for name in order:
        if name not in names:
            raise unknown_name('joint', name, names, where)
    if len(set(order)) != len(order) or len(order) != len(names):
        missing = sorted(set(names) - set(order))
        raise ModelError(
            f'{description.source}: the order of joints has {len(order)} names, expected each of '
            f'the {len(names)} moving joints once; missing: {missing}'
        )
    return {name: c for c, name in enumerate(order)}
