# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joints that follow another one, chains of them resolved."""

from collections.abc import Mapping
from typing import NamedTuple

from geolin_ros.description import Description, Finding, Joint, Mimic, raise_errors
from geolin_ros.errors import ModelError, did_you_mean


class DependentJoint(NamedTuple):
    """position = multiplier * position of the master + offset; the master follows no other."""

    name: str
    master: str
    multiplier: float
    offset: float


def resolve_mimics(description: Description, moving: list[Joint]) -> dict[str, DependentJoint]:
    """Return the dependent joints by name, each with an independent master.

    Raises `ModelError` if a mimic joint follows an unknown or fixed joint, or, over others,
    itself.
    """
    by_name = {joint.name: joint for joint in moving}
    found: list[Finding] = []
    resolved = {}
    for joint in moving:
        if joint.mimic is None:
            continue
        multiplier, offset, link, seen = 1.0, 0.0, joint, [joint.name]
        while link.mimic is not None:
            mimic = link.mimic
            problem, fix = _problem(mimic, by_name, seen)
            if problem:
                found.append(Finding('error', f'joint {link.name!r}', problem, fix))
                break
            offset += multiplier * mimic.offset
            multiplier *= mimic.multiplier
            link = by_name[mimic.joint]
            seen.append(link.name)
        resolved[joint.name] = DependentJoint(joint.name, link.name, multiplier, offset)
    raise_errors(description.source, dict.fromkeys(found), ModelError)
    return resolved


def _problem(mimic: Mimic, by_name: Mapping[str, Joint], seen: list[str]) -> tuple[str, str]:
    """Return what is wrong with a mimic at the end of a chain, and the fix."""
    if mimic.joint not in by_name:
        return (
            f'mimics joint {mimic.joint!r}, which does not exist or does not move, expected a '
            'moving joint',
            f"{did_you_mean(mimic.joint, by_name)}correct the name, or set mimic='independent' "
            'to read it as a joint of its own',
        )
    if mimic.joint in seen:
        return (
            f'mimics joint {mimic.joint!r}, which follows it in turn '
            f'({" -> ".join([*seen, mimic.joint])}), expected an independent joint at the end',
            'remove one <mimic>',
        )
    return '', ''
