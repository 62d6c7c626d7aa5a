# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The robot in 3D: bodies, base trail, plan, forces with their friction cones, centre of mass.

A link is drawn as its shapes if they are found, else as a capsule.
"""

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.control.soles import shapes_of
from geolin_ros.control.support import distance_inside, support_polygon
from geolin_ros.description.shapes import Shape, find_mesh, read_mesh
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import centre_of_mass
from geolin_ros.errors import GeolinError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.spatial import se3
from geolin_ros.stream.outputs.markers import Force
from geolin_ros.typing import Array
from geolin_tools.view.source import Instant

trimesh = optional('trimesh', extra='view')
creation = optional('trimesh.creation', extra='view')
geometry = optional('trimesh.geometry', extra='view')
BASE, LIMB, OTHER = (60, 84, 112), (178, 188, 200), (150, 162, 176)
TRAIL, FORCE, SLIPS, PUSH = (214, 110, 30), (30, 120, 70), (190, 40, 30), (120, 60, 160)
PLAN, CONES = (40, 100, 190), (120, 150, 130)
INSIDE, OUTSIDE = (30, 120, 70), (190, 40, 30)
LONGEST_TRAIL = 300  # places of the base that are kept
APART = 0.005  # least distance between two of them [m]
ARROW = 0.6  # length of a force of the robot's weight [m]
CONE = 0.12  # height of a friction cone [m]
LIGHT = 1.5  # intensity of the light from all around, beside those of viser from above and below
ROUND = 24  # lines around a cone
LEAST = 0.005  # forces below this share of the weight have no arrow
SEEN = 5e-4  # lines and arrows that move by less are not sent again [m]
NOTHING = np.zeros((0, 2, 3))
HEADS = {'shaft_radius': 0.008, 'head_radius': 0.02, 'head_length': 0.04}
THIN = 0.08  # radius of a capsule, of its length,
THICKEST, THINNEST = 0.04, 0.008  # within these [m]


class Solid(NamedTuple):
    """A mesh of trimesh that moves with a body, in its frame [m]."""

    link: str
    body: int
    mesh: Any


class Drawn(NamedTuple):
    """All solids of a robot, and a sentence about each link that is drawn otherwise."""

    solids: tuple[Solid, ...]
    notes: tuple[str, ...]


def drawn(model: TreeModel, source: str | Path) -> Drawn:
    """Return what a robot of a path or text of URDF or MJCF is drawn as.

    Of each link its visual shapes; if a mesh of them is not found, its collision shapes without
    such meshes. A body that then has nothing is drawn as capsules from its origin to its joints.
    Raises `UrdfError` if a shape is malformed.
    """
    shapes, path = shapes_of(source)
    solids, notes = [], []
    for link, frame in model.frames.items():
        for is_collision in (False, True):
            own = [one for one in shapes.get(link, ()) if one.is_collision == is_collision]
            try:
                meshes = [_mesh(one, path).apply_transform(frame.placement) for one in own]
            except GeolinError as error:
                notes.append(f'link {link!r}: {error}')
                continue
            if meshes:
                solids += [Solid(link, frame.body, mesh) for mesh in meshes]
                break
    with_links = {frame.body for frame in model.frames.values()}  # others are within joints
    for body in sorted(with_links - {solid.body for solid in solids}):
        solids += [Solid(model.body_names[body], body, mesh) for mesh in _capsules(model, body)]
    return Drawn(tuple(solids), tuple(notes))


def _mesh(shape: Shape, path: Path | None) -> Any:
    """Return a shape in the frame of its link."""
    if shape.surface is not None:
        mesh = trimesh.Trimesh(*shape.surface, process=False).apply_scale(shape.size)
    elif shape.kind == 'mesh':
        mesh = read_mesh(find_mesh(shape.file, path), process=True).apply_scale(shape.size)
    elif shape.kind == 'box':
        mesh = creation.box(shape.size)
    elif shape.kind == 'sphere':
        mesh = creation.icosphere(subdivisions=2, radius=shape.size[0])
    else:
        make = creation.cylinder if shape.kind == 'cylinder' else creation.capsule
        mesh = make(radius=shape.size[0], height=shape.size[1])
    return mesh.apply_transform(shape.placement)


def _capsules(model: TreeModel, body: int) -> list[Any]:
    """Return capsules from the origin of a body to the joints on it; of none, a ball."""
    tree, found = model.tree, []
    for child in np.flatnonzero(np.asarray(tree.parent) == body):
        end = np.asarray(tree.translation[child])
        length = float(np.linalg.norm(end))
        if child == 0 or length < THINNEST:
            continue
        radius = float(np.clip(THIN * length, THINNEST, THICKEST))
        mesh = creation.capsule(radius=radius, height=length)
        mesh.apply_translation((0.0, 0.0, 0.5 * length - mesh.vertices[:, 2].mean()))
        found.append(mesh.apply_transform(geometry.align_vectors((0.0, 0.0, 1.0), end)))
    return found or [creation.icosphere(subdivisions=2, radius=2.0 * THINNEST)]


class Scene:
    """Draws one robot on a viser server, a grid at the height ``ground`` [m].

    ``friction`` is the coefficient of the cones.
    """

    def __init__(
        self, server: Any, model: TreeModel, drawn: Drawn, ground: float, friction: float
    ) -> None:
        self.friction = friction
        self._scene, self._model, self._ground = server.scene, model, ground
        self._weight = model.total_mass * (float(np.linalg.norm(model.gravity)) or 9.81)
        self._trail: deque[Array] = deque(maxlen=LONGEST_TRAIL)
        self._shown: dict[str, Any] = {}
        scene = self._scene
        # Shadows and an environment map take most of a frame where a browser draws in software.
        scene.configure_default_lights(cast_shadow=False)
        scene.configure_environment_map(None)
        scene.add_light_ambient('/light', intensity=LIGHT)
        grid = {'width': 6.0, 'height': 6.0, 'cell_size': 0.25, 'shadow_opacity': 0.0}
        scene.add_grid('/ground', position=(0.0, 0.0, ground), **grid)
        self._bodies = [
            scene.add_frame(f'/robot/{number}', show_axes=False)
            for number in range(len(model.body_names))
        ]
        for number, solid in enumerate(drawn.solids):
            scene.add_mesh_simple(
                f'/robot/{solid.body}/{number}',
                solid.mesh.vertices.astype(np.float32),
                solid.mesh.faces.astype(np.uint32),
                color=BASE if solid.body == 0 else (LIMB if solid.body % 2 else OTHER),
                flat_shading=len(solid.mesh.faces) < 16,
            )
        self._mass = None
        if model.base == 'floating':
            self._mass = scene.add_icosphere('/mass/centre', radius=0.02, color=INSIDE)

    def pose(self, state: State) -> None:
        """Put the bodies where a state has them."""
        self._place(Kinematics(self._model, state).H)

    def _place(self, H: Array) -> None:
        for handle, pose in zip(self._bodies, H, strict=True):
            handle.position = pose[:3, 3]
            handle.wxyz = np.roll(se3.quaternion_from_rotation(pose[:3, :3]), 1)

    def show(self, instant: Instant) -> None:
        """Draw everything of an instant."""
        at, place = Kinematics(self._model, instant.state), instant.state.H[:3, 3].copy()
        self._place(at.H)
        if not self._trail or np.linalg.norm(place - self._trail[-1]) >= APART:
            self._trail.append(place)
            self._lines('/trail', _along(np.array(self._trail)), TRAIL)
        self._lines('/plan', np.concatenate([NOTHING, *map(_along, instant.paths)]), PLAN)
        self._show_forces(instant.forces)
        self._show_support(at, instant)

    def _show_forces(self, forces: Sequence[Force]) -> None:
        """Draw arrows, and the cones |tangential| <= friction x normal, the ground level."""
        scale = ARROW / self._weight
        strong = [one for one in forces if np.linalg.norm(one.force) > LEAST * self._weight]
        arrows = np.array([(one.point, one.point + scale * one.force) for one in strong])
        colours = np.array([self._colour(one) for one in strong], dtype=np.uint8)
        self._draw('/forces/arrows', self._scene.add_arrows, arrows, colours, **HEADS)
        angles = 2.0 * np.pi * np.arange(ROUND) / ROUND
        wide = self.friction * CONE
        rim = np.stack((wide * np.cos(angles), wide * np.sin(angles), 0.0 * angles + CONE), 1)
        sides = np.stack((np.zeros_like(rim), rim), axis=1)
        cone = np.concatenate((_around(rim), sides))
        cones = [cone + one.point for one in forces if one.is_contact]
        self._lines('/forces/cones', np.concatenate([NOTHING, *cones]), CONES, thickness=0.002)

    def _colour(self, one: Force) -> tuple[int, int, int]:
        if not one.is_contact:
            return PUSH
        return FORCE if np.linalg.norm(one.force[:2]) <= self.friction * one.force[2] else SLIPS

    def _show_support(self, at: Kinematics, instant: Instant) -> None:
        """Draw the centre of mass, on the ground below it, and the polygon of the supports."""
        if self._mass is None:
            return
        centre = centre_of_mass(self._model, instant.state).com
        ground, colour, polygon = self._ground, OTHER, NOTHING
        if instant.supports:
            points = np.concatenate([one.world_points(at) for one in instant.supports])
            ground = float(points[:, 2].min())
            corners = support_polygon(points)
            colour = INSIDE if distance_inside(corners, centre[:2]) >= 0.0 else OUTSIDE
            polygon = _around(np.column_stack((corners, np.full(len(corners), ground + 0.002))))
        self._lines('/mass/polygon', polygon, colour)
        if self._mass.color != colour:
            self._mass.color = colour
        self._mass.position = centre
        plumb = np.array([[centre, (*centre[:2], ground)]])
        self._lines('/mass/plumb', plumb, colour, thickness=0.004)

    def _lines(
        self, name: str, points: Array, colour: tuple[int, int, int], thickness: float = 0.006
    ) -> None:
        colours = np.broadcast_to(np.array(colour, dtype=np.uint8), points.shape)
        self._draw(name, self._scene.add_line_segments, points, colours, thickness=thickness)

    def _draw(
        self, name: str, add: Callable[..., Any], points: Array, colours: Any, **looks: float
    ) -> None:
        """Draw lines or arrows (k, 2, 3) in place of those of the same name."""
        known = self._shown.get(name)
        if not len(points):
            if known is not None:
                self._shown.pop(name).remove()
        elif known is None:
            self._shown[name] = add(name, points.astype(np.float32), colours, **looks)
        else:
            if known.points.shape != points.shape or np.abs(known.points - points).max() > SEEN:
                known.points = points.astype(np.float32)
            known.colors = colours


def _along(path: Array) -> Array:
    """Return the lines (k - 1, 2, 3) through places (k, 3)."""
    return np.stack((path[:-1], path[1:]), axis=1)


def _around(corners: Array) -> Array:
    """Return the lines (k, 2, 3) from corner to corner (k, 3) and back to the first."""
    return np.stack((corners, np.roll(corners, -1, axis=0)), axis=1)
