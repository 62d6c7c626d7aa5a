# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Links and joints must form one tree."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from geolin_ros.description.elements import Description, Joint
from geolin_ros.errors import ModelError


def check_tree(description: Description, error: type[ModelError] = ModelError) -> None:
    """Raise ``error`` unless names are unique and every link hangs on one root."""
    source = description.source
    links = [link.name for link in description.links]
    if not links:
        raise error(f'{source}: no links, expected at least one; add <link name="..."/>')
    _check_unique('link', links, source, error)
    _check_unique('joint', (joint.name for joint in description.joints), source, error)

    known = set(links)
    parent_joint: dict[str, Joint] = {}
    children: dict[str, list[str]] = defaultdict(list)
    for joint in description.joints:
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in known:
                raise error(
                    f'{source}: joint {joint.name!r}: {role} link {link!r} does not exist; '
                    f'correct the name or add a link of that name'
                )
        other = parent_joint.setdefault(joint.child, joint)
        if other is not joint:
            raise error(
                f'{source}: link {joint.child!r} is the child of joints {other.name!r} and '
                f'{joint.name!r}, expected one parent; a closed loop must be cut at one of them'
            )
        children[joint.parent].append(joint.child)

    roots = [name for name in links if name not in parent_joint]
    if len(roots) > 1:
        raise error(
            f'{source}: {len(roots)} root links ({_listed(roots)}), expected one; '
            'connect the others by joints'
        )
    reached = list(roots)
    for link in reached:  # grows while it is walked
        reached.extend(children[link])
    looped = known.difference(reached)
    if looped:
        raise error(
            f'{source}: links {_listed(sorted(looped))} form a loop of joints, expected a tree; '
            'cut the loop at one joint'
        )


def _check_unique(kind: str, names: Iterable[str], source: str, error: type[ModelError]) -> None:
    for name, count in Counter(names).most_common(1):
        if count > 1:
            raise error(
                f'{source}: {count} {kind}s are named {name!r}, expected unique names; rename them'
            )


def _listed(names: list[str]) -> str:
    more = f' and {len(names) - 5} more' if len(names) > 5 else ''
    return ', '.join(repr(name) for name in names[:5]) + more
