# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Errors and unusual values in a robot description, and how to fix them."""

import dataclasses
import math
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from geolin_ros import mjcf, urdf
from geolin_ros.description import (
    SEVERITIES,
    SINGLE_AXIS_KINDS,
    Description,
    Finding,
    Joint,
    Link,
    Severity,
    mass_properties,
    merged,
    stands_on_world,
    tree_findings,
)
from geolin_ros.description.shapes import Shape, find_mesh
from geolin_ros.errors import ConfigurationError, GeolinError, ModelError, UrdfError
from geolin_ros.model.inertia_check import principal_moments
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array
from geolin_ros.urdf.shapes import read_shapes

STRONGEST = 20.0
"""An effort limit above this many times weight times size of the robot is made up."""
FASTEST = 100.0
"""A velocity limit above this [rad/s or m/s] is made up."""
LARGEST_RADIUS = 5.0
"""A link's radius of gyration above this many times its robot's size is a mistake in units."""
MOST_TURNS = 2.0
"""A joint limit beyond this many turns is in degrees."""
LARGEST_ROBOT = 50.0
"""Longer robots [m] are written in millimetres."""
LONGEST_JOINT = 20.0
"""A joint this many times farther from its parent than the median is in millimetres."""
DENSEST = 25_000.0
"""No metal is as dense [kg/m^3]."""
BALLS = (300.0, 12_000.0)
"""Densities [kg/m^3] of balls that somebody may have measured, or computed."""
PLACEHOLDERS = 3
"""Links of one mere diagonal a 1: from so many on, somebody made it up."""


class Box(NamedTuple):
    """Around all shapes of a link, in its axes [m]: corners (3,)."""

    lower: Array
    upper: Array


@dataclass(frozen=True)
class Report:
    """All findings, worst first, and the totals of the robot (None if it cannot be read)."""

    source: str
    findings: tuple[Finding, ...]
    model: TreeModel | None

    def count(self, severity: Severity) -> int:
        """Return the number of findings of one severity."""
        return sum(finding.severity == severity for finding in self.findings)


def lint(source: str | bytes | Path | Any, root: str | None = None) -> Report:
    """Return what there is to say about a URDF or MJCF text, path or urdfpy-shaped object.

    Never raises for a bad description: all that stops it from being read are findings. Of a path
    the meshes are looked for. ``root`` is the robot's first body in an MJCF with several trees.
    """
    name = str(source) if isinstance(source, Path) else 'URDF'
    model = None
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            description, found = _examined(source, root)
        except ConfigurationError:
            raise
        except GeolinError as error:  # no such file
            return Report(name, tuple(_from_error('', error, name)), None)
        errors = [finding for finding in found if finding.severity == 'error']
        shapes: dict[str, list[Shape]] = {}
        try:
            shapes = _shapes(source)
        except UrdfError as error:
            found += _from_error('', error, name) if not errors else []
        if description is not None:
            if not errors:
                model, stopped = _model(description)
                errors, found = [*errors, *stopped], [*found, *stopped]
            found += _about(description, _boxes(shapes), model)
        if isinstance(source, Path):
            found += _meshes(shapes, source)
    found = merged(finding for finding in found if not _follows(finding, errors))
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    named = (f if f.element else dataclasses.replace(f, element='the file') for f in found)
    return Report(name, tuple(named), model)


def _examined(source: Any, root: str | None) -> tuple[Description | None, list[Finding]]:
    """Return a description, and what its reader has to say.

    Raises `ConfigurationError` if it is MJCF, and MuJoCo is not installed.
    """
    if not mjcf.is_mjcf(source):
        mjcf.check_no_root(source, root)
        description, found = urdf.examine(source)
        fixed = None if description is None else stands_on_world(description)
        return description, [*found, *([fixed] if fixed else [])]
    try:
        return mjcf.read(source, root).description, []
    except ModelError as error:
        return None, _from_error('', error, str(source))


def _model(description: Description) -> tuple[TreeModel | None, list[Finding]]:
    """Return the model, and why it is none or reads mimic joints as independent."""
    found: list[Finding] = []
    for reading in ('exact', 'independent'):
        try:
            return TreeModel.from_description(description, mimic=reading), found
        except GeolinError as error:
            found += _from_error('the model', error, description.source)
    return None, list(dict.fromkeys(found))


def _from_error(element: str, error: GeolinError, source: str) -> list[Finding]:
    if error.findings:
        return list(error.findings)
    problem, _, fix = str(error).removeprefix(f'{source}: ').partition('; ')
    return [Finding('error', element, problem, fix or 'correct it')]


def _follows(finding: Finding, errors: list[Finding]) -> bool:
    """Whether something is only reported because of an error about the same link or joint."""
    return finding.severity != 'error' and any(
        finding.element and finding.element in error.element for error in errors
    )


def _about(
    description: Description, boxes: dict[str, Box], model: TreeModel | None
) -> Iterator[Finding]:
    size = None if tree_findings(description) else _size(description)
    yield from _links(description, size, boxes)
    yield from _joints(description, size)
    yield from _mimics(description)
    if model is not None:
        yield from _totals(description, model)
    if size is not None and size > LARGEST_ROBOT:
        yield Finding(
            'warning',
            'the robot',
            f'is {size:.4g} m long from its root to its farthest joint',
            'check the units of its origins: m, not mm',
        )


def _links(
    description: Description, size: float | None, boxes: dict[str, Box]
) -> Iterator[Finding]:
    moved = {joint.child for joint in description.joints if joint.kind != 'fixed'}
    made_up = dict(_placeholders(description))
    for link in description.links:
        where = f'link {link.name!r}'
        warn = partial(Finding, 'warning', where)
        mass, com, _ = mass_properties(link.inertia)
        if not link.inertia.any():
            if link.name in moved:
                yield Finding(
                    'note',
                    where,
                    'moves but has no inertia of its own',
                    'give it an <inertial> unless it is a frame',
                )
            continue
        if link.name in made_up:
            yield warn(
                f'inertia {made_up[link.name]} is a placeholder',
                'take the tensor from CAD, or that of a box of its mass and size',
            )
        else:
            yield from _moments(link, where, size)
        if size is not None and float(np.linalg.norm(com)) > LARGEST_RADIUS * size:
            yield warn(
                f'centre of mass {np.linalg.norm(com):.3g} m away in a robot of {size:.3g} m',
                'check the units: m, not mm',
            )
        if link.name in boxes and mass > 0.0:
            yield from _in_box(link, where, boxes[link.name], link.name not in made_up)


def _placeholders(description: Description) -> Iterator[tuple[str, str]]:
    """Yield links, and inertias, whose tensors nobody has measured: all the same."""
    alike: dict[float, list[str]] = defaultdict(list)
    for link in description.links:
        mass, com, inertia = mass_properties(link.inertia)
        scale = 1e-9 * (float(np.abs(inertia).max()) + mass * float(com @ com))
        if not inertia.any() or np.abs(inertia).max() <= scale:
            continue
        value = float(inertia[0, 0])
        if np.all(np.abs(inertia - value) <= scale):
            yield link.name, f'{value:.3g} in all six entries'
        elif np.all(np.abs(inertia - value * np.eye(3)) <= scale) and not _is_ball(mass, value):
            alike[float(f'{value:.9g}')].append(link.name)
    for value, names in alike.items():
        if len(names) >= PLACEHOLDERS:
            yield from ((name, f'diag({value:g}, {value:g}, {value:g})') for name in names)


def _is_ball(mass: float, moment: float) -> bool:
    """Whether a solid ball of some material has them."""
    radius = math.sqrt(2.5 * moment / mass) if mass > 0.0 else math.inf
    return BALLS[0] < mass / (4.0 / 3.0 * math.pi * radius**3) < BALLS[1]


def _moments(link: Link, where: str, size: float | None) -> Iterator[Finding]:
    """Compare the principal moments with those of any body, and of one of this mass and size."""
    mass, com, _ = mass_properties(link.inertia)
    warn = partial(Finding, 'warning', where)
    low, middle, high = (float(moment) for moment in principal_moments(link.inertia))
    rounding = 1e-9 * (high + mass * float(com @ com))
    again = 'copy the inertia tensor about the centre of mass again'
    if low < 0.0:
        yield Finding(
            'error', where, f'inertia has a negative principal moment, {low:.3g} kg m^2', again
        )
    elif low + middle < high * (1.0 - 1e-6) - rounding:
        yield warn(
            f'principal moments {low:.3g}, {middle:.3g}, {high:.3g} kg m^2 break the triangle '
            'inequality: no body has them',
            again,
        )
    elif mass > 0.0 and low + middle > high * (1.0 + 1e-6):
        sides = [math.sqrt(6.0 * (low + middle + high - 2.0 * m) / mass) for m in (high, middle)]
        sides.append(math.sqrt(6.0 * (middle + high - low) / mass))
        density = mass / math.prod(sides)
        if density > DENSEST:
            shown = ' x '.join(f'{side:.2g}' for side in sides)
            yield warn(
                f'{mass:.4g} kg with these moments of inertia is a block of {shown} m, denser '
                'than any metal',
                'check the units: kg and kg m^2; write the real tensor',
            )
    if mass > 0.0 and size is not None and math.sqrt(high / mass) > LARGEST_RADIUS * size:
        yield warn(
            f'radius of gyration {math.sqrt(high / mass):.3g} m in a robot of {size:.3g} m',
            'check the units: kg m^2',
        )


def _in_box(link: Link, where: str, box: Box, moments_too: bool) -> Iterator[Finding]:
    """Compare mass and inertia with those that fit into the link's own shapes."""
    mass, com, inertia = mass_properties(link.inertia)
    warn, extent = partial(Finding, 'warning', where), box.upper - box.lower
    shown = ' x '.join(f'{side:.3g}' for side in extent)
    if np.any(com > box.upper + 0.5 * extent + 0.01) or np.any(
        com < box.lower - 0.5 * extent - 0.01
    ):
        yield warn(
            f'centre of mass {np.round(com, 4).tolist()} m lies outside of its shapes, {shown} m',
            'check the units: m, not mm',
        )
        return
    volume = float(np.prod(extent))
    if volume > 0.0 and mass > DENSEST * volume:
        yield warn(
            f'{mass:.4g} kg in shapes of {shown} m is denser than any metal',
            'check the units: kg, not g',
        )
    reach = np.maximum(box.upper - com, com - box.lower) ** 2
    largest = mass * (reach.sum() - reach)
    moments = np.diag(inertia)
    beyond = moments > 1.5 * largest
    if moments_too and beyond.any():
        axis = int(np.argmax(moments / np.maximum(largest, 1e-300)))
        yield warn(
            f'i{"xyz"[axis] * 2} is {moments[axis]:.3g} kg m^2; {mass:.3g} kg in its shapes, '
            f'{shown} m, has at most {largest[axis]:.3g}',
            'check units and origin of <inertial>',
        )


def _joints(description: Description, size: float | None) -> Iterator[Finding]:
    mass = sum(float(link.inertia[0, 0]) for link in description.links)
    lengths = {
        joint.name: float(np.linalg.norm(joint.placement[:3, 3])) for joint in description.joints
    }
    usual = float(np.median([length for length in lengths.values() if length > 1e-6] or [0.0]))
    for joint in description.joints:
        where, limits = f'joint {joint.name!r}', joint.limits
        warn, note = partial(Finding, 'warning', where), partial(Finding, 'note', where)
        if lengths[joint.name] > max(1.0, LONGEST_JOINT * usual) and len(lengths) > 2:
            yield warn(
                f'is {lengths[joint.name]:.4g} m away from its parent; {usual:.3g} m is usual '
                'in this robot',
                'check the units of its origin: m, not mm',
            )
        if joint.kind not in SINGLE_AXIS_KINDS:
            continue
        norm = float(np.linalg.norm(joint.axis))
        if abs(norm - 1.0) > 1e-3:
            yield note(
                f'axis has length {norm:.6g} and is read as a unit vector', 'write a unit vector'
            )
        if math.isfinite(limits.effort):
            lever = 1.0 if joint.kind == 'prismatic' or size is None else size
            largest = STRONGEST * mass * 9.81 * lever
            if limits.effort == 0.0:
                yield warn('effort limit is 0', "write the actuator's limit")
            elif limits.effort > largest > 0.0:
                yield warn(
                    f'effort limit {limits.effort:.4g} on a robot of {mass:.3g} kg and '
                    f'{lever:.3g} m cannot be real',
                    "write the actuator's limit, or give effort_limit in the overlay: gains weigh "
                    'efforts by it',
                )
        elif joint.mimic is None:
            fix = 'add <limit effort="..."/>, in MJCF actuatorfrcrange="..."'
            yield note('no effort limit', fix)
        if limits.velocity == 0.0 or FASTEST < limits.velocity < math.inf:
            yield warn(
                f'velocity limit {limits.velocity:.4g} cannot be real',
                "write the actuator's limit",
            )
        if joint.kind in ('revolute', 'prismatic') and limits.lower == limits.upper:
            yield warn(
                f'lower and upper limit are both {limits.lower:.4g}',
                'write the range, or make the joint fixed',
            )
        farthest = max(abs(limits.lower), abs(limits.upper))
        if joint.kind == 'revolute' and MOST_TURNS < farthest / math.tau < math.inf:
            yield warn(
                f'limits {limits.lower:.4g} and {limits.upper:.4g} rad are '
                f'{farthest / math.tau:.3g} turns',
                'check the units: rad, not degrees; or make the joint continuous',
            )


def _shapes(source: Any) -> dict[str, list[Shape]]:
    """Return the shapes of each link; none of an object's."""
    if isinstance(source, bytes | bytearray):
        source = source.decode(errors='replace')
    if mjcf.is_mjcf(source):
        return {}
    return read_shapes(source) if isinstance(source, str | Path) else {}


def _boxes(shapes: dict[str, list[Shape]]) -> dict[str, Box]:
    """Return the box around each link that has shapes, none of them a mesh."""
    found = {}
    for link, its in shapes.items():
        if not its or any(shape.kind == 'mesh' for shape in its):
            continue
        outlines = [shape.outline() for shape in its]
        found[link] = Box(
            np.min([points.min(axis=0) - radius for points, radius in outlines], axis=0),
            np.max([points.max(axis=0) + radius for points, radius in outlines], axis=0),
        )
    return found


def _meshes(shapes: dict[str, list[Shape]], urdf_file: Path) -> Iterator[Finding]:
    """Yield a finding for each package, or folder, of meshes that are not where the URDF says."""
    lost: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(shape.file for its in shapes.values() for shape in its):
        scheme, colon, rest = name.partition('://')
        if not name or (colon and scheme not in ('package', 'model', 'file')):
            continue
        try:
            find_mesh(name, urdf_file)
        except UrdfError:
            package = f'{scheme}://{rest.lstrip("/").split("/")[0]}'
            folder = package if colon and scheme != 'file' else str(Path(name).parent)
            lost[folder].append(Path(name).name)
    for folder, names in lost.items():
        shown = ', '.join(names[:3]) + (f' and {len(names) - 3} more' if len(names) > 3 else '')
        yield Finding(
            'warning',
            f'meshes in {folder}',
            f'not found: {shown}',
            'correct the paths, or source the workspace of the package; dynamics need no meshes',
        )


def _mimics(description: Description) -> Iterator[Finding]:
    for joint in description.joints:
        if joint.mimic is not None and joint.mimic.multiplier == 0.0:
            yield Finding(
                'warning',
                f'joint {joint.name!r}',
                f'mimics {joint.mimic.joint!r} with multiplier 0: it never moves',
                'make the joint fixed',
            )


def _totals(description: Description, model: TreeModel) -> Iterator[Finding]:
    if not 0.01 <= model.total_mass <= 10_000.0:
        yield Finding(
            'warning',
            'the robot',
            f'total mass is {model.total_mass:.3g} kg',
            'check the units: kg',
        )
    root = next(link for link in description.links if link.name == model.base_link)
    if not root.inertia.any():
        yield Finding(
            'note',
            f'link {root.name!r}',
            'is the root and has no inertia of its own',
            'nothing to do where a fixed joint carries the first body',
        )


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
