# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where an IMU sees the points of the feet, and what forces are at them, by joints and IMU."""

from collections.abc import Sequence

import numpy as np

from geolin_ros.dynamics.functions import Dynamics
from geolin_ros.dynamics.points import Points
from geolin_ros.errors import ConfigurationError, NotFiniteError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.linearization.contacts.description import resolve
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.spatial.se3 import cross3, inverse
from geolin_ros.typing import Array

CORNERS = np.array([(x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
BASE = 0.1
"""What rows of the base count beside those of joints: pushes that nobody measures act there."""
LEAST = 1e-5
"""Of the size of all singular values: forces that change no row by more are taken to be none."""


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


class FootForces:
    """What the equations of motion say of the forces at the feet.

    Of the motion M nu_dot + h = [0; tau] + sum J_k' f_k, all but f_k is measured: no base pose is
    needed, as the accelerometer reads accelerations less gravity. The angular acceleration of the
    base counts as none. Least squares over all rows: those of joints say most, those of the base
    what straight legs do not. With w their weights and A = w J',

        (A' A + LEAST^2 tr(A' A) 1) f = A' w (what is lacking)

    Parameters
    ----------
    feet
        The robot, its IMU and its contacts: a force at a point, a wrench at a surface.
    """

    def __init__(self, feet: Feet) -> None:
        self._model, self._H = feet.model, feet.base_H_imu
        self._dynamics = Dynamics(feet.model)
        self._names = [contact.frame for contact in feet.contacts]
        self._points = Points(feet.model, [resolve(feet.model, c)[0] for c in feet.contacts])
        kinds = [contact.kind == 'surface' for contact in feet.contacts]
        rows = [(k, row) for k, flat in enumerate(kinds) for row in range(6 if flat else 3)]
        self._of_point, self._rows = np.array(rows).T.copy()
        m = feet.model.m
        self._state, self._motion = feet.model.neutral_state(), np.zeros(m)
        self._weights = np.where(np.arange(m) < 6, BASE, 1.0)

    def __call__(
        self, s: Array, r: Array, r_dot: Array, tau: Array, sample: Array
    ) -> dict[str, float]:
        """Return the size of the force on each frame [N].

        Raises `NotFiniteError` if numbers are so large that forces are not finite.

        Parameters
        ----------
        s, r, r_dot, tau : (n,)
            Joint positions, rates, accelerations and efforts [rad or m, 1/s, 1/s^2, N m or N].
        sample : (6,)
            [gyro; accelerometer] of the IMU, in its axes [rad/s, m/s^2].
        """
        state, motion, axes, arm = self._state, self._motion, self._H[:3, :3], self._H[:3, 3]
        turning = axes @ sample[:3]
        spin = cross3(turning)
        state.s[:], state.v[3:], state.r[:] = s, turning, r
        motion[:3] = axes @ sample[3:] - spin @ (spin @ arm) + self._model.gravity
        motion[6:] = r_dot
        lacking = self._dynamics.inverse_dynamics(state, motion)
        lacking[6:] -= tau
        (J,) = self._points(state.data[np.newaxis]).J
        with np.errstate(all='ignore'):
            A = self._weights * J[self._of_point, self._rows]
            G = A @ A.T
            G.ravel()[:: len(G) + 1] += LEAST**2 * G.trace()
            f = np.linalg.solve(G, A @ (self._weights * lacking))
            squares = np.where(self._rows < 3, f * f, 0.0)
            sizes = np.sqrt(np.bincount(self._of_point, squares)).tolist()
        if not np.isfinite(sizes).all():
            raise NotFiniteError(
                f'forces at the feet of robot {self._model.name!r} are {sizes}, expected finite '
                'numbers; look for large numbers in IMU and joint states'
            )
        return dict(zip(self._names, sizes, strict=True))
