# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Links and joints must form one tree, and have the numbers of bodies and of what moves them."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from geolin_ros.description.elements import Description, Finding, Joint, Link, raise_errors
from geolin_ros.errors import GeolinError, ModelError, did_you_mean
from geolin_ros.spatial import se3

WORLD = 'world'
"""Root link of robots that are bolted down, by convention."""
SHORTEST_AXIS = 1e-9
_WITHOUT_AXIS = ('fixed', 'spherical', 'floating')
_RANGES: tuple[tuple[str, str, Any], ...] = (
    ('pitch stiffness rest effort_offset', 'a finite number', np.isfinite),
    ('gear_ratio', 'a number that is not 0', lambda x: x != 0.0),
    ('damping friction rotor_inertia', 'a finite number, 0 or more', lambda x: x >= 0.0),
    ('friction_speed effort_scale', 'a number above 0', lambda x: x > 0.0),
)


def tree_findings(description: Description) -> list[Finding]:
    """Return what keeps links and joints of unique names from being one tree, if anything."""
    links = [link.name for link in description.links]
    if not links:
        return [_error('', 'no links, expected at least one', 'add <link name="..."/>')]
    found = []
    for kind, names in (('link', links), ('joint', [j.name for j in description.joints])):
        for name, count in Counter(names).items():
            if count > 1:
                problem = f'{count} {kind}s are named {name!r}, expected unique names'
                found.append(_error('', problem, 'rename them'))
    known = set(links)
    parent_joint: dict[str, Joint] = {}
    children: dict[str, list[str]] = defaultdict(list)
    for joint in description.joints:
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in known:
                fix = f'{did_you_mean(link, links)}correct the name or add a link of that name'
                problem = f'{role} link {link!r} does not exist'
                found.append(_error(f'joint {joint.name!r}', problem, fix))
        other = parent_joint.setdefault(joint.child, joint)
        if other is not joint and other.name != joint.name:
            both = f'joints {other.name!r} and {joint.name!r}'
            problem = f'is the child of {both}, expected one parent'
            fix = 'a closed loop must be cut at one of them'
            found.append(_error(f'link {joint.child!r}', problem, fix))
        children[joint.parent].append(joint.child)
    if found:
        return found  # roots and loops may follow from these

    roots = [name for name in links if name not in parent_joint]
    if len(roots) > 1:
        problem = f'{len(roots)} root links ({_listed(roots)}), expected one'
        found.append(_error('', problem, 'connect the others by joints'))
    reached = list(roots)
    for link in reached:  # grows while it is walked
        reached.extend(children[link])
    looped = sorted(known.difference(reached))
    if looped:
        problem = f'links {_listed(looped)} form a loop of joints, expected a tree'
        found.append(_error('', problem, 'cut the loop at one joint'))
    return found


def stands_on_world(description: Description) -> Finding | None:
    """Return the finding that a robot's base is fixed, if its root link is called world.

    None too where a floating joint moves the robot in that world.
    """
    joints = [joint for joint in description.joints if joint.parent == WORLD]
    moved = any(joint.child == WORLD for joint in description.joints)
    if not joints or moved or any(joint.kind == 'floating' for joint in joints):
        return None
    return Finding(
        'warning',
        f'link {WORLD!r}',
        'is the root: the base is taken as fixed',
        "say base='fixed', or 'floating' if the robot flies",
    )


def _listed(names: list[str]) -> str:
    more = f' and {len(names) - 5} more' if len(names) > 5 else ''
    return ', '.join(repr(name) for name in names[:5]) + more


def check_values(description: Description) -> None:
    """Raise `ModelError` for masses, placements, axes and coefficients that none can have."""
    found = chain(
        *map(link_findings, description.links), *map(_joint_findings, description.joints)
    )
    raise_errors(description.source, found, ModelError)


def link_findings(link: Link) -> Iterator[Finding]:
    """Yield why no body can have the inertia of a link."""
    where, inertia = f'link {link.name!r}', np.asarray(link.inertia, dtype=np.float64)
    if inertia.shape != (6, 6) or not np.isfinite(inertia).all():
        problem = f'inertia has shape {inertia.shape} or numbers that are not finite'
        yield _error(where, f'{problem}, expected (6, 6)', 'make it by Link.from_mass')
    elif not np.allclose(inertia, inertia.T, rtol=1e-9, atol=1e-12):
        yield _error(where, 'inertia is not symmetric', 'make it equal to its transpose')
    elif (mass := float(np.diag(inertia)[:3].min())) < 0.0:
        yield _error(where, f'mass is {mass!r} kg, expected >= 0')


def _joint_findings(joint: Joint) -> Iterator[Finding]:
    where = f'joint {joint.name!r}'
    try:
        se3.check_pose(joint.placement, 'placement')
    except GeolinError as error:
        yield _error(where, *str(error).partition('; ')[::2])
    axes = {} if joint.kind in _WITHOUT_AXIS else {'axis': joint.axis}
    if joint.kind == 'universal':
        axes['second_axis'] = joint.second_axis
    for name, values in axes.items():
        axis = np.asarray(values, dtype=np.float64)
        if axis.shape != (3,) or not SHORTEST_AXIS < float(np.linalg.norm(axis)) < np.inf:
            expected = f'three numbers of norm above {SHORTEST_AXIS:g}'
            problem = f'{name} is {axis.tolist()}, expected {expected}'
            yield _error(where, problem, 'set <axis xyz="..."/>')
    for names, expected, is_good in _RANGES:
        for name in names.split():
            value = getattr(joint, name)
            if not (np.isfinite(value) and is_good(value)):
                yield _error(where, f'{name} is {value!r}, expected {expected}')
    if np.isnan(tuple(vars(joint.limits).values())).any():
        yield _error(where, 'a limit is NaN, expected a number', 'correct it, or leave it out')
    mimic = joint.mimic
    if mimic is not None and not np.isfinite((mimic.multiplier, mimic.offset)).all():
        yield _error(where, f'mimics by {mimic}, expected finite numbers', 'correct them')


def _error(where: str, problem: str, fix: str = 'correct it') -> Finding:
    return Finding('error', where, problem, fix)
