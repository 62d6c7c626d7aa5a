# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joints that follow another one, chains of them resolved."""

from typing import NamedTuple

from geolin_ros.description import Description, Joint
from geolin_ros.errors import ModelError


class DependentJoint(NamedTuple):
    """position = multiplier * position of the master + offset; the master follows no other."""

    name: str
    master: str
    multiplier: float
    offset: float


def resolve_mimics(description: Description, moving: list[Joint]) -> dict[str, DependentJoint]:
    """Return the dependent joints by name, each with an independent master.

    Raises
    ------
    ModelError
        If a mimic joint follows an unknown or fixed joint, or, over others, itself.
    """
    by_name = {joint.name: joint for joint in moving}
    resolved = {}
    for joint in moving:
        if joint.mimic is None:
            continue
        multiplier, offset, link, seen = 1.0, 0.0, joint, [joint.name]
        while link.mimic is not None:
            mimic = link.mimic
            where = f'{description.source}: joint {link.name!r} mimics joint {mimic.joint!r}'
            if mimic.joint not in by_name:
                raise ModelError(
                    f'{where}, which does not exist or does not move, expected a moving joint; '
                    "correct the name, or set mimic='independent' to read it as a joint of its own"
                )
            if mimic.joint in seen:
                raise ModelError(
                    f'{where}, which follows it in turn ({" -> ".join([*seen, mimic.joint])}), '
                    'expected an independent joint at the end; remove one <mimic>'
                )
            offset += multiplier * mimic.offset
            multiplier *= mimic.multiplier
            link = by_name[mimic.joint]
            seen.append(link.name)
        resolved[joint.name] = DependentJoint(joint.name, link.name, multiplier, offset)
    return resolved
