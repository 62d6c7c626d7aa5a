# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forces of the ground on feet that have no sensors, from joint efforts and the IMU."""

import numpy as np

from geolin_estimation.base_state.feet import Feet
from geolin_ros.dynamics.functions import Dynamics
from geolin_ros.dynamics.points import Points
from geolin_ros.errors import NotFiniteError
from geolin_ros.linearization.contacts.description import resolve
from geolin_ros.spatial.se3 import cross3
from geolin_ros.typing import Array

BASE = 0.1
"""What rows of the base count beside those of joints: pushes that nobody measures act there."""
LEAST = 1e-5
"""Of the size of all singular values: forces that change no row by more are taken to be none."""


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
