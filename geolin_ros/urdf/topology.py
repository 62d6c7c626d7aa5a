# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Links and joints must form one tree."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from geolin_ros.errors import UrdfError
from geolin_ros.model.description import Description, Joint


def check_tree(description: Description) -> None:
    """Raise `UrdfError` unless names are unique and every link hangs on one root."""
    source = description.source
    links = [link.name for link in description.links]
    if not links:
        raise UrdfError(f'{source}: no links, expected at least one; add <link name="..."/>')
    _check_unique('link', links, source)
    _check_unique('joint', (joint.name for joint in description.joints), source)

    known = set(links)
    parent_joint: dict[str, Joint] = {}
    children: dict[str, list[str]] = defaultdict(list)
    for joint in description.joints:
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in known:
                raise UrdfError(
                    f'{source}: joint {joint.name!r}: {role} link {link!r} does not exist; '
                    f'correct the name or add <link name="{link}"/>'
                )
        other = parent_joint.setdefault(joint.child, joint)
        if other is not joint:
            raise UrdfError(
                f'{source}: link {joint.child!r} is the child of joints {other.name!r} and '
                f'{joint.name!r}, expected one parent; a closed loop must be cut at one of them'
            )
        children[joint.parent].append(joint.child)

    roots = [name for name in links if name not in parent_joint]
    if len(roots) > 1:
        raise UrdfError(
            f'{source}: {len(roots)} root links ({_listed(roots)}), expected one; '
            'connect the others by joints'
        )
    reached = list(roots)
    for link in reached:  # grows while it is walked
        reached.extend(children[link])
    looped = known.difference(reached)
    if looped:
        raise UrdfError(
            f'{source}: links {_listed(sorted(looped))} form a loop of joints, expected a tree; '
            'cut the loop at one joint'
        )


def _check_unique(kind: str, names: Iterable[str], source: str) -> None:
    for name, count in Counter(names).most_common(1):
        if count > 1:
            raise UrdfError(
                f'{source}: {count} {kind}s are named {name!r}, expected unique names; rename them'
            )


def _listed(names: list[str]) -> str:
    more = f' and {len(names) - 5} more' if len(names) > 5 else ''
    return ', '.join(repr(name) for name in names[:5]) + more
