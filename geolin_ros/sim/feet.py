# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Feet: the frames of a robot that may touch the floor, and the shapes that do."""

import re
from dataclasses import dataclass

import numpy as np

from geolin_ros.errors import ConfigurationError
from geolin_ros.typing import Array

BALL_RADIUS = 0.02
SOLE_THICKNESS = 0.02
_SIZE = re.compile(r'(?P<length>[0-9.]+)(x(?P<width>[0-9.]+))?\Z')


@dataclass(frozen=True)
class Foot:
    """A frame with its shape, as `Foot.parse` reads it from a text.

    Attributes
    ----------
    frame
        Link of the description.
    size
        Empty: the balls and boxes of the link's collision geometry; without any, a ball of
        ``BALL_RADIUS`` about the origin. One number: a ball of this radius there. Two: a
        rectangular sole, length along x and width along y [m], whose lower face holds the origin.
    """

    frame: str
    size: tuple[float, ...] = ()

    @classmethod
    def parse(cls, text: str) -> 'Foot':
        """Return the foot of ``frame``, ``frame:radius`` or ``frame:LENGTHxWIDTH`` [m].

        Raises
        ------
        ConfigurationError
            If the text is none of these, or a size is not positive.
        """
        frame, _, size = text.strip().partition(':')
        match = _SIZE.match(size)
        if not frame or (size and match is None):
            raise ConfigurationError(
                f'foot {text!r} is not understood, expected frame, frame:radius or '
                'frame:LENGTHxWIDTH in metres, such as FL_foot:0.02 or left_sole:0.18x0.06'
            )
        numbers = () if match is None else tuple(float(n) for n in size.split('x'))
        if any(number <= 0.0 for number in numbers):
            raise ConfigurationError(f'foot {text!r} has a size of 0, expected more than 0 m')
        return cls(frame, numbers)


@dataclass(frozen=True, eq=False)
class Shape:
    """A ball (``half_size`` has one number, the radius) or a box on a foot.

    Attributes
    ----------
    placement : (4, 4)
        Pose in the frame of the foot.
    """

    placement: Array
    half_size: tuple[float, ...]

    def lowest_points(self) -> Array:
        """Return the points (k, 3) in foot axes that touch the floor where these are level."""
        centre = self.placement[:3, 3]
        if len(self.half_size) == 1:
            return np.array([centre]) - (0.0, 0.0, self.half_size[0])
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        points = centre + corners * self.half_size @ self.placement[:3, :3].T
        lowest: Array = points[np.argsort(points[:, 2], kind='stable')[:4]]
        return lowest


def own_shapes(foot: Foot) -> list[Shape]:
    """Return the shape that the size of a foot stands for."""
    if len(foot.size) == 2:
        placement = np.eye(4)
        placement[2, 3] = 0.5 * SOLE_THICKNESS
        length, width = foot.size
        return [Shape(placement, (0.5 * length, 0.5 * width, 0.5 * SOLE_THICKNESS))]
    return [Shape(np.eye(4), foot.size or (BALL_RADIUS,))]
