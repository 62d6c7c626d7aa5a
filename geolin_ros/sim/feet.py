# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Feet: the frames of a robot that may touch the floor, and the balls by which they do.

A point foot is a ball about its contact frame. A sole touches by small balls at its points: the
floor then knows nothing that the points of its `Support` do not say.
"""

import re
from dataclasses import dataclass

import numpy as np

from geolin_ros.control.support import Support
from geolin_ros.errors import ConfigurationError
from geolin_ros.typing import Array

BALL_RADIUS = 0.02
SOLE_RADIUS = 0.005


@dataclass(frozen=True, eq=False)
class Foot:
    """A support with the radius of its balls [m].

    Raises
    ------
    ConfigurationError
        If the radius is not positive.
    """

    support: Support
    radius: float = BALL_RADIUS

    def __post_init__(self) -> None:
        """Refuse a radius that no ball has."""
        if not self.radius > 0.0:
            raise ConfigurationError(
                f'foot {self.support.frame!r} has balls of radius {self.radius:g} m, expected '
                'more than 0'
            )

    @property
    def centres(self) -> Array:
        """Centres of the balls (k, 3) in the link's axes [m]."""
        placement = np.asarray(self.support.placement, dtype=np.float64)
        points = np.array(self.support.points, dtype=np.float64)
        if self.support.kind == 'surface':
            points[:, 2] += self.radius
        return np.asarray(points @ placement[:3, :3].T + placement[:3, 3])


@dataclass(frozen=True)
class Shape:
    """A ball (one half size, the radius) or a box of a link: pose, and half sizes [m]."""

    placement: Array
    half_size: tuple[float, ...]

    def lowest_points(self) -> Array:
        """Return the points (k, 3) that touch the floor where the link's z axis points up."""
        centre = self.placement[:3, 3]
        if len(self.half_size) == 1:
            return np.array([centre]) - (0.0, 0.0, self.half_size[0])
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        points = centre + corners * self.half_size @ self.placement[:3, :3].T
        lowest: Array = points[np.argsort(points[:, 2], kind='stable')[:4]]
        return lowest


def foot_of_shapes(frame: str, shapes: list[Shape]) -> Foot:
    """Return the foot that a link's collision shapes make.

    A single ball is a point foot; boxes, or several balls, are a sole whose contact frame lies
    amid their lowest points, z up; without any the foot is a ball of ``BALL_RADIUS`` about the
    origin of the link.
    """
    placement = np.eye(4)
    if not shapes:
        return Foot(Support(frame))
    if len(shapes) == 1 and len(shapes[0].half_size) == 1:
        placement[:3, 3] = shapes[0].placement[:3, 3]
        return Foot(Support(frame, placement=placement), shapes[0].half_size[0])
    points = np.concatenate([shape.lowest_points() for shape in shapes])
    placement[:3, 3] = 0.5 * (points.max(axis=0) + points.min(axis=0))
    return _sized(Support(frame, 'surface', points - placement[:3, 3], placement))


def parse_feet(text: str) -> list[str | Foot]:
    """Return the feet of a list with commas between them.

    Each is a frame, whose foot is then the URDF's, or the text of a `Support`:
    ``frame:LENGTHxWIDTH`` for a sole, ``@x,y,z`` behind either where it is off the origin.

    Raises
    ------
    ConfigurationError
        If the list is empty, or an entry is not understood.
    """
    parts = re.findall(r'[^,@]+(?:@[^,]*,[^,]*,[^,]*)?', text)
    if not parts:
        raise ConfigurationError(f'feet {text!r} name no frame, expected frame,frame,...')
    return [
        _sized(Support.parse(part)) if ':' in part or '@' in part else part.strip()
        for part in parts
    ]


def _sized(support: Support) -> Foot:
    return Foot(support, SOLE_RADIUS if support.kind == 'surface' else BALL_RADIUS)
