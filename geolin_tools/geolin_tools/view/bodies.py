# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What each link of a robot is drawn as: its shapes if they are found, else a capsule."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.control.soles import shapes_of
from geolin_ros.description.shapes import Shape, find_mesh
from geolin_ros.errors import GeolinError, UrdfError
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array, IntArray

trimesh = optional('trimesh', extra='view')
creation = optional('trimesh.creation', extra='view')
geometry = optional('trimesh.geometry', extra='view')
THIN = 0.08
"""Radius of a capsule, of its length,"""
THICKEST, THINNEST = 0.04, 0.008
"""within these [m]."""


class Solid(NamedTuple):
    """Triangles that move with a body: ``vertices`` (k, 3) in its frame [m], ``faces`` (k, 3)."""

    link: str
    body: int
    vertices: Array
    faces: IntArray


class Drawn(NamedTuple):
    """All solids of a robot, and a sentence about each link that is drawn otherwise."""

    solids: tuple[Solid, ...]
    notes: tuple[str, ...]


def drawn(model: TreeModel, source: str | Path) -> Drawn:
    """Return what a robot is drawn as.

    Of each link its visual shapes; if a mesh of them is not found, its collision shapes without
    such meshes. A body that then has nothing is drawn as capsules from its origin to its joints.
    Raises `UrdfError` if a shape is malformed.

    Parameters
    ----------
    source
        Path or text of its URDF or MJCF; from the path of a URDF meshes are found.
    """
    shapes, path = shapes_of(source)
    solids, notes = [], []
    for link, frame in model.frames.items():
        found, note = _surfaces(shapes.get(link, ()), path)
        solids += [Solid(link, frame.body, *_moved(frame.placement, *one)) for one in found]
        notes += [f'link {link!r}: {note}'] if note else []
    for body in sorted(set(range(len(model.body_names))) - {solid.body for solid in solids}):
        solids += [Solid(model.body_names[body], body, *one) for one in _capsules(model, body)]
    return Drawn(tuple(solids), tuple(notes))


_Surface = tuple[Array, IntArray]


def _surfaces(shapes: Sequence[Shape], path: Path | None) -> tuple[list[_Surface], str]:
    """Return surfaces in the frame of the link, and what had to be left out."""
    note = ''
    for is_collision in (False, True):
        try:
            found = [_surface(one, path) for one in shapes if one.is_collision == is_collision]
        except GeolinError as error:
            note = str(error)
            continue
        if found:
            return found, note
    return [], note


def _surface(shape: Shape, path: Path | None) -> _Surface:
    scale: Any = 1.0
    if shape.surface is not None:
        (vertices, faces), scale = shape.surface, shape.size
    elif shape.kind == 'mesh':
        (vertices, faces), scale = _arrays(_mesh(find_mesh(shape.file, path))), shape.size
    elif shape.kind == 'box':
        vertices, faces = _arrays(creation.box(shape.size))
    elif shape.kind == 'sphere':
        vertices, faces = _arrays(creation.icosphere(subdivisions=2, radius=shape.size[0]))
    else:
        make = creation.cylinder if shape.kind == 'cylinder' else creation.capsule
        vertices, faces = _arrays(make(radius=shape.size[0], height=shape.size[1]))
    return _moved(shape.placement, vertices * scale, faces)


def _mesh(path: Path) -> Any:
    load = trimesh.load  # which may say that it is not installed
    try:
        return load(path, force='mesh')
    except Exception as error:  # of many libraries, by file type
        raise UrdfError(f'mesh {path} is not read: {error}') from error


def _arrays(mesh: Any) -> _Surface:
    return np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int64)


def _moved(H: Array, vertices: Array, faces: IntArray) -> _Surface:
    return vertices @ H[:3, :3].T + H[:3, 3], faces


def _capsules(model: TreeModel, body: int) -> list[_Surface]:
    """Return capsules from the origin of a body to the joints on it; of none, a ball."""
    tree, found = model.tree, []
    for child in np.flatnonzero(np.asarray(tree.parent) == body):
        end = np.asarray(tree.translation[child])
        length = float(np.linalg.norm(end))
        if child == 0 or length < THINNEST:
            continue
        radius = float(np.clip(THIN * length, THINNEST, THICKEST))
        vertices, faces = _arrays(creation.capsule(radius=radius, height=length))
        vertices[:, 2] -= vertices[:, 2].mean() - 0.5 * length
        found.append(_moved(geometry.align_vectors((0.0, 0.0, 1.0), end), vertices, faces))
    return found or [_arrays(creation.icosphere(subdivisions=2, radius=2.0 * THINNEST))]
