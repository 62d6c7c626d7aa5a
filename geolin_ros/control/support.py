# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a robot stands on: frames of it, and the points of them that press on the ground."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, ShapeError, check_choice
from geolin_ros.linearization.contacts import Contact, ContactKind
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.optional import optional
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

spatial = optional('scipy.spatial', extra='control')

_NUMBER = r'[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?'
_TEXT = re.compile(
    rf'(?P<frame>[^:@]+)(:(?P<size>{_NUMBER})(x(?P<width>{_NUMBER}))?)?'
    rf'(@(?P<offset>{_NUMBER},{_NUMBER},{_NUMBER}))?\Z'
)


@dataclass(frozen=True, eq=False)
class Support:
    """A contact frame of a link with the points that carry its load.

    Attributes
    ----------
    kind
        ``'point'``: it may turn about its origin, 3 rows; ``'surface'``: it lies flat, 6 rows.
    points : (k, 3)
        Where it touches the ground, in the contact frame [m].
    placement : (4, 4)
        Pose of the contact frame in ``frame``; a flat one's z axis is the normal of the ground.
    radius
        Of a ball about the contact frame, which then touches the ground below it; see `grounded`.
    """

    frame: str
    kind: ContactKind = 'point'
    points: ArrayLike = field(default_factory=lambda: np.zeros((1, 3)))
    placement: ArrayLike = field(default_factory=lambda: np.eye(4))
    radius: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no point or pose, and keep what nobody changes."""
        points = np.array(self.points, dtype=np.float64)
        placement = se3.check_pose(self.placement, f'placement in {self.frame!r}').copy()
        if points.ndim != 2 or points.shape[1] != 3 or not len(points):
            raise ShapeError(
                f'points of {self.frame!r} have shape {points.shape}, expected (k, 3)'
            )
        check_choice(f'kind of support {self.frame!r}', self.kind, get_args(ContactKind))
        if self.radius < 0.0 or (self.radius and self.kind != 'point'):
            raise ConfigurationError(
                f'support {self.frame!r} is a {self.kind} of radius {self.radius:g} m, expected '
                'a radius from 0 on, and of points alone'
            )
        for name, array in (('points', points), ('placement', placement)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def sole(
        cls, frame: str, length: float, width: float, *, offset: ArrayLike = (0, 0, 0)
    ) -> Support:
        """Return a flat rectangle [m], length along x and width along y, about ``offset``."""
        corners = [(x * length, y * width, 0.0) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
        placement = np.eye(4)
        placement[:3, 3] = offset
        return cls(frame, 'surface', np.array(corners), placement)

    @classmethod
    def parse(cls, text: str) -> Support:
        """Return the point, ball or sole of ``frame``, ``frame:RADIUS``, ``frame:LENGTHxWIDTH``.

        ``@x,y,z`` behind it is where in the frame it is; all in m. Raises `ConfigurationError` if
        the text is none of these, or a size is not positive.
        """
        match = _TEXT.match(text.strip())
        if match is None:
            raise ConfigurationError(
                f'support {text!r} is not understood, expected frame, frame:RADIUS or '
                'frame:LENGTHxWIDTH in metres, and @x,y,z behind it where it is off the origin '
                'of the frame'
            )
        placement, frame, size = np.eye(4), match['frame'], float(match['size'] or 0.0)
        placement[:3, 3] = [float(number) for number in (match['offset'] or '0,0,0').split(',')]
        if match['width'] is None:
            return cls(frame, placement=placement, radius=size)
        if not (size > 0.0 and float(match['width']) > 0.0):
            raise ConfigurationError(f'support {text!r} has no area, expected sizes above 0 m')
        return cls.sole(frame, size, float(match['width']), offset=placement[:3, 3])

    @property
    def rows(self) -> int:
        """How many velocities it holds at zero."""
        return 6 if self.kind == 'surface' else 3

    @property
    def contact(self) -> Contact:
        """The constraint that it is while it carries load."""
        return Contact(self.frame, self.kind, placement=self.placement)

    def at(self, model: TreeModel) -> Frame:
        """Return the contact frame; raises `UnknownNameError` if the robot has no such link."""
        link = model.frame(self.frame)
        return Frame(link.body, link.placement @ np.asarray(self.placement, dtype=np.float64))

    def grounded(self, kinematics: Kinematics) -> Support:
        """Return the point where a ball touches the ground now, z up; others as they are.

        The ground below a ball is level: up is against gravity. That another point of it is there
        as it rolls, A of the contact does not know: its columns by positions are not of rolling.
        """
        if not self.radius:
            return self
        model = kinematics.model
        pose = kinematics.pose(self.at(model))
        touching = level(pose)
        touching[:3, 3] = pose[:3, 3] - self.radius * upward(model)
        placement = np.asarray(self.placement) @ se3.relative(pose, touching)
        return Support(self.frame, self.kind, self.points, placement)

    def world_points(self, kinematics: Kinematics) -> Array:
        """Return its points (k, 3) in the world [m]."""
        H = kinematics.pose(self.grounded(kinematics).at(kinematics.model))
        return np.asarray(self.points, dtype=np.float64) @ H[:3, :3].T + H[:3, 3]


def support_texts(text: str) -> list[str]:
    """Return the texts for `Support.parse` of one that has commas between them."""
    return re.findall(r'[^,@]+(?:@[^,]*,[^,]*,[^,]*)?', text.replace(' ', ''))


def support_polygon(points: Array) -> Array:
    """Return the corners (k, 2) of the hull of points (k, 3) seen from above; 2 or 1 of a line."""
    flat = np.unique(np.round(points[:, :2], 9), axis=0)
    centred = flat - flat.mean(axis=0)
    spread = np.linalg.svd(centred, compute_uv=False)
    if len(flat) < 3 or spread[1] <= 1e-9 * max(1.0, spread[0]):
        along = centred @ np.linalg.svd(centred)[2][0]
        return flat[sorted({int(np.argmin(along)), int(np.argmax(along))})]
    return np.asarray(flat[spatial.ConvexHull(flat).vertices])


def polygon_centre(corners: Array) -> Array:
    """Return the centre of area (2,); of a line its middle."""
    if len(corners) < 3:
        return np.asarray(corners.mean(axis=0))
    origin = corners[0]
    a, b = corners[1:-1] - origin, corners[2:] - origin
    areas = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return np.asarray(origin + areas @ (a + b) / (3.0 * areas.sum()))


def distance_inside(corners: Array, point: Array) -> float:
    """Return how far a point (2,) is inside a polygon, negative outside; at most 0 of a line."""
    ahead = np.roll(corners, -1, axis=0)
    edges = ahead - corners
    lengths = np.linalg.norm(edges, axis=1)
    share = np.sum((point - corners) * edges, axis=1) / np.maximum(lengths**2, 1e-300)
    nearest = corners + np.clip(share, 0.0, 1.0)[:, None] * edges
    distance = float(np.min(np.linalg.norm(point - nearest, axis=1)))
    left = edges[:, 0] * (point - corners)[:, 1] - edges[:, 1] * (point - corners)[:, 0]
    return distance if len(corners) > 2 and np.all(left >= 0.0) else -distance


def upward(model: TreeModel) -> Array:
    """Return the direction (3,) against gravity; z without gravity."""
    size = float(np.linalg.norm(model.gravity))
    return -model.gravity / size if size else np.array([0.0, 0.0, 1.0])


def level(H: ArrayLike) -> Array:
    """Return a pose turned upright: z up, x as before seen from above (y if x points up)."""
    pose = np.array(H, dtype=np.float64)
    x, y = pose[:2, 0]
    if np.hypot(x, y) < 1e-6:
        y, x = -pose[0, 1], pose[1, 1]
    pose[:3, :3] = se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, np.arctan2(y, x)])[:3, :3]
    return pose
