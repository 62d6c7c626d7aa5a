# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forces of the ground on feet that have no sensors, from joint efforts and the IMU."""

import numpy as np

from geolin_ros.dynamics.functions import Dynamics
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import NotFiniteError
from geolin_ros.estimation.base_state.feet import Feet, placed, velocities
from geolin_ros.spatial.se3 import cross3
from geolin_ros.typing import Array

BASE = 0.1
"""What rows of the base count beside those of joints: pushes that nobody measures act there."""
SINGULAR = 1e-6
"""Of the largest singular value: forces that change no row by more are taken to be none."""


class FootForces:
    """What the equations of motion say of the forces at the feet.

    Of the motion M nu_dot + h = [0; tau] + sum J_k' f_k, all but f_k is measured: no base pose is
    needed, as the accelerometer reads accelerations less gravity. The angular acceleration of the
    base counts as none. Least squares over all rows: those of joints say most, those of the base
    what straight legs do not.

    Parameters
    ----------
    feet
        The robot, its IMU and its contacts: a force at a point, a wrench at a surface.
    """

    def __init__(self, feet: Feet) -> None:
        self._model, self._H = feet.model, feet.base_H_imu
        self._dynamics = Dynamics(feet.model)
        self._names = [contact.frame for contact in feet.contacts]
        frames = [placed(feet.model, contact) for contact in feet.contacts]
        self._bodies = np.array([frame.body for frame in frames])
        self._places = np.array([frame.placement[:, 3] for frame in frames])
        kinds = [contact.kind == 'surface' for contact in feet.contacts]
        self._rows = np.flatnonzero([row < 3 or flat for flat in kinds for row in range(6)])
        self._first = np.cumsum([0, *(6 if flat else 3 for flat in kinds[:-1])])

    def __call__(
        self, s: Array, r: Array, r_dot: Array, tau: Array, sample: Array
    ) -> dict[str, float]:
        """Return the size of the force on each frame [N].

        Parameters
        ----------
        s, r, r_dot, tau : (n,)
            Joint positions, rates, accelerations and efforts [rad or m, 1/s, 1/s^2, N m or N].
        sample : (6,)
            [gyro; accelerometer] of the IMU, in its axes [rad/s, m/s^2].

        Raises
        ------
        NotFiniteError
            If numbers are so large that forces are not finite.
        """
        model, axes, arm = self._model, self._H[:3, :3], self._H[:3, 3]
        turning = axes @ sample[:3]
        state = model.state(np.eye(4), s, np.concatenate((np.zeros(3), turning)), r)
        motion = np.zeros(6 + model.n)
        motion[:3] = axes @ sample[3:] - cross3(turning) @ cross3(turning) @ arm + model.gravity
        motion[6:] = r_dot
        lacking = self._dynamics.inverse_dynamics(state, motion).copy()
        lacking[6:] -= tau
        if not np.isfinite(lacking).all():
            raise NotFiniteError(
                f'forces at the feet of robot {model.name!r} are {lacking.tolist()}, expected '
                'finite numbers; look for large numbers in IMU and joint states'
            )
        at = Kinematics(model, state)
        J = velocities(at, self._bodies, self._places).reshape(-1, 6 + model.n)[self._rows]
        J[:, :6] *= BASE
        lacking[:6] *= BASE
        found = np.linalg.lstsq(J.T, lacking, rcond=SINGULAR)[0]
        return {
            name: float(np.linalg.norm(found[k : k + 3]))
            for name, k in zip(self._names, self._first, strict=True)
        }
