# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where an IMU sees the points of the feet, by the joint positions."""

from collections.abc import Sequence

import numpy as np

from geolin_ros.dynamics.points import Points
from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.linearization.contacts.description import resolve
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.spatial.se3 import inverse
from geolin_ros.typing import Array

CORNERS = np.array([(x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)])


class Feet:
    """Points of contact frames: the origin of a point, four corners about that of a surface.

    Raises `ConfigurationError` if the base is fixed, the IMU is not on it, or there are no
    contacts; `UnknownNameError` if a link is not part of the robot.

    Parameters
    ----------
    model
        A robot with a floating base.
    imu
        A link that is fixed to the base: where the IMU is, and its axes.
    contacts
        Frames that may touch the ground.
    sole
        Distance of the corners of a surface from its middle, along x and along y [m].

    Attributes
    ----------
    names : (K,)
        Frame of each point.
    axes : (K, 3, 3)
        Of the frames of the points, as `seen` last.
    """

    def __init__(
        self, model: TreeModel, imu: str, contacts: Sequence[Contact], sole: float = 0.05
    ) -> None:
        at = model.frame(imu)
        if model.base == 'fixed' or at.body != 0:
            raise ConfigurationError(
                f'IMU is on {imu!r} of robot {model.name!r} with a {model.base} base, expected a '
                f'link that is fixed to a floating base, as {model.base_link!r}'
            )
        if not contacts:
            raise ConfigurationError(
                f'robot {model.name!r} has no contacts, expected the frames of its feet, as '
                "contacts: ['left_foot point']"
            )
        self.model, self.contacts = model, tuple(contacts)
        self.base_H_imu = at.placement
        self.imu_H_base = inverse(at.placement)
        self.names: list[str] = []
        points: list[Frame] = []
        for contact in contacts:
            at, _ = resolve(model, contact)
            corners = CORNERS * sole if contact.kind == 'surface' else np.zeros((1, 3))
            for corner in corners:
                self.names.append(contact.frame)
                place = model.frame(contact.frame).placement.copy()
                place[:3, 3] = (at.placement @ (*corner, 1.0))[:3]
                points.append(Frame(at.body, place))
        self._points = Points(model, points)
        self.axes = np.zeros((len(points), 3, 3))
        self._state = model.neutral_state()
        self._state.H[:] = self.imu_H_base  # a world whose axes are those of the IMU

    def seen(self, s: Array) -> tuple[Array, Array]:
        """Return what the IMU sees at joint positions (n,), in its axes.

        Returns
        -------
        h : (K, 3)
            The points [m].
        J : (K, 6, 6 + n)
            What takes base twist and joint rates to [linear; angular] of the points.
        """
        self._state.s[:] = s
        (h,), (self.axes,), (J,) = self._points(self._state.data[np.newaxis])
        return h, J

    def lowest(self, s: Array, H: Array) -> float:
        """Return the height [m] of the lowest point at joint positions (n,) and a base pose H."""
        imu = H @ self.base_H_imu
        return float(np.min(self.seen(s)[0] @ imu[2, :3]) + imu[2, 3])
