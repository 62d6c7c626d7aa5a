# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Feet: the frames of a robot that may touch the floor, and the balls by which they do.

A point touches by a ball about its contact frame. A sole touches by small balls at its points: the
floor then knows nothing that the points of its `Support` do not say.
"""

import re

import numpy as np

from geolin_ros.control.support import Support
from geolin_ros.errors import ConfigurationError
from geolin_ros.typing import Array

SMALL_RADIUS = 0.005
"""Of the balls of a sole, and of a point that is no ball [m]."""
ON, OFF = 0.3, 0.2
"""Thresholds of foot forces, in shares of what each foot carries when all do."""


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
    for a ball, ``frame:LENGTHxWIDTH`` for a sole, ``@x,y,z`` behind either. Raises
    `ConfigurationError` if the list is empty, or an entry is not understood.
    """
    parts = re.findall(r'[^,@]+(?:@[^,]*,[^,]*,[^,]*)?', text)
    if not parts:
        raise ConfigurationError(f'feet {text!r} name no frame, expected frame,frame,...')
    return [Support.parse(part) if ':' in part or '@' in part else part.strip() for part in parts]


def text_of(support: Support) -> str:
    """Return the text that `Support.parse` reads; of a sole it is the rectangle around it."""
    x, y, z = np.asarray(support.placement)[:3, 3]
    offset = f'@{x:.6g},{y:.6g},{z:.6g}' if any((x, y, z)) else ''
    if support.kind == 'point':
        return f'{support.frame}:{support.radius:.6g}{offset}'
    length, width, _ = np.ptp(np.asarray(support.points), axis=0)
    return f'{support.frame}:{length:.6g}x{width:.6g}{offset}'
