# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong, or at least odd, in a robot description, and how to mend it."""

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from geolin_ros import urdf
from geolin_ros.description import SINGLE_AXIS_KINDS, Description, Joint, Link
from geolin_ros.errors import GeolinError
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array

Severity = Literal['error', 'warning', 'note']
SEVERITIES: tuple[Severity, ...] = ('error', 'warning', 'note')

STRONGEST = 100.0
"""An effort limit above this many times weight times size of the robot is made up."""
FASTEST = 100.0
"""A velocity limit above this [rad/s or m/s] is made up."""
LARGEST_RADIUS = 5.0
"""A link's radius of gyration above this many times its robot's size is a mistake in units."""


@dataclass(frozen=True)
class Finding:
    """One thing to look at: where, what, and what to do about it."""

    severity: Severity
    element: str
    problem: str
    fix: str

    def __str__(self) -> str:
        """Return one line."""
        return f'{self.severity}: {self.element}: {self.problem}; {self.fix}'


@dataclass(frozen=True)
class Report:
    """All findings, worst first, and the totals of the robot (None if it cannot be read)."""

    source: str
    findings: tuple[Finding, ...]
    model: TreeModel | None

    def count(self, severity: Severity) -> int:
        """Return the number of findings of one severity."""
        return sum(finding.severity == severity for finding in self.findings)


def lint(source: str | bytes | Path | Any) -> Report:
    """Return what there is to say about a URDF text, path or urdfpy-shaped object.

    Never raises for a bad description: what stops it from being read is a finding.
    """
    name = str(source) if isinstance(source, Path) else 'URDF'
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            description = urdf.read(source)
        except GeolinError as error:
            return Report(name, (_from_error('the file', error, name),), None)
        found = [*_links(description), *_joints(description), *_mimics(description)]
        model = None
        for reading in ('exact', 'independent'):
            try:
                model = TreeModel.from_description(description, mimic=reading)
                break
            except GeolinError as error:
                found.append(_from_error('the model', error, description.source))
    if model is not None:
        found += _totals(description, model)
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Report(name, tuple(dict.fromkeys(found)), model)


def _from_error(element: str, error: GeolinError, source: str) -> Finding:
    problem, _, fix = str(error).removeprefix(f'{source}: ').partition('; ')
    return Finding('error', element, problem, fix or 'correct it')


def mass_properties(link: Link) -> tuple[float, Array, Array]:
    """Return mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2]."""
    mass = float(link.inertia[0, 0])
    if mass == 0.0:
        return 0.0, np.zeros(3), link.inertia[3:, 3:]
    cross = link.inertia[3:, :3] / mass
    com = np.array([cross[2, 1], cross[0, 2], cross[1, 0]])
    return mass, com, link.inertia[3:, 3:] + mass * cross @ cross


def _links(description: Description) -> Iterator[Finding]:
    size = _size(description)
    moved = {joint.child for joint in description.joints if joint.kind != 'fixed'}
    for link in description.links:
        where = f'link {link.name!r}'
        mass, com, inertia = mass_properties(link)
        if not link.inertia.any():
            if link.name in moved:
                yield Finding(
                    'note', where, 'moves but has no inertia of its own',
                    'give it an <inertial> unless it is a frame',
                )  # fmt: skip
            continue
        low, middle, high = np.linalg.eigvalsh(inertia)
        rounding = 1e-12 * (high + mass * float(com @ com))
        if low < -rounding:
            yield Finding(
                'error', where, f'inertia has a negative principal moment, {low:.3g} kg m^2',
                'copy the inertia tensor about the centre of mass again',
            )  # fmt: skip
        elif low + middle < high * (1.0 - 1e-6) - rounding:
            yield Finding(
                'warning', where,
                f'principal moments {low:.3g}, {middle:.3g}, {high:.3g} kg m^2 break the triangle '
                'inequality: no body has them',
                'copy the inertia tensor about the centre of mass again',
            )  # fmt: skip
        elif low <= rounding:
            yield Finding(
                'warning', where, f'has mass {mass:.3g} kg but a principal moment of {low:.3g}',
                'give it an inertia tensor, of a small sphere at least',
            )  # fmt: skip
        if mass > 0.0 and math.sqrt(max(high, 0.0) / mass) > LARGEST_RADIUS * size:
            yield Finding(
                'warning', where,
                f'radius of gyration {math.sqrt(high / mass):.3g} m in a robot of {size:.3g} m',
                'check the units: kg m^2',
            )  # fmt: skip
        if float(np.linalg.norm(com)) > LARGEST_RADIUS * size:
            yield Finding(
                'warning', where,
                f'centre of mass {np.linalg.norm(com):.3g} m away in a robot of {size:.3g} m',
                'check the units: m',
            )  # fmt: skip


def _joints(description: Description) -> Iterator[Finding]:
    mass = sum(float(link.inertia[0, 0]) for link in description.links)
    size = _size(description)
    for joint in description.joints:
        if joint.kind not in SINGLE_AXIS_KINDS:
            continue
        where, limits = f'joint {joint.name!r}', joint.limits
        norm = float(np.linalg.norm(joint.axis))
        if abs(norm - 1.0) > 1e-6:
            yield Finding(
                'note', where, f'axis has length {norm:.6g} and is read as a unit vector',
                'write a unit vector',
            )  # fmt: skip
        if math.isfinite(limits.effort):
            largest = STRONGEST * mass * 9.81 * (1.0 if joint.kind == 'prismatic' else size)
            if limits.effort == 0.0:
                yield Finding('warning', where, 'effort limit is 0', "write the actuator's limit")
            elif limits.effort > largest:
                yield Finding(
                    'warning', where,
                    f'effort limit {limits.effort:.4g} on a robot of {mass:.3g} kg and '
                    f'{size:.3g} m cannot be real',
                    "write the actuator's limit",
                )  # fmt: skip
        elif joint.mimic is None:
            yield Finding('note', where, 'no effort limit', 'add <limit effort="..."/>')
        if limits.velocity == 0.0 or FASTEST < limits.velocity < math.inf:
            yield Finding(
                'warning', where, f'velocity limit {limits.velocity:.4g} cannot be real',
                "write the actuator's limit",
            )  # fmt: skip
        if joint.kind in ('revolute', 'prismatic') and limits.lower == limits.upper:
            yield Finding(
                'warning', where, f'lower and upper limit are both {limits.lower:.4g}',
                'write the range, or make the joint fixed',
            )  # fmt: skip


def _mimics(description: Description) -> Iterator[Finding]:
    for joint in description.joints:
        if joint.mimic is not None and joint.mimic.multiplier == 0.0:
            yield Finding(
                'warning', f'joint {joint.name!r}',
                f'mimics {joint.mimic.joint!r} with multiplier 0: it never moves',
                'make the joint fixed',
            )  # fmt: skip


def _totals(description: Description, model: TreeModel) -> Iterator[Finding]:
    if not 0.01 <= model.total_mass <= 10_000.0:
        yield Finding(
            'warning', 'the robot', f'total mass is {model.total_mass:.3g} kg',
            'check the units: kg',
        )  # fmt: skip
    root = next(link for link in description.links if link.name == model.base_link)
    if not root.inertia.any():
        yield Finding(
            'note', f'link {root.name!r}', 'is the root and has no inertia of its own',
            'nothing to do where a fixed joint carries the first body',
        )  # fmt: skip


def _size(description: Description) -> float:
    """Return the longest way from the root along joint placements [m]; 1 m for a single body."""
    children: dict[str, list[Joint]] = {}
    for joint in description.joints:
        children.setdefault(joint.parent, []).append(joint)
    moved = {joint.child for joint in description.joints}
    reach = {link.name: 0.0 for link in description.links if link.name not in moved}
    pending = list(reach)
    while pending:
        parent = pending.pop()
        for joint in children.get(parent, ()):
            reach[joint.child] = reach[parent] + float(np.linalg.norm(joint.placement[:3, 3]))
            pending.append(joint.child)
    longest = max(reach.values())
    return longest if longest > 0.05 else 1.0
