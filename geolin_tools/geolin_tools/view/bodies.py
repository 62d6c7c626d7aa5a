# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What each link of a robot is drawn as: its shapes if they are found, else a capsule."""

from collections.abc import Mapping, Sequence
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
    """A surface of triangles that moves with a body."""

    link: str
    body: int
    vertices: Array
    """(k, 3) in the frame of the body [m]"""
    faces: IntArray
    """(k, 3)"""


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
        found, note = _solids_of_link(shapes.get(link, ()), path)
        solids += [Solid(link, frame.body, *_moved(frame.placement, *one)) for one in found]
        notes += [f'link {link!r}: {note}'] if note else []
    bare = set(range(len(model.body_names))) - {solid.body for solid in solids}
    for body in sorted(bare):
        name = model.body_names[body]
        solids += [Solid(name, body, *one) for one in _capsules(model, body)]
    return Drawn(tuple(solids), tuple(notes))


_Surface = tuple[Array, IntArray]


def _solids_of_link(shapes: Sequence[Shape], path: Path | None) -> tuple[list[_Surface], str]:
    """Return surfaces in the frame of the link, and what had to be left out."""
    note = ''
    for is_collision in (False, True):
        found = []
        try:
            for shape in shapes:
                if shape.is_collision == is_collision:
                    found.append(_surface(shape, path))
        except GeolinError as error:
            note = str(error)
            continue
        if found:
            return found, note
    return [], note


def _surface(shape: Shape, path: Path | None) -> _Surface:
    if shape.surface is not None:
        vertices, faces = shape.surface
        return _moved(shape.placement, vertices * shape.size, faces)
    make: Mapping[str, Any] = {
        'box': lambda: creation.box(shape.size),
        'sphere': lambda: creation.icosphere(subdivisions=2, radius=shape.size[0]),
        'cylinder': lambda: creation.cylinder(radius=shape.size[0], height=shape.size[1]),
        'capsule': lambda: creation.capsule(radius=shape.size[0], height=shape.size[1]),
        'mesh': lambda: _mesh(find_mesh(shape.file, path)),
    }
    mesh = make[shape.kind]()
    vertices = np.array(mesh.vertices, dtype=np.float64)
    if shape.kind == 'mesh':
        vertices *= shape.size
    return _moved(shape.placement, vertices, np.array(mesh.faces, dtype=np.int64))


def _mesh(path: Path) -> Any:
    load = trimesh.load  # which may say that it is not installed
    try:
        return load(path, force='mesh')
    except Exception as error:  # of many libraries, by file type
        raise UrdfError(f'mesh {path} is not read: {error}') from error


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
        mesh = creation.capsule(radius=radius, height=length)
        vertices = np.array(mesh.vertices)
        vertices[:, 2] -= vertices[:, 2].mean() - 0.5 * length
        turn = geometry.align_vectors((0.0, 0.0, 1.0), end)
        found.append(_moved(turn, vertices, np.array(mesh.faces, dtype=np.int64)))
    if not found:
        ball = creation.icosphere(subdivisions=2, radius=2.0 * THINNEST)
        found.append((np.array(ball.vertices), np.array(ball.faces, dtype=np.int64)))
    return found
