# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The filter about one robot: IMU samples and points on the ground in, the base out."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_estimation.base_state.feet import Feet
from geolin_estimation.kernels import invariant_filter as kernels
from geolin_ros.errors import NotFiniteError
from geolin_ros.spatial.se3 import rotation_from_rpy
from geolin_ros.typing import Array

LONGEST_STEP = 0.01
"""IMU samples are repeated over longer gaps in steps of this size [s]."""
ALL_CERTAIN: Mapping[str, float] = {}
BUFFER = 64
"""IMU samples are kept until the next correction, or until there are so many."""
LOST = 1e9
"""No place [m], velocity [m/s] or bias is as large; nor is its variance the square of it."""


@dataclass(frozen=True)
class Deviations:
    """Standard deviations of what is measured, and of what changes unseen.

    See ``deviation.*`` in the parameter table of the node for meanings and units.
    """

    gyro: float = 0.01
    accelerometer: float = 0.3
    tilt: float = 0.05
    velocity: float = 0.1
    gyro_bias: float = 0.01
    accelerometer_bias: float = 0.2
    gyro_walk: float = 1e-4
    accelerometer_walk: float = 1e-3
    slip: float = 0.1
    joint: float = 0.005
    point: float = 0.003


class BaseEstimate(NamedTuple):
    """The base, and the biases of its IMU; the arrays are its own."""

    H: Array
    """(4, 4) pose of the base in a world that starts below it, with z up."""
    v: Array
    """(6,) body twist [linear; angular] [m/s, rad/s]."""
    pose_covariance: Array
    """(6, 6) of place and turning, both in world axes [m, rad]."""
    twist_covariance: Array
    """(6, 6) of the twist, in base axes."""
    biases: Array
    """(6,) of gyro and accelerometer, in axes of the IMU [rad/s, m/s^2]."""
    bias_covariance: Array
    """(6, 6)"""
    on_ground: frozenset[str]
    """Frames that are taken to stand."""


class BaseFilter:
    """A right-invariant Kalman filter on SE_(2+K)(3) with IMU biases [Hartley 2020].

    Points on the ground stand, but for their slip and, of round feet, rolling. A point that is
    seen too far from where it stood is let go, and believed in again after ``distrust``; if all
    are, the velocity of the base is as uncertain as at the start.

    Parameters
    ----------
    radius
        Of feet that are balls about their points, which roll; 0: sharp [m].
    gate
        Largest squared distance of a point, in standard deviations.
    distrust
        How long a point that was let go does not count [s].
    flat_ground
        Standard deviation of the heights at which points land, about that of the first ones; 0:
        they are not known [m].

    Attributes
    ----------
    let_go
        How many points were let go.
    """

    def __init__(
        self,
        feet: Feet,
        deviations: Deviations | None = None,
        radius: float = 0.0,
        gate: float = 16.0,
        distrust: float = 0.1,
        flat_ground: float = 0.0,
    ) -> None:
        chosen = Deviations() if deviations is None else deviations
        self.feet, self.deviations, self.gate, self.distrust = feet, chosen, gate, distrust
        self._radius, self._flat, K = radius, flat_ground, len(feet.names)
        walks = chosen.gyro_walk, chosen.accelerometer_walk
        self._noise = np.square((chosen.gyro, chosen.accelerometer, *walks, chosen.slip))
        n = kernels.FEET + 3 * K
        self._X, self._b, self._P = (
            np.zeros((3, kernels.POINTS + K)),
            np.zeros(6),
            np.zeros((n, n)),
        )
        self._variances = np.einsum('ii->i', self._P)  # its diagonal
        variances = np.square((chosen.joint, chosen.point, chosen.velocity))
        self._rules = np.array((*variances[:2], gate, distrust, variances[2], LOST, 0.0, 0.0))
        self._scratch = np.zeros((n, kernels.FEET)), np.zeros((n, n)), np.zeros((n, n))
        self._small = np.zeros((3, 3)), np.zeros((6, kernels.FEET))
        self._active, self._until = np.zeros(K, dtype=np.bool_), np.zeros(K)
        self._axes = np.zeros((K, 3, 3))
        self._times, self._samples = np.zeros(1 + BUFFER), np.zeros((BUFFER, 6))
        self._kept, self._recent, self._newest = 0, np.zeros((2, 6)), np.zeros(6)
        self._gyro_rate = 1.0
        self.time, self.let_go = 0.0, 0

    def start(
        self, time: float, acceleration: Array, x: float = 0.0, y: float = 0.0, yaw: float = 0.0
    ) -> None:
        """Start upright by a mean of the accelerometer (3,) [m/s^2], the base at (x, y) [m, rad].

        At rest, or moving as fast as the deviation of the velocity says.
        """
        d, P = self.deviations, self._P
        up = acceleration / np.linalg.norm(acceleration)
        axes = self.feet.imu_H_base[:3, :3]
        forward = axes[:, 0] if abs(up @ axes[:, 0]) < 0.99 else axes[:, 2]  # nose up or down
        side = np.cross(up, forward)
        side /= np.linalg.norm(side)
        self._X[:], self._b[:], P[:] = 0.0, 0.0, 0.0
        turned = rotation_from_rpy((0.0, 0.0, yaw))
        self._X[:, :3] = turned @ (np.cross(side, up), side, up)
        self._X[:, 4] = (x, y, 0.0) - self._X[:, :3] @ self.feet.imu_H_base[:3, 3]
        P[0, 0] = P[1, 1] = d.tilt**2
        P[3:6, 3:6] = d.velocity**2 * np.eye(3)
        P[9:12, 9:12] = d.gyro_bias**2 * np.eye(3)
        P[12:15, 12:15] = d.accelerometer_bias**2 * np.eye(3)
        self._active[:], self._until[:], self._rules[6] = False, time, 0.0
        self._kept, self._times[0], self.time = 0, time, time
        self._newest = np.array((0.0, 0.0, 0.0, *acceleration))
        self._recent[0] = self._newest

    def propagate(self, time: float, sample: ArrayLike | None = None) -> None:
        """Go on to ``time`` [s] by an IMU sample (6,) = [gyro; accelerometer] taken then.

        Between two samples their mean counts; None holds the last one. The work is done at the
        next correction, for all samples since the last one.
        """
        if self._kept == BUFFER:
            self._carry()
        row = self._samples[self._kept]
        row[:] = self._newest if sample is None else sample
        if sample is not None:
            if time > self.time:
                self._gyro_rate = 1.0 / (time - self.time)
            self._newest = row
        self.time = max(time, self.time)
        self._kept += 1
        self._times[self._kept] = self.time

    def _carry(self) -> None:
        """Go on to the newest IMU sample."""
        count, (E, T, _) = self._kept, self._scratch
        if count == 0:
            return
        kernels.carry(
            *(self._X, self._b, self._P, self._active, self._recent, self._times[: 1 + count]),
            *(self._samples[:count], LONGEST_STEP, self.feet.model.gravity, self._noise, E, T),
        )
        self._times[0], self._kept = self.time, 0

    def correct(
        self,
        s: Array,
        on_ground: frozenset[str] | set[str],
        inverse_probabilities: Mapping[str, float] = ALL_CERTAIN,
    ) -> None:
        """Correct by joint positions (n,) while the frames ``on_ground`` touch it.

        ``inverse_probabilities`` of contact, by frame (at least 1): the variance of where a foot
        is has grown by so many times as much since the last correction. Raises `NotFiniteError` if
        the estimate is lost; `start` again.
        """
        passed = self._times[self._kept] - self._times[0]
        self._carry()
        for k, name in enumerate(self.feet.names):
            if self._active[k] and name in inverse_probabilities:
                row = kernels.FEET + 3 * k
                more = self._noise[4] * passed * (inverse_probabilities[name] - 1.0)
                self._variances[row : row + 3] += more
        h, J = self.feet.seen(s)
        X, (_, T, L) = self._X, self._scratch
        if self._radius > 0.0:
            kernels.roll(X, self._active, self.feet.axes, self._axes, self._radius)
        touching = np.array([name in on_ground for name in self.feet.names])
        let_go = kernels.meet(
            *(X, self._b, self._P, self._active, self._until, touching, self.time, h, J),
            *(self._rules, self._small[0], L, T),
        )
        if let_go == kernels.LOST:
            raise NotFiniteError(
                f'the base of robot {self.feet.model.name!r} is lost, expected numbers below '
                f'{LOST:g}; look for large numbers in IMU and joint states'
            )
        self.let_go += let_go
        if self._flat > 0.0 and self._rules[6] == 0.0 and self._active.any():
            self._rules[6:] = self._flat**2, X[2, kernels.POINTS :][self._active].mean()

    def estimate(self) -> BaseEstimate:
        """Return where the base is now."""
        self._carry()
        H, v, b, P = np.eye(4), np.empty(6), self._b, self._P
        pose, twist = np.empty((2, 6, 6))
        variance = self.deviations.gyro**2 * self._gyro_rate
        kernels.read_base(
            *(self._X, b, P, self._newest, self.feet.imu_H_base, variance, self._small[1]),
            *(H, v, pose, twist),
        )
        on_ground = frozenset(compress(self.feet.names, self._active))
        return BaseEstimate(H, v, pose, twist, b.copy(), P[9:15, 9:15].copy(), on_ground)
