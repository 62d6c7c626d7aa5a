# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From named links and joints to numbered bodies: roots, planar chains, fixed joints, checks."""

import dataclasses
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from geolin_ros.description import SINGLE_AXIS_KINDS, Description, Joint, Link, check_tree
from geolin_ros.errors import ModelError, ModelWarning, UnsupportedJointError, unknown_name
from geolin_ros.kernels.types import BASE, SINGLE_AXIS, Tree
from geolin_ros.model.inertia_check import check_joint_inertias, suspicious_inertias
from geolin_ros.model.mimics import DependentJoint, resolve_mimics
from geolin_ros.typing import Array

SHORTEST_AXIS = 1e-9


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
    coordinate_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    dependent_joints: tuple[DependentJoint, ...]
    body_names: tuple[str, ...]
    frames: dict[str, tuple[int, Array]]
    limits: tuple[Array, Array, Array, Array]
    warnings: tuple[str, ...]


def number_bodies(
    description: Description,
    base: str,
    mimic: str,
    order: Sequence[str] | None,
    coulomb_friction: bool,
) -> Numbered:
    """Give numbers to bodies, depth first; options as in `TreeModel.from_description`."""
    check_tree(description)
    description = _expand_planar_joints(description)
    links = {link.name: link for link in description.links}
    children: dict[str, list[Joint]] = {name: [] for name in links}
    for joint in description.joints:
        children[joint.parent].append(joint)
    root = _root_link(description, base, children)
    bodies, frames = _merge_fixed_joints(description, root, links, children)
    moving = [body.joint for body in bodies[1:] if body.joint is not None]
    for joint in moving:
        _check_kind(description, joint)
    found = suspicious_inertias(description)
    for sentence in found:
        warnings.warn(sentence, ModelWarning, stacklevel=4)
    following = resolve_mimics(description, moving) if mimic == 'exact' else {}
    independent = [joint.name for joint in moving if joint.name not in following]
    names = tuple(_coordinate_order(description, independent, order))
    ordered = moving
    if not following:  # the tree's coordinates are the independent ones, in their order
        by_name = {joint.name: joint for joint in moving}
        ordered = [by_name[name] for name in names]
    tree = _tree_arrays(
        description.source, bodies, ordered, base, names, following, coulomb_friction
    )
    check_joint_inertias(description.source, tree, [body.name for body in bodies])
    return Numbered(
        tree,
        tuple(joint.name for joint in ordered),
        names,
        tuple(following.values()),
        tuple(body.name for body in bodies),
        frames,
        _limits(moving, names),
        tuple(found),
    )


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
            "expected it to be the only joint of the root and base='floating'; remove the joint "
            'and the root link'
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


def moved_inertia(inertia: Array, placement: Array) -> Array:
    """Return a spatial inertia given in a frame with pose ``placement``, in the outer frame."""
    R, o = placement[:3, :3], placement[:3, 3]
    cross = np.array([[0.0, -o[2], o[1]], [o[2], 0.0, -o[0]], [-o[1], o[0], 0.0]])
    to_inner = np.block([[R.T, -R.T @ cross], [np.zeros((3, 3)), R.T]])
    moved: Array = to_inner.T @ inertia @ to_inner
    return moved


def _check_kind(description: Description, joint: Joint) -> None:
    """Refuse what a single-axis tree cannot hold."""
    if joint.kind not in SINGLE_AXIS_KINDS:
        raise UnsupportedJointError(
            f'{description.source}: joint {joint.name!r} is {joint.kind}, expected one of '
            f'{", ".join(SINGLE_AXIS_KINDS)}, planar or fixed, or floating at the root; change '
            'its type'
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
    source: str,
    bodies: list[Body],
    ordered: list[Joint],
    base: str,
    names: tuple[str, ...],
    following: Mapping[str, DependentJoint],
    coulomb_friction: bool,
) -> Tree:
    """Pack everything into read-only arrays; coordinates are those of the ``ordered`` joints."""
    coordinate = {joint.name: c for c, joint in enumerate(ordered)}
    nb, n = len(bodies), len(ordered)
    start = np.array(
        [0, *(coordinate[body.joint.name] for body in bodies if body.joint is not None)],
        dtype=np.int64,
    )
    single = np.array([0] + [1] * n, dtype=np.int64)
    placements = np.array([body.placement for body in bodies])
    couplings = [
        following.get(joint.name) or DependentJoint(joint.name, joint.name, 1.0, 0.0)
        for joint in ordered
    ]

    def column(values: Iterable[float]) -> Array:
        return np.fromiter(values, dtype=np.float64, count=n)

    tree = Tree(
        parent=np.array([body.parent for body in bodies], dtype=np.int64),
        kind=np.array([BASE] + [SINGLE_AXIS] * n, dtype=np.int64),
        q_start=start,
        q_size=single,
        v_start=start,
        v_size=np.array([6 if base == 'floating' else 0] + [1] * n, dtype=np.int64),
        subspace=np.array([_motion_subspace(source, joint) for joint in ordered]).reshape(n, 6),
        rotation=np.ascontiguousarray(placements[:, :3, :3]),
        translation=np.ascontiguousarray(placements[:, :3, 3]),
        inertia=np.array([body.inertia for body in bodies]).reshape(nb, 6, 6),
        armature=column(joint.gear_ratio**2 * joint.rotor_inertia for joint in ordered),
        damping=column(joint.damping for joint in ordered),
        friction=column(joint.friction if coulomb_friction else 0.0 for joint in ordered),
        friction_speed=column(joint.friction_speed for joint in ordered),
        stiffness=column(joint.stiffness for joint in ordered),
        rest=column(joint.rest for joint in ordered),
        master=np.array([names.index(row.master) for row in couplings], dtype=np.int64),
        multiplier=column(row.multiplier for row in couplings),
        offset=column(row.offset for row in couplings),
    )
    for array in tree:
        array.setflags(write=False)
    return tree


def _limits(moving: list[Joint], names: tuple[str, ...]) -> tuple[Array, Array, Array, Array]:
    """Return lower, upper, velocity and effort limits of the independent coordinates."""
    by_name = {joint.name: joint.limits for joint in moving}
    rows = [by_name[name] for name in names]
    bounds = np.array([(b.lower, b.upper, b.velocity, b.effort) for b in rows]).reshape(-1, 4).T
    bounds = np.ascontiguousarray(bounds, dtype=np.float64)
    bounds.setflags(write=False)
    return bounds[0], bounds[1], bounds[2], bounds[3]


def _coordinate_order(
    description: Description, names: list[str], order: Sequence[str] | None
) -> list[str]:
    """Return ``order``, which must name each of ``names`` once, or ``names`` without one."""
    if order is None:
        return names
    for name in order:
        if name not in names:
            raise unknown_name('independent joint', name, names, f'robot {description.name!r}')
    if len(set(order)) != len(order):
        twice = next(name for name in order if list(order).count(name) > 1)
        raise ModelError(
            f'{description.source}: joint {twice!r} is named twice in the order of joints, '
            'expected each once'
        )
    return list(order)
