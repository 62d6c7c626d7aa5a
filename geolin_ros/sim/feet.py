# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Feet: the frames of a robot that may touch the floor, and the balls by which they do.

A point touches by a ball about its contact frame. A sole touches by small balls at its points: the
floor then knows nothing that the points of its `Support` do not say.
"""

import re
from dataclasses import dataclass

import numpy as np

from geolin_ros.control.support import Support
from geolin_ros.errors import ConfigurationError
from geolin_ros.typing import Array

BALL_RADIUS = 0.02
"""Of a foot whose URDF has no ball and no box [m]."""
SMALL_RADIUS = 0.005
"""Of the balls of a sole, and of a point that is no ball [m]."""


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


def support_of_shapes(frame: str, shapes: list[Shape]) -> Support:
    """Return what a link's collision shapes make of it.

    A single ball is a point; boxes, or several balls, are a sole whose contact frame lies amid
    their lowest points, z up; without any it is a ball of ``BALL_RADIUS`` about the origin.
    """
    placement = np.eye(4)
    if not shapes:
        return Support(frame, radius=BALL_RADIUS)
    if len(shapes) == 1 and len(shapes[0].half_size) == 1:
        placement[:3, 3] = shapes[0].placement[:3, 3]
        return Support(frame, placement=placement, radius=shapes[0].half_size[0])
    points = np.concatenate([shape.lowest_points() for shape in shapes])
    placement[:3, 3] = 0.5 * (points.max(axis=0) + points.min(axis=0))
    return Support(frame, 'surface', points - placement[:3, 3], placement)


def balls(support: Support) -> tuple[Array, float]:
    """Return the centres (k, 3) in the link's axes and the radius of what touches the floor."""
    placement = np.asarray(support.placement, dtype=np.float64)
    points = np.array(support.points, dtype=np.float64)
    if support.kind == 'surface':
        points[:, 2] += SMALL_RADIUS
    return points @ placement[:3, :3].T + placement[:3, 3], support.radius or SMALL_RADIUS


def parse_feet(text: str) -> list[str | Support]:
    """Return the feet of a list with commas between them.

    Each is a frame, whose shape is then the URDF's, or the text of a `Support`: ``frame:RADIUS``
    for a ball, ``frame:LENGTHxWIDTH`` for a sole, ``@x,y,z`` behind either.

    Raises
    ------
    ConfigurationError
        If the list is empty, or an entry is not understood.
    """
    parts = re.findall(r'[^,@]+(?:@[^,]*,[^,]*,[^,]*)?', text)
    if not parts:
        raise ConfigurationError(f'feet {text!r} name no frame, expected frame,frame,...')
    return [parse_foot(part) for part in parts]


def parse_foot(text: str) -> str | Support:
    """Return a foot of such a list; errors as there."""
    return Support.parse(text) if ':' in text or '@' in text else text.strip()


def text_of(support: Support) -> str:
    """Return the text that `Support.parse` reads; of a sole it is the rectangle around it."""
    x, y, z = np.asarray(support.placement)[:3, 3]
    offset = f'@{x:.6g},{y:.6g},{z:.6g}' if any((x, y, z)) else ''
    if support.kind == 'point':
        return f'{support.frame}:{support.radius:.6g}{offset}'
    length, width, _ = np.ptp(np.asarray(support.points), axis=0)
    return f'{support.frame}:{length:.6g}x{width:.6g}{offset}'
