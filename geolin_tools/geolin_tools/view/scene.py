# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The robot in 3D: bodies, base trail, plan, forces with their friction cones, centre of mass."""

from collections import deque
from typing import Any

import numpy as np

from geolin_ros.control.support import distance_inside, support_polygon
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import centre_of_mass
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.stream.outputs.forces import Force
from geolin_ros.typing import Array
from geolin_tools.view.bodies import Drawn
from geolin_tools.view.instant import Instant

BASE, LIMB, OTHER = (60, 84, 112), (178, 188, 200), (150, 162, 176)
TRAIL, FORCE, SLIPS, PUSH = (214, 110, 30), (30, 120, 70), (190, 40, 30), (120, 60, 160)
PLAN = (40, 100, 190)
INSIDE, OUTSIDE = (30, 120, 70), (190, 40, 30)
LONGEST_TRAIL = 300
"""Places of the base that are kept."""
APART = 0.005
"""Least distance between two of them [m]."""
ARROW = 0.6
"""Length of a force of the robot's weight [m]."""
CONE = 0.12
"""Height of a friction cone [m]."""
LIGHT = 1.5
"""Intensity of the light from all around, beside those of viser from above and below."""
ROUND = 24
"""Lines around a cone."""
LEAST = 0.005
"""Forces below this share of the weight have no arrow."""
SEEN = 5e-4
"""Lines and arrows that move by less are not sent again [m]."""


class Scene:
    """Draws one robot on a viser server.

    Parameters
    ----------
    server
        A viser.ViserServer, or a client of one.
    model, drawn
        The robot, and what it looks like.
    ground
        Height of the grid [m].
    friction
        Coefficient of the cones.
    """

    def __init__(
        self, server: Any, model: TreeModel, drawn: Drawn, ground: float, friction: float
    ) -> None:
        self.friction = friction
        self._scene, self._model = server.scene, model
        self._weight = model.total_mass * (float(np.linalg.norm(model.gravity)) or 9.81)
        self._trail: deque[Array] = deque(maxlen=LONGEST_TRAIL)
        self._ground = ground
        self._shown: dict[str, Any] = {}
        scene = self._scene
        # Shadows and an environment map take most of a frame where a browser draws in software.
        scene.configure_default_lights(cast_shadow=False)
        scene.configure_environment_map(None)
        scene.add_light_ambient('/light', intensity=LIGHT)
        scene.add_grid(
            '/ground',
            width=6.0,
            height=6.0,
            position=(0.0, 0.0, ground),
            cell_size=0.25,
            shadow_opacity=0.0,
        )
        self._bodies = [
            scene.add_frame(f'/robot/{number}', show_axes=False)
            for number in range(len(model.body_names))
        ]
        for number, solid in enumerate(drawn.solids):
            colour = BASE if solid.body == 0 else (LIMB if solid.body % 2 else OTHER)
            scene.add_mesh_simple(
                f'/robot/{solid.body}/{number}',
                solid.vertices.astype(np.float32),
                solid.faces.astype(np.uint32),
                color=colour,
                flat_shading=len(solid.faces) < 16,
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
        at = Kinematics(self._model, instant.state)
        self._place(at.H)
        self._show_trail(instant.state.H[:3, 3].copy())
        self._show_plan(instant.paths)
        self._show_forces(instant.forces)
        self._show_support(at, instant)

    def clear_trail(self) -> None:
        """Forget where the base was."""
        self._trail.clear()
        self._remove('/trail')

    def _show_trail(self, place: Array) -> None:
        if self._trail and np.linalg.norm(place - self._trail[-1]) < APART:
            return
        self._trail.append(place)
        if len(self._trail) > 1:
            points = np.array(self._trail)
            self._lines('/trail', np.stack((points[:-1], points[1:]), axis=1), TRAIL)

    def _show_plan(self, paths: tuple[Array, ...]) -> None:
        if not paths:
            self._remove('/plan')
            return
        lines = [np.stack((path[:-1], path[1:]), axis=1) for path in paths]
        self._lines('/plan', np.concatenate(lines), PLAN)

    def _show_forces(self, forces: tuple[Force, ...]) -> None:
        strong = [one for one in forces if np.linalg.norm(one.force) > LEAST * self._weight]
        if not strong:
            self._remove('/forces/arrows')
        else:
            points = np.array([one.point for one in strong])
            ends = points + np.array([one.force for one in strong]) * (ARROW / self._weight)
            colours = np.array([self._colour(one) for one in strong], dtype=np.uint8)
            self._arrows(np.stack((points, ends), axis=1), colours)
        self._show_cones([one for one in forces if one.is_contact])

    def _colour(self, one: Force) -> tuple[int, int, int]:
        if not one.is_contact:
            return PUSH
        normal, slip = one.force[2], float(np.linalg.norm(one.force[:2]))
        return FORCE if slip <= self.friction * normal else SLIPS

    def _show_cones(self, contacts: list[Force]) -> None:
        """Draw the cones |tangential| <= friction x normal as lines, the ground level."""
        if not contacts:
            self._remove('/forces/cones')
            return
        angles = 2.0 * np.pi * np.arange(ROUND) / ROUND
        wide = self.friction * CONE
        rim = np.stack((wide * np.cos(angles), wide * np.sin(angles), 0.0 * angles + CONE), 1)
        around = np.stack((rim, np.roll(rim, -1, axis=0)), axis=1)
        sides = np.stack((np.zeros_like(rim), rim), axis=1)
        cone = np.concatenate((around, sides))
        lines = np.concatenate([cone + one.point for one in contacts])
        self._lines('/forces/cones', lines, (120, 150, 130), thickness=0.002)

    def _show_support(self, at: Kinematics, instant: Instant) -> None:
        """Draw the centre of mass, on the ground below it, and the polygon of the supports."""
        if self._mass is None:
            return
        centre = centre_of_mass(self._model, instant.state).com
        ground = self._ground
        if not instant.supports:
            self._remove('/mass/polygon')
            colour = OTHER
        else:
            points = np.concatenate([one.world_points(at) for one in instant.supports])
            ground = float(points[:, 2].min())
            corners = support_polygon(points)
            colour = INSIDE if distance_inside(corners, centre[:2]) >= 0.0 else OUTSIDE
            flat = np.column_stack((corners, np.full(len(corners), ground + 0.002)))
            self._lines(
                '/mass/polygon', np.stack((flat, np.roll(flat, -1, axis=0)), axis=1), colour
            )
        if self._mass.color != colour:
            self._mass.color = colour
        self._mass.position = centre
        foot = np.array([*centre[:2], ground])
        self._lines('/mass/plumb', np.array([[centre, foot]]), colour, thickness=0.004)

    def _lines(
        self, name: str, points: Array, colour: tuple[int, int, int], thickness: float = 0.006
    ) -> None:
        colours = np.broadcast_to(np.array(colour, dtype=np.uint8), points.shape)
        if not self._send(name, points, colours):
            self._shown[name] = self._scene.add_line_segments(
                name, points.astype(np.float32), colours, thickness=thickness
            )

    def _arrows(self, points: Array, colours: Any) -> None:
        name = '/forces/arrows'
        if not self._send(name, points, colours):
            self._shown[name] = self._scene.add_arrows(
                name,
                points.astype(np.float32),
                colours,
                shaft_radius=0.008,
                head_radius=0.02,
                head_length=0.04,
            )

    def _send(self, name: str, points: Array, colours: Any) -> bool:
        """Send what is known by a name again if it looks different; return whether it is known."""
        known = self._shown.get(name)
        if known is None:
            return False
        if known.points.shape != points.shape or np.abs(known.points - points).max() > SEEN:
            known.points = points.astype(np.float32)
        known.colors = colours
        return True

    def _remove(self, name: str) -> None:
        known = self._shown.pop(name, None)
        if known is not None:
            known.remove()
