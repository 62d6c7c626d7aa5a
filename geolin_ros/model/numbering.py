# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From named links and joints to numbered bodies: roots, chains, fixed joints, checks.

[Bos 2022, section 2.2].
"""

import dataclasses
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.description import (
    SINGLE_AXIS_KINDS,
    Description,
    Finding,
    Joint,
    Link,
    mass_properties,
    merged,
    raise_errors,
    tree_findings,
)
from geolin_ros.errors import (
    ModelError,
    ModelWarning,
    SingularInertiaError,
    UnsupportedJointError,
    did_you_mean,
)
from geolin_ros.kernels.packing.ballast import at_zero, ballast_of_ties
from geolin_ros.kernels.packing.types import BASE, Tree
from geolin_ros.model.joint_kinds import CHAINS, KINDS, chain_axes, motion_subspace, names_of
from geolin_ros.spatial import se3
from geolin_ros.typing import Array, IntArray

SMALLEST_SHARE = 1e-12  # of a joint's composite inertia that must be left when the base is free
ROUNDING = 1e-9  # of the largest moment: what a URDF's digits leave of a zero


@dataclass(frozen=True)
class JointLimits:
    """Limits per joint coordinate, each (n,): [rad or m, rad/s or m/s, N m or N]."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


@dataclass(frozen=True)
class Frame:
    """A link of the description: ``placement`` (4, 4) on the moving body that carries it."""

    body: int
    placement: Array


@dataclass
class Body:
    """A moving body under construction: a link and all that is fixed to it."""

    name: str
    parent: int
    joint: Joint | None
    placement: Array
    inertia: Array = field(default_factory=lambda: np.zeros((6, 6)))


class DependentJoint(NamedTuple):
    """position = multiplier * position of the master + offset; the master follows no other."""

    name: str
    master: str
    multiplier: float
    offset: float


def number_bodies(
    description: Description, base: str, order: Sequence[str] | None, coulomb_friction: bool
) -> dict[str, Any]:
    """Return the fields of a `TreeModel` about bodies and joints, numbered depth first.

    Options as in `TreeModel.from_description`.
    """
    raise_errors(description.source, tree_findings(description), ModelError)
    named = {link.name for link in description.links}
    description, chains = _expand_chains(description)
    if chains:  # whose names may be there already
        raise_errors(description.source, tree_findings(description), ModelError)
    if order is not None:
        order = [step for name in order for step in chains.get(name, (name,))]
    links = {link.name: link for link in description.links}
    children: dict[str, list[Joint]] = {name: [] for name in links}
    for joint in description.joints:
        children[joint.parent].append(joint)
    root = _root_link(description, base, links, children)
    bodies, frames = _merge_fixed_joints(description, root, links, children)
    moving = [body.joint for body in bodies[1:] if body.joint is not None]
    implausible = merged(negative_moments(description))
    for finding in implausible:
        sentence = f'{description.source}: {finding.sentence}'
        warnings.warn(sentence, ModelWarning, stacklevel=3)
    following = _resolve_mimics(description, moving)
    by_name = {joint.name: joint for joint in moving}
    names = [joint.name for joint in moving if joint.name not in following]
    independent = [by_name[name] for name in _joint_order(description, names, order)]
    # without mimic joints the tree's coordinates are the independent ones, in their order
    ordered = moving if following else independent
    tree = _tree_arrays(bodies, ordered, base, independent, following, coulomb_friction)
    body_names = tuple(body.name for body in bodies)
    raise_errors(description.source, _without_inertia(tree, body_names), SingularInertiaError)
    noted = (*description.findings, *implausible)
    movers = [joint for joint in independent for _ in KINDS[joint.kind].rates]
    efforts = [(joint.effort_scale, joint.effort_offset) for joint in movers]
    is_calibrated = any(effort != (1.0, 0.0) for effort in efforts)
    return {
        'tree': tree,
        'coordinate_names': names_of(ordered, 'rates'),
        'joint_names': names_of(independent, 'rates'),
        'position_names': names_of(independent, 'positions'),
        'dependent_joints': tuple(following.values()),
        'body_names': body_names,
        'frames': {name: frame for name, frame in frames.items() if name in named},
        'limits': _limits(movers),
        'effort_scale': tuple(scale for scale, _ in efforts if is_calibrated),
        'effort_offset': tuple(offset for _, offset in efforts if is_calibrated),
        'warnings': tuple(f'{description.source}: {finding.sentence}' for finding in noted),
    }


def _expand_chains(description: Description) -> tuple[Description, dict[str, tuple[str, ...]]]:
    """Replace each joint j of `CHAINS` by j/x, j/y, ...; return their names by j's too."""
    links, joints, chains = list(description.links), [], {}
    for joint in description.joints:
        _check_kind(description, joint)
        if joint.kind not in CHAINS:
            joints.append(joint)
            continue
        steps = CHAINS[joint.kind]
        names = chains[joint.name] = tuple(f'{joint.name}/{suffix}' for suffix in steps)
        between = [f'{name}_link' for name in names[:-1]]
        links += map(Link, between)
        ends = pairwise((joint.parent, *between, joint.child))
        axes, placement = chain_axes(description.source, joint), joint.placement
        limits = dataclasses.replace(joint.limits, lower=-np.inf, upper=np.inf)
        rows = zip(names, steps.values(), axes, ends, strict=True)
        for name, kind, axis, (parent, child) in rows:
            step: dict[str, Any] = {'kind': kind, 'axis': axis, 'parent': parent, 'child': child}
            step |= {'name': name, 'placement': placement, 'limits': limits}
            joints.append(dataclasses.replace(joint, **step))
            placement = np.eye(4)
    expanded = dataclasses.replace(description, links=tuple(links), joints=tuple(joints))
    return expanded, chains


def _root_link(
    description: Description, base: str, links: dict[str, Link], children: dict[str, list[Joint]]
) -> str:
    """Return the base link; a massless link with one floating joint is the world above it."""
    moved = {joint.child for joint in description.joints}
    root = next(link.name for link in description.links if link.name not in moved)
    joints, is_massless = children[root], not links[root].inertia.any()
    if base == 'floating' and is_massless and [joint.kind for joint in joints] == ['floating']:
        return joints[0].child
    return root


def _merge_fixed_joints(
    description: Description, root: str, links: dict[str, Link], children: dict[str, list[Joint]]
) -> tuple[list[Body], dict[str, Frame]]:
    """Walk the tree depth first; links behind fixed joints join the body that carries them."""
    bodies: list[Body] = []
    frames: dict[str, Frame] = {}
    pending: list[tuple[str, Joint | None, int, Array]] = [(root, None, -1, np.eye(4))]
    while pending:
        name, joint, carrier, placement = pending.pop()
        if joint is None or joint.kind != 'fixed':  # this link opens a body
            bodies.append(Body(name, carrier, joint, placement))
            carrier, placement = len(bodies) - 1, np.eye(4)
        frames[name] = Frame(carrier, placement)
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
    kind, wrong = KINDS.get(joint.kind), ''
    is_group = kind is not None and len(kind.rates) > 1
    if kind is None and joint.kind not in (*CHAINS, 'fixed'):
        wrong = f', expected one of {", ".join((*KINDS, *CHAINS))} or fixed; change its type'
    elif joint.mimic is not None and (is_group or joint.kind in CHAINS):
        wrong = (
            f' and mimics {joint.mimic.joint!r}, expected a joint with one axis; remove <mimic>'
        )
    elif joint.stiffness != 0.0 and is_group:
        wrong = (
            f' and has stiffness {joint.stiffness:g}, expected 0: a spring needs positions that '
            'are angles or lengths; apply it as an effort'
        )
    if wrong:
        where = f'{description.source}: joint {joint.name!r}'
        raise UnsupportedJointError(f'{where} is {joint.kind!r}{wrong}')


def _resolve_mimics(description: Description, moving: list[Joint]) -> dict[str, DependentJoint]:
    """Return the dependent joints by name, each with an independent master."""
    by_name = {joint.name: joint for joint in moving if joint.kind in SINGLE_AXIS_KINDS}
    found: list[Finding] = []
    resolved = {}
    for joint in moving:
        multiplier, offset, link, seen = 1.0, 0.0, joint, [joint.name]
        while (mimic := link.mimic) is not None:
            if mimic.joint not in by_name or mimic.joint in seen:
                chain = ' -> '.join((*seen, mimic.joint))
                problem = (
                    f'mimics joint {mimic.joint!r}, which does not exist, does not move, has '
                    f'several axes or follows it in turn ({chain}), expected a joint with one axis'
                )
                fix = (
                    f'{did_you_mean(mimic.joint, by_name)}correct its <mimic>, or set '
                    "mimic='independent' to read it as a joint of its own"
                )
                found.append(Finding('error', f'joint {link.name!r}', problem, fix))
                break
            offset += multiplier * mimic.offset
            multiplier *= mimic.multiplier
            link = by_name[mimic.joint]
            seen.append(link.name)
        if joint.mimic is not None:
            resolved[joint.name] = DependentJoint(joint.name, link.name, multiplier, offset)
    raise_errors(description.source, dict.fromkeys(found), ModelError)
    return resolved


def _tree_arrays(
    bodies: list[Body],
    ordered: list[Joint],
    base: str,
    independent: list[Joint],
    following: dict[str, DependentJoint],
    coulomb_friction: bool,
) -> Tree:
    """Pack everything into read-only arrays; coordinates are those of the ``ordered`` joints."""
    kinds = [KINDS[joint.kind] for joint in ordered]
    q_size = np.array([len(kind.positions) for kind in kinds], dtype=np.int64)
    v_size = np.array([len(kind.rates) for kind in kinds], dtype=np.int64)
    number = {joint.name: k for k, joint in enumerate(ordered)}
    of_body = np.array(
        [number[body.joint.name] for body in bodies if body.joint is not None], dtype=np.int64
    )
    placements = np.array([body.placement for body in bodies])
    own = {joint.name: joint for joint in independent}
    couplings = [
        following.get(joint.name) or DependentJoint(joint.name, joint.name, 1.0, 0.0)
        for joint in ordered
    ]
    masters = [own[row.master] for row in couplings]

    def by_body(base_value: int, values: IntArray) -> IntArray:
        return np.concatenate(([base_value], values[of_body])).astype(np.int64)

    def column(values: Iterable[float], sizes: IntArray = v_size) -> Array:  # one entry a rate
        return np.repeat(np.fromiter(values, dtype=np.float64, count=len(ordered)), sizes)

    def entries(part: str) -> IntArray:  # of the masters, among the independent joints
        names = names_of(independent, part)
        return np.array([names.index(name) for name in names_of(masters, part)], dtype=np.int64)

    tree = Tree(
        parent=np.array([body.parent for body in bodies], dtype=np.int64),
        kind=by_body(BASE, np.array([kind.code for kind in kinds], dtype=np.int64)),
        q_start=by_body(0, np.cumsum(q_size) - q_size),
        q_size=by_body(0, q_size),
        v_start=by_body(0, np.cumsum(v_size) - v_size),
        v_size=by_body(6 if base == 'floating' else 0, v_size),
        subspace=np.concatenate([np.empty((0, 6)), *map(motion_subspace, ordered)]),
        rotation=np.ascontiguousarray(placements[:, :3, :3]),
        translation=np.ascontiguousarray(placements[:, :3, 3]),
        inertia=np.array([body.inertia for body in bodies]),
        armature=column(joint.gear_ratio**2 * joint.rotor_inertia for joint in ordered),
        damping=column(joint.damping for joint in ordered),
        friction=column(joint.friction if coulomb_friction else 0.0 for joint in ordered),
        friction_speed=column(joint.friction_speed for joint in ordered),
        stiffness=column(joint.stiffness for joint in ordered),
        rest=column(joint.rest for joint in ordered),
        master=entries('rates'),
        multiplier=column(row.multiplier for row in couplings),
        position_master=entries('positions'),
        position_multiplier=column((row.multiplier for row in couplings), q_size),
        offset=column((row.offset for row in couplings), q_size),
    )
    for array in tree:
        array.setflags(write=False)
    return tree


def _limits(movers: list[Joint]) -> JointLimits:
    rows = []
    for joint in movers:
        limits, has_range = joint.limits, joint.kind in SINGLE_AXIS_KINDS
        low, high = (limits.lower, limits.upper) if has_range else (-np.inf, np.inf)
        rows.append((low, high, limits.velocity, limits.effort))
    bounds = np.ascontiguousarray(np.array(rows, dtype=np.float64).reshape(-1, 4).T)
    bounds.setflags(write=False)
    return JointLimits(*bounds)


def _joint_order(
    description: Description, names: list[str], order: Sequence[str] | None
) -> list[str]:
    """Return ``order``, which must name each of ``names`` once, or ``names`` without one."""
    ordered = list(names if order is None else order)
    for name in (*ordered, *names):
        count, expected = ordered.count(name), names.count(name)
        if count != expected:
            raise ModelError(
                f'{description.source}: joint {name!r} is named {count} times in the order of '
                f'joints, expected {expected}: each once that moves, neither locked nor a mimic'
            )
    return ordered


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
            H, p = np.eye(4), tree.parent[i]
            H[:3, :3], H[:3, 3] = tree.rotation[i], tree.translation[i]
            H = H @ se3.exp((0.3 + 0.1 * (i % 7)) * S.sum(axis=1))  # no axes align by chance
            articulated[p] += moved_inertia(left, H)
            composite[p] += moved_inertia(composite[i], H)
