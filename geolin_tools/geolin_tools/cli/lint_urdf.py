# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin lint-urdf``: errors and unusual values in a robot description, and how to fix them."""

import argparse
import dataclasses
import math
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geolin_ros import mjcf, urdf
from geolin_ros.cli._options import add_file_arguments, show
from geolin_ros.description import (
    SEVERITIES,
    SINGLE_AXIS_KINDS,
    Description,
    Finding,
    Link,
    mass_properties,
    merged,
    stands_on_world,
    tree_findings,
)
from geolin_ros.description.shapes import Shape, find_mesh
from geolin_ros.errors import ConfigurationError, GeolinError, UrdfError
from geolin_ros.model.numbering import principal_moments
from geolin_ros.model.tree import TreeModel
from geolin_ros.robots import locate
from geolin_ros.typing import Array
from geolin_ros.urdf.shapes import read_shapes

STRONGEST = 20.0  # an effort limit above this many times weight times size of the robot is made up
FASTEST = 100.0  # a velocity limit above this [rad/s or m/s] is made up
LARGEST_RADIUS = 5.0
"""A link's radius of gyration above this many times its robot's size is a mistake in units."""
MOST_TURNS = 2.0  # a joint limit beyond this many turns is in degrees
LARGEST_ROBOT = 50.0  # longer robots [m] are written in millimetres
DENSEST = 25_000.0  # no metal is as dense [kg/m^3]
BALLS = (300.0, 12_000.0)  # densities of balls, as feet are, whose moments are the same
PLACEHOLDERS = 3  # from so many links of one mere diagonal on, somebody made it up
MILLIMETRES, GRAMS = 'check the units: m, not mm', 'check the units: kg, not g'
ACTUATOR = "write the actuator's limit"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('file', help='a URDF, xacro or MJCF file, or a bundled robot')
    add_file_arguments(parser)
    parser.add_argument('--json', action='store_true', help='print the findings as JSON')
    about = 'exit with status 1 also for warnings'
    parser.add_argument('--strict', action='store_true', help=about)


def run(options: argparse.Namespace) -> int:
    """Print the findings, worst first; return 1 if the file should not be used as it is."""
    file = locate(options.file)
    found, model = lint(file, options.root)
    counts = {s: sum(finding.severity == s for finding in found) for s in SEVERITIES}
    findings = [dataclasses.asdict(finding) for finding in found]
    lines = [*map(str, found), ', '.join(f'{count} {s}s' for s, count in counts.items())]
    if model is not None:
        lines.append(model.summary().splitlines()[0])
    show(options, {'source': str(file), 'findings': findings}, '\n'.join(lines))
    return int(counts['error'] > 0 or (options.strict and counts['warning'] > 0))


class Report(NamedTuple):
    """All findings, worst first, and the robot (None if it cannot be read)."""

    findings: tuple[Finding, ...]
    model: TreeModel | None


def lint(source: str | Path, root: str | None = None) -> Report:
    """Return what there is to say about a URDF or MJCF text, or path.

    Never raises for a bad description: all that stops it from being read are findings. Of a path
    the meshes are looked for. ``root`` is the robot's first body in an MJCF with several trees.
    """
    name = str(source) if isinstance(source, Path) else 'URDF'
    model, description, found = None, None, list[Finding]()
    shapes: dict[str, list[Shape]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            if mjcf.is_mjcf(source):
                description = mjcf.read(source, root).description
            else:
                mjcf.check_no_root(source, root)
                description, found = urdf.examine(source)
                fixed = None if description is None else stands_on_world(description)
                found = [*found, *([fixed] if fixed else [])]
        except ConfigurationError:
            raise
        except GeolinError as error:
            found = _from_error('', error, name)
        errors = [finding for finding in found if finding.severity == 'error']
        try:
            shapes = {} if mjcf.is_mjcf(source) else read_shapes(source)
        except GeolinError as error:
            found += _from_error('', error, name) if not errors else []
        if description is not None:
            if not errors:
                model, errors = _model(description)
                found += errors
            size = math.inf if tree_findings(description) else _size(description)
            found += _links(description, size, _boxes(shapes))
            found += _joints(description, size)
            found += _whole(size, model)
        if isinstance(source, Path):
            found += _meshes(shapes, source)
    found = merged(finding for finding in found if not _follows(finding, errors))
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    named = (f if f.element else dataclasses.replace(f, element='the file') for f in found)
    return Report(tuple(named), model)


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


def _whole(size: float, model: TreeModel | None) -> Iterator[Finding]:
    if LARGEST_ROBOT < size < math.inf:
        problem = f'is {size:.4g} m long from its root to its farthest joint'
        yield Finding('warning', 'the robot', problem, MILLIMETRES)
    if model is not None and not 0.01 <= model.total_mass <= 10_000.0:
        problem = f'total mass is {model.total_mass:.3g} kg'
        yield Finding('warning', 'the robot', problem, GRAMS)


def _links(description: Description, size: float, boxes: dict[str, Array]) -> Iterator[Finding]:
    moved = {joint.child for joint in description.joints if joint.kind != 'fixed'}
    alike = {link.name: _alike_entries(link) for link in description.links}
    how_often = Counter(alike.values())
    for link in description.links:
        where = f'link {link.name!r}'
        warn = partial(Finding, 'warning', where)
        mass, com, inertia = mass_properties(link.inertia)
        distance = float(np.linalg.norm(com))
        if not link.inertia.any():
            if link.name in moved:
                fix = 'give it an <inertial> unless it is a frame'
                yield Finding('note', where, 'moves but has no inertia of its own', fix)
            continue
        entries = alike[link.name]
        made_up = entries.startswith('inertia') or (entries and how_often[entries] >= PLACEHOLDERS)
        if made_up:
            fix = 'take the tensor from CAD, or that of a box of its mass and size'
            yield warn(f'{entries} is a placeholder', fix)
        else:
            yield from _moments(link, size)
        if distance > LARGEST_RADIUS * size:
            problem = f'centre of mass {distance:.3g} m away in a robot of {size:.3g} m'
            yield warn(problem, MILLIMETRES)
        if link.name not in boxes or mass <= 0.0:
            continue
        lower, upper = boxes[link.name]
        extent = upper - lower
        shown, margin = ' x '.join(f'{side:.3g}' for side in extent), 0.5 * extent + 0.01
        if np.any(com > upper + margin) or np.any(com < lower - margin):
            place = np.round(com, 4).tolist()
            yield warn(
                f'centre of mass {place} m lies outside of its shapes, {shown} m', MILLIMETRES
            )
            continue
        if mass > DENSEST * extent.prod() > 0.0:
            yield warn(f'{mass:.4g} kg in shapes of {shown} m is denser than any metal', GRAMS)
        reach = np.maximum(upper - com, com - lower) ** 2
        largest, moments = mass * (reach.sum() - reach), np.diag(inertia)
        axis = int(np.argmax(moments / np.maximum(largest, 1e-300)))
        if not made_up and moments[axis] > 1.5 * largest[axis]:
            yield warn(
                f'i{"xyz"[axis] * 2} is {moments[axis]:.3g} kg m^2; {mass:.3g} kg in its shapes, '
                f'{shown} m, has at most {largest[axis]:.3g}',
                'check units and origin of <inertial>',
            )


def _alike_entries(link: Link) -> str:
    """Return the inertia of a link if all six entries, or all moments of no ball, are the same."""
    mass, com, inertia = mass_properties(link.inertia)
    largest, value = float(np.abs(inertia).max()), float(inertia[0, 0])
    rounding = 1e-9 * (largest + mass * float(com @ com))
    if largest <= rounding:
        return ''
    if np.ptp(inertia) <= rounding:
        return f'inertia {value:.3g} in all six entries'
    radius = math.sqrt(2.5 * max(value, 0.0) / mass) if mass > 0.0 else 0.0
    density = mass / (4.0 / 3.0 * math.pi * radius**3) if radius > 0.0 else 0.0
    is_mere = np.abs(inertia - value * np.eye(3)).max() <= rounding
    return f'diagonal inertia {value:.9g}' if is_mere and not BALLS[0] < density < BALLS[1] else ''


def _moments(link: Link, size: float) -> Iterator[Finding]:
    """Compare the principal moments with those of any body, and of one of this mass and size."""
    where = f'link {link.name!r}'
    warn = partial(Finding, 'warning', where)
    mass, com, _ = mass_properties(link.inertia)
    low, middle, high = moments = principal_moments(link.inertia)
    rounding = 1e-9 * (high + mass * float(com @ com))
    again = 'copy the inertia tensor about the centre of mass again'
    if low < 0.0:
        problem = f'inertia has a negative principal moment, {low:.3g} kg m^2'
        yield Finding('error', where, problem, again)
    elif low + middle < high * (1.0 - 1e-6) - rounding:
        yield warn(
            f'principal moments {low:.3g}, {middle:.3g}, {high:.3g} kg m^2 break the triangle '
            'inequality: no body has them',
            again,
        )
    elif mass > 0.0 and low + middle > high * (1.0 + 1e-6):
        sides = np.sqrt(6.0 * (moments.sum() - 2.0 * moments[::-1]) / mass)
        if mass > DENSEST * sides.prod():
            shown = ' x '.join(f'{side:.2g}' for side in sides)
            yield warn(
                f'{mass:.4g} kg with these moments of inertia is a block of {shown} m, denser '
                'than any metal',
                'check the units: kg and kg m^2; write the real tensor',
            )
    radius = math.sqrt(max(high, 0.0) / mass) if mass > 0.0 else 0.0
    if radius > LARGEST_RADIUS * size:
        problem = f'radius of gyration {radius:.3g} m in a robot of {size:.3g} m'
        yield warn(problem, 'check the units: kg m^2')


def _joints(description: Description, size: float) -> Iterator[Finding]:
    mass = sum(float(link.inertia[0, 0]) for link in description.links)
    for joint in description.joints:
        where, limits = f'joint {joint.name!r}', joint.limits
        warn, note = partial(Finding, 'warning', where), partial(Finding, 'note', where)
        if joint.kind not in SINGLE_AXIS_KINDS:
            continue
        norm = float(np.linalg.norm(joint.axis))
        if abs(norm - 1.0) > 1e-3:
            problem = f'axis has length {norm:.6g} and is read as a unit vector'
            yield note(problem, 'write a unit vector')
        lever = 1.0 if joint.kind == 'prismatic' else size
        if limits.effort == 0.0:
            yield warn('effort limit is 0', ACTUATOR)
        elif 0.0 < STRONGEST * mass * 9.81 * lever < limits.effort < math.inf:
            yield warn(
                f'effort limit {limits.effort:.4g} on a robot of {mass:.3g} kg and {lever:.3g} m '
                'cannot be real',
                f'{ACTUATOR}, or give effort_limit in the overlay: gains weigh efforts by it',
            )
        elif not math.isfinite(limits.effort) and joint.mimic is None:
            fix = 'add <limit effort="..."/>, in MJCF actuatorfrcrange="..."'
            yield note('no effort limit', fix)
        if limits.velocity == 0.0 or FASTEST < limits.velocity < math.inf:
            yield warn(f'velocity limit {limits.velocity:.4g} cannot be real', ACTUATOR)
        if joint.kind in ('revolute', 'prismatic') and limits.lower == limits.upper:
            problem = f'lower and upper limit are both {limits.lower:.4g}'
            yield warn(problem, 'write the range, or make the joint fixed')
        turns = max(abs(limits.lower), abs(limits.upper)) / math.tau
        if joint.kind == 'revolute' and MOST_TURNS < turns < math.inf:
            yield warn(
                f'limits {limits.lower:.4g} and {limits.upper:.4g} rad are {turns:.3g} turns',
                'check the units: rad, not degrees; or make the joint continuous',
            )


def _boxes(shapes: dict[str, list[Shape]]) -> dict[str, Array]:
    """Return corners (2, 3) [m] of the box around each link that has shapes, none a mesh."""
    found = {}
    for link, its in shapes.items():
        if not its or any(shape.kind == 'mesh' for shape in its):
            continue
        outlines = [shape.outline() for shape in its]
        lower = np.min([points.min(axis=0) - radius for points, radius in outlines], axis=0)
        upper = np.max([points.max(axis=0) + radius for points, radius in outlines], axis=0)
        found[link] = np.stack((lower, upper))
    return found


def _meshes(shapes: dict[str, list[Shape]], urdf_file: Path) -> Iterator[Finding]:
    """Yield a finding for each mesh that is not where the URDF says."""
    for name in dict.fromkeys(shape.file for its in shapes.values() for shape in its):
        scheme, colon, _ = name.partition('://')
        if not name or (colon and scheme not in ('package', 'model', 'file')):
            continue
        try:
            find_mesh(name, urdf_file)
        except UrdfError:
            fix = 'correct paths, or source the workspace of the package; dynamics need no meshes'
            yield Finding('warning', f'mesh {name}', 'not found', fix)


def _size(description: Description) -> float:
    """Return the longest way from the root along joint placements [m]; 1 m for a single body."""
    above, longest = {joint.child: joint for joint in description.joints}, 0.0
    for link in description.links:
        name, length = link.name, 0.0
        while name in above:
            length += float(np.linalg.norm(above[name].placement[:3, 3]))
            name = above[name].parent
        longest = max(longest, length)
    return longest if longest > 0.05 else 1.0
