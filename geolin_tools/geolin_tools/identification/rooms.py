# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the mass of a body may be: within the shapes of its links.

Of a body whose mass lies between two planes n'x = a and n'x = b the integral of
(n'x - a)(b - n'x) over its mass is not negative: linear in its pseudo-inertia, and it bounds
centre of mass and second moment alike [Wensing 2018, there for ellipsoids]. Thirteen directions n
make a hull of 26 faces.
"""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

from geolin_ros.control.soles import Shapes, shapes_of
from geolin_ros.description.shapes import Shape
from geolin_ros.errors import GeolinError
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array
from geolin_tools.identification.bodies import NUMBERS, pseudo_inertia

_SIGNS = np.array([n for n in product((0, 1, -1), repeat=3) if next((x for x in n if x), -1) > 0])
DIRECTIONS = _SIGNS / np.linalg.norm(_SIGNS, axis=1)[:, np.newaxis]
MARGIN = 0.1
"""Planes stand off the shapes by this part of their distance: cables and screws are not drawn."""


def rooms_of(model: TreeModel, source: str | Path) -> dict[str, Array]:
    """Return rows (13, 10) by body: their products with its inertial parameters are not negative.

    Rows are in units of the square of half the distance of the planes. Shapes are those of
    collisions, or visual ones where these are not read; bodies without any are left out.

    Parameters
    ----------
    model
        The robot.
    source
        Path or text of its URDF or MJCF; from the path of a URDF meshes are found.

    Raises
    ------
    UrdfError
        If a shape is malformed.
    """
    shapes, path = shapes_of(source)
    found = {}
    for body, name in enumerate(model.body_names):
        outlines = _outlines(model, body, shapes, path)
        if outlines:
            found[name] = _rows(outlines)
    return found


def _outlines(
    model: TreeModel, body: int, shapes: Shapes, path: Path | None
) -> list[tuple[Array, float]]:
    """Return points and radii of the shapes of a body, in its axes; none if a link's are not."""
    found: list[tuple[Array, float]] = []
    for link, frame in model.frames.items():
        if frame.body != body or not shapes.get(link):
            continue
        outlines = _outlines_of_link(shapes[link], path)
        if not outlines:
            return []
        H = frame.placement
        found += [(points @ H[:3, :3].T + H[:3, 3], radius) for points, radius in outlines]
    return found


def _outlines_of_link(shapes: Sequence[Shape], path: Path | None) -> list[tuple[Array, float]]:
    for is_collision in (True, False):
        try:
            found = [s.outline(path) for s in shapes if s.is_collision == is_collision]
        except GeolinError:
            continue
        if found:
            return found
    return []


def _rows(outlines: Sequence[tuple[Array, float]]) -> Array:
    bodies = [pseudo_inertia(unit) for unit in np.eye(NUMBERS)]
    along = [points @ DIRECTIONS.T for points, _ in outlines]
    radii = [radius for _, radius in outlines]
    low = np.min([x.min(axis=0) - r for x, r in zip(along, radii, strict=True)], axis=0)
    high = np.max([x.max(axis=0) + r for x, r in zip(along, radii, strict=True)], axis=0)
    off = MARGIN * (high - low)
    rows = np.empty((len(DIRECTIONS), NUMBERS))
    for k, (n, a, b) in enumerate(zip(DIRECTIONS, low - off, high + off, strict=True)):
        # tr(Q J) of J = [[Sigma, h], [h', m]]
        Q = np.zeros((4, 4))
        Q[:3, :3], Q[:3, 3], Q[3, 3] = -np.outer(n, n), (a + b) * n, -a * b
        rows[k] = [(Q * J).sum() / max(0.5 * (b - a), 1e-6) ** 2 for J in bodies]
    return rows
