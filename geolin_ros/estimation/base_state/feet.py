# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where an IMU sees the points of the feet, by the joint positions."""

from collections.abc import Sequence

import numpy as np

from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial.se3 import cross3, inverse
from geolin_ros.typing import Array

CORNERS = np.array([(x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)])


class Feet:
    """Points of contact frames: the origin of a point, four corners about that of a surface.

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

    Raises
    ------
    ConfigurationError
        If the base is fixed, the IMU is not on it, or there are no contacts.
    UnknownNameError
        If a link is not part of the robot.
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
        self.model = model
        self.base_H_imu = at.placement
        self.imu_H_base = inverse(at.placement)
        self._frames = [model.frame(contact.frame) for contact in contacts]
        points = [CORNERS * sole if c.kind == 'surface' else np.zeros((1, 3)) for c in contacts]
        self._points = [
            corners if c.placement is None else corners @ placed[:3, :3].T + placed[:3, 3]
            for c, corners, placed in (
                (c, corners, np.eye(4) if c.placement is None else np.asarray(c.placement))
                for c, corners in zip(contacts, points, strict=True)
            )
        ]
        self.names = [
            c.frame for c, corners in zip(contacts, points, strict=True) for _ in corners
        ]

    def seen(self, s: Array) -> tuple[Array, Array, Array]:
        """Return what the IMU sees at joint positions (n,), in its axes.

        Returns
        -------
        h : (K, 3)
            The points [m].
        J : (K, 3, n)
            Their derivatives by the joint positions.
        R : (K, 3, 3)
            Axes of their frames.
        """
        model = self.model
        at = Kinematics(model, model.state(np.eye(4), s, np.zeros(6), np.zeros(model.n)))
        imu_R_base = self.imu_H_base[:3, :3]
        h, J, R = [], [], []
        for frame, corners in zip(self._frames, self._points, strict=True):
            H = self.imu_H_base @ at.pose(frame)
            rows = at.jacobian(frame, expressed_in='mixed')[:, 6:]
            for corner in corners:
                arm = H[:3, :3] @ corner
                h.append(arm + H[:3, 3])
                J.append(imu_R_base @ rows[:3] - cross3(arm) @ imu_R_base @ rows[3:])
                R.append(H[:3, :3])
        return np.array(h), np.array(J), np.array(R)
