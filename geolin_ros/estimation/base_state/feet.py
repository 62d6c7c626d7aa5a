# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where an IMU sees the points of the feet, by the joint positions."""

from collections.abc import Sequence

import numpy as np

from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.spatial.se3 import cross3, inverse
from geolin_ros.typing import Array, IntArray

CORNERS = np.array([(x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)])


def placed(model: TreeModel, contact: Contact) -> Frame:
    """Return the frame of a contact, on its body."""
    link = model.frame(contact.frame)
    own = np.eye(4) if contact.placement is None else np.asarray(contact.placement)
    return Frame(link.body, link.placement @ own)


def velocities(at: Kinematics, bodies: IntArray, places: Array) -> Array:
    """Return what takes nu to [linear; angular] of points (k, 4) on bodies, (k, 6, m).

    In axes of the world; ``places`` are in those of the bodies [m].
    """
    R, J = at.H[bodies, :3, :3], at.J[bodies]
    arms = np.array([cross3(place[:3]) for place in places])
    return np.concatenate((R @ (J[:, :3] - arms @ J[:, 3:]), R @ J[:, 3:]), axis=1)


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
        self.model, self.contacts = model, tuple(contacts)
        self.base_H_imu = at.placement
        self.imu_H_base = inverse(at.placement)
        points = []
        for contact in contacts:
            at = placed(model, contact)
            corners = CORNERS * sole if contact.kind == 'surface' else np.zeros((1, 3))
            axes = model.frame(contact.frame).placement[:3, :3]
            points += [(contact.frame, at.body, at.placement @ (*c, 1.0), axes) for c in corners]
        names, bodies, places, turns = zip(*points, strict=True)
        self.names = list(names)
        self._bodies, self._places, self._axes = (
            np.array(bodies),
            np.array(places),
            np.array(turns),
        )

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
        H = self.imu_H_base @ at.H[self._bodies]
        h = (H @ self._places[:, :, np.newaxis])[:, :3, 0]
        J = self.imu_H_base[:3, :3] @ velocities(at, self._bodies, self._places)[:, :3, 6:]
        return h, J, H[:, :3, :3] @ self._axes
