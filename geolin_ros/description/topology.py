# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Links and joints must form one tree."""

from collections import Counter, defaultdict

from geolin_ros.description.elements import Description, Joint
from geolin_ros.description.findings import Finding, raise_errors
from geolin_ros.errors import ModelError, did_you_mean

WORLD = 'world'
"""Root link of robots that are bolted down, by convention."""


def check_tree(description: Description) -> None:
    """Raise `ModelError` unless names are unique and every link hangs on one root."""
    raise_errors(description.source, tree_findings(description), ModelError)


def tree_findings(description: Description) -> list[Finding]:
    """Return what keeps links and joints from being one tree: empty if nothing does."""
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


def _error(element: str, problem: str, fix: str) -> Finding:
    return Finding('error', element, problem, fix)


def _listed(names: list[str]) -> str:
    more = f' and {len(names) - 5} more' if len(names) > 5 else ''
    return ', '.join(repr(name) for name in names[:5]) + more
