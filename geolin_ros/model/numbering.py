# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From named links and joints to numbered bodies: roots, planar chains, fixed joints, checks.

[Bos 2022, section 2.2].
"""

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from geolin_ros.description import Description, Finding, Joint, Link, check_tree, merged
from geolin_ros.errors import ModelError, ModelWarning, UnsupportedJointError, unknown_name
from geolin_ros.kernels.packing.types import BASE, Tree
from geolin_ros.model.inertia_check import check_joint_inertias, negative_moments
from geolin_ros.model.joint_kinds import (
    KINDS,
    motion_subspace,
    plane_axes,
    position_names,
    rate_names,
    unit_axis,
)
from geolin_ros.model.mimics import DependentJoint, resolve_mimics
from geolin_ros.spatial import se3
from geolin_ros.typing import Array, IntArray


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
    position_names: tuple[str, ...]
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
    root, heavy = _root_link(description, base, links, children)
    bodies, frames = _merge_fixed_joints(description, root, links, children)
    moving = [body.joint for body in bodies[1:] if body.joint is not None]
    for joint in moving:
        _check_kind(description, joint)
    taken = [
        f'{description.source}: {found.sentence}' for found in (*description.findings, *heavy)
    ]
    implausible = [
        f'{description.source}: {found.sentence}'
        for found in merged(negative_moments(description))
    ]
    for sentence in implausible:
        warnings.warn(sentence, ModelWarning, stacklevel=4)
    following = resolve_mimics(description, moving) if mimic == 'exact' else {}
    by_name = {joint.name: joint for joint in moving}
    for row in following.values():
        _check_master(description, row, by_name[row.master])
    names = [joint.name for joint in moving if joint.name not in following]
    independent = [by_name[name] for name in _joint_order(description, names, order)]
    # without mimic joints the tree's coordinates are the independent ones, in their order
    ordered = moving if following else independent
    tree = _tree_arrays(
        description.source, bodies, ordered, base, independent, following, coulomb_friction
    )
    check_joint_inertias(description.source, tree, [body.name for body in bodies])
    return Numbered(
        tree,
        _all_names(ordered, rate_names),
        _all_names(independent, rate_names),
        _all_names(independent, position_names),
        tuple(following.values()),
        tuple(body.name for body in bodies),
        frames,
        _limits(independent),
        (*taken, *implausible),
    )


def _expand_planar_joints(description: Description) -> Description:
    """Replace each planar joint j by j/x, j/y, j/yaw; the axis is the normal of the plane."""
    links, joints = list(description.links), []
    for joint in description.joints:
        if joint.kind != 'planar':
            joints.append(joint)
            continue
        normal = unit_axis(joint.axis)
        along_x, along_y = plane_axes(normal)
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


def _root_link(
    description: Description, base: str, links: dict[str, Link], children: dict[str, list[Joint]]
) -> tuple[str, list[Finding]]:
    """Return the base link; a massless link with one floating joint is the world above it."""
    moved = {joint.child for joint in description.joints}
    root = next(link.name for link in description.links if link.name not in moved)
    joints = children[root]
    if base != 'floating' or len(joints) != 1 or joints[0].kind != 'floating':
        return root, []
    if not links[root].inertia.any():
        return joints[0].child, []
    heavy = Finding(
        'warning',
        f'link {root!r}',
        f'has mass {links[root].inertia[0, 0]:g} kg above floating joint {joints[0].name!r}: it '
        f'is the base, and {joints[0].child!r} moves apart from it',
        'remove its <inertial> if it is the world',
    )
    return root, [heavy]


def _merge_fixed_joints(
    description: Description, root: str, links: dict[str, Link], children: dict[str, list[Joint]]
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
    """Return a spatial inertia given in a frame with pose ``placement``, in the outer frame.

    [Kim 2012, Eqs. (21), (23), (24)].
    """
    to_inner = se3.adjoint(se3.inverse(placement))
    moved: Array = to_inner.T @ inertia @ to_inner
    return moved


def _check_kind(description: Description, joint: Joint) -> None:
    """Refuse an unknown kind, and what joints of several axes cannot have."""
    where = f'{description.source}: joint {joint.name!r}'
    if joint.kind not in KINDS:
        raise UnsupportedJointError(
            f'{where} is {joint.kind!r}, expected one of {", ".join(KINDS)}, planar or fixed; '
            'change its type'
        )
    kind = KINDS[joint.kind]
    if joint.mimic is not None and len(kind.rates) > 1:
        raise UnsupportedJointError(
            f'{where} is {joint.kind} and mimics {joint.mimic.joint!r}, expected a joint with one '
            'axis; remove <mimic>'
        )
    if joint.stiffness != 0.0 and kind.is_group:
        raise UnsupportedJointError(
            f'{where} is {joint.kind} and has stiffness {joint.stiffness:g}, expected 0: a spring '
            'needs positions that are angles or lengths; apply it as an effort'
        )


def _check_master(description: Description, row: DependentJoint, master: Joint) -> None:
    """Refuse to follow a joint that has no single position."""
    if len(KINDS[master.kind].rates) > 1:
        raise UnsupportedJointError(
            f'{description.source}: joint {row.name!r} mimics {master.name!r}, which is '
            f'{master.kind}, expected a joint with one axis; remove <mimic>'
        )


def _all_names(joints: list[Joint], names: Callable[[Joint], tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(name for joint in joints for name in names(joint))


def _tree_arrays(
    source: str,
    bodies: list[Body],
    ordered: list[Joint],
    base: str,
    independent: list[Joint],
    following: Mapping[str, DependentJoint],
    coulomb_friction: bool,
) -> Tree:
    """Pack everything into read-only arrays; coordinates are those of the ``ordered`` joints."""
    nb, kinds = len(bodies), [KINDS[joint.kind] for joint in ordered]
    q_size = np.array([len(kind.positions) for kind in kinds], dtype=np.int64)
    v_size = np.array([len(kind.rates) for kind in kinds], dtype=np.int64)
    number = {joint.name: k for k, joint in enumerate(ordered)}
    of_body = np.array(
        [number[body.joint.name] for body in bodies if body.joint is not None], dtype=np.int64
    )
    placements = np.array([body.placement for body in bodies])
    couplings = [
        following.get(joint.name) or DependentJoint(joint.name, joint.name, 1.0, 0.0)
        for joint in ordered
    ]
    masters = [row.master for row in couplings]
    subspaces = [motion_subspace(source, joint) for joint in ordered]

    def by_body(base_value: int, values: IntArray) -> IntArray:
        return np.concatenate(([base_value], values[of_body])).astype(np.int64)

    def column(values: Iterable[float]) -> Array:  # one entry a rate
        return np.repeat(np.fromiter(values, dtype=np.float64, count=len(ordered)), v_size)

    tree = Tree(
        parent=np.array([body.parent for body in bodies], dtype=np.int64),
        kind=by_body(BASE, np.array([kind.code for kind in kinds], dtype=np.int64)),
        q_start=by_body(0, _starts(q_size)),
        q_size=by_body(0, q_size),
        v_start=by_body(0, _starts(v_size)),
        v_size=by_body(6 if base == 'floating' else 0, v_size),
        subspace=np.concatenate([np.empty((0, 6)), *subspaces]),
        rotation=np.ascontiguousarray(placements[:, :3, :3]),
        translation=np.ascontiguousarray(placements[:, :3, 3]),
        inertia=np.array([body.inertia for body in bodies]).reshape(nb, 6, 6),
        armature=column(joint.gear_ratio**2 * joint.rotor_inertia for joint in ordered),
        damping=column(joint.damping for joint in ordered),
        friction=column(joint.friction if coulomb_friction else 0.0 for joint in ordered),
        friction_speed=column(joint.friction_speed for joint in ordered),
        stiffness=column(joint.stiffness for joint in ordered),
        rest=column(joint.rest for joint in ordered),
        master=_entries_of(masters, v_size, independent, rate_names),
        multiplier=column(row.multiplier for row in couplings),
        position_master=_entries_of(masters, q_size, independent, position_names),
        position_multiplier=np.repeat([row.multiplier for row in couplings], q_size).astype(float),
        offset=np.repeat([row.offset for row in couplings], q_size).astype(float),
    )
    for array in tree:
        array.setflags(write=False)
    return tree


def _starts(sizes: IntArray) -> IntArray:
    """Return where each of consecutive parts begins."""
    return np.cumsum(sizes) - sizes


def _entries_of(
    joints: Iterable[str],
    sizes: IntArray,
    independent: list[Joint],
    names: Callable[[Joint], tuple[str, ...]],
) -> IntArray:
    """Return the entries of named joints, ``sizes`` each, among those of the independent ones."""
    starts = _starts(np.array([len(names(joint)) for joint in independent], dtype=np.int64))
    start = {joint.name: at for joint, at in zip(independent, starts, strict=True)}
    found = [start[name] + np.arange(size) for name, size in zip(joints, sizes, strict=True)]
    return np.concatenate([np.empty(0, np.int64), *found])


def _limits(joints: list[Joint]) -> tuple[Array, Array, Array, Array]:
    """Return lower, upper, velocity and effort limits of the rates of independent joints."""
    rows = []
    for joint in joints:
        limits, count = joint.limits, len(KINDS[joint.kind].rates)
        low, high = (limits.lower, limits.upper) if count == 1 else (-np.inf, np.inf)
        rows += [(low, high, limits.velocity, limits.effort)] * count
    bounds = np.ascontiguousarray(np.array(rows, dtype=np.float64).reshape(-1, 4).T)
    bounds.setflags(write=False)
    return bounds[0], bounds[1], bounds[2], bounds[3]


def _joint_order(
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
    for name in names:
        if name not in order:
            raise ModelError(
                f'{description.source}: joint {name!r} is not in the order of joints, and cannot '
                'be locked; name it too'
            )
    return list(order)
