# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The filter about one robot: IMU samples and points on the ground in, the base out."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geolin_ros.errors import NotFiniteError
from geolin_ros.estimation.base_state.feet import Feet
from geolin_ros.kernels import invariant_filter as kernels
from geolin_ros.spatial.se3 import cross3
from geolin_ros.typing import Array

LONGEST_STEP = 0.01
"""IMU samples are repeated over longer gaps in steps of this size [s]."""
START_TILT, START_VELOCITY = 0.05, 0.1
"""Standard deviations at the start [rad, m/s]."""
LOST = 1e9
"""No place [m], velocity [m/s] or bias is as large; nor is its variance the square of it."""


@dataclass(frozen=True)
class Deviations:
    """Standard deviations of what is measured, and of what changes unseen.

    Attributes
    ----------
    gyro, accelerometer
        Densities of white noise [rad/s/sqrt(Hz), m/s^2/sqrt(Hz)].
    gyro_bias, accelerometer_bias
        At the start [rad/s, m/s^2].
    gyro_walk, accelerometer_walk
        Densities of how biases change [rad/s^2/sqrt(Hz), m/s^3/sqrt(Hz)].
    slip
        Density of how points on the ground move [m/s/sqrt(Hz)].
    joint, point
        Joint positions [rad or m], and points by what the description has wrong [m].
    """

    gyro: float = 0.01
    accelerometer: float = 0.3
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
    feet
        The robot and its points.
    deviations
        How good everything is.
    radius
        Of feet that are balls about their points, which roll; 0: sharp [m].
    gate
        Largest squared distance of a point, in standard deviations.
    distrust
        How long a point that was let go does not count [s].

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
    ) -> None:
        chosen = Deviations() if deviations is None else deviations
        self.feet, self.deviations, self.gate, self.distrust = feet, chosen, gate, distrust
        self._radius, K = radius, len(feet.names)
        self._noise = np.square(
            (
                chosen.gyro,
                chosen.accelerometer,
                chosen.gyro_walk,
                chosen.accelerometer_walk,
                chosen.slip,
            )
        )
        n = kernels.FEET + 3 * K
        self._X, self._b, self._P = (
            np.zeros((3, kernels.POINTS + K)),
            np.zeros(6),
            np.zeros((n, n)),
        )
        self._scratch = np.zeros((n, n)), np.zeros((n, kernels.FEET)), np.zeros((n, n))
        self._active, self._until = np.zeros(K, dtype=np.bool_), np.zeros(K)
        self._axes: Array | None = None
        self._sample = np.zeros(6)
        self._gyro_rate = 1.0
        self.time, self.let_go = 0.0, 0

    def start(self, time: float, acceleration: Array) -> None:
        """Start at rest at the origin, upright by a mean of the accelerometer (3,) [m/s^2]."""
        d, P = self.deviations, self._P
        up = acceleration / np.linalg.norm(acceleration)
        axes = self.feet.imu_H_base[:3, :3]
        forward = axes[:, 0] if abs(up @ axes[:, 0]) < 0.99 else axes[:, 2]  # nose up or down
        side = np.cross(up, forward)
        side /= np.linalg.norm(side)
        self._X[:], self._b[:], P[:] = 0.0, 0.0, 0.0
        self._X[:, :3] = np.cross(side, up), side, up
        self._X[:, 4] = self._X[:, :3] @ -self.feet.imu_H_base[:3, 3]
        P[0, 0] = P[1, 1] = START_TILT**2
        P[3:6, 3:6] = START_VELOCITY**2 * np.eye(3)
        P[9:12, 9:12] = d.gyro_bias**2 * np.eye(3)
        P[12:15, 12:15] = d.accelerometer_bias**2 * np.eye(3)
        self._active[:], self._until[:], self.time = False, time, time
        self._axes = None
        self._sample[:3], self._sample[3:] = 0.0, acceleration

    def propagate(self, time: float, sample: Array | None = None) -> None:
        """Go on to ``time`` [s] by an IMU sample (6,) = [gyro; accelerometer] taken then.

        Between two samples their mean counts; None holds the last one.
        """
        step = time - self.time
        if step > 0.0:
            mean = self._sample if sample is None else 0.5 * (self._sample + sample)
            count = max(1, int(np.ceil(step / LONGEST_STEP)))
            T, E, _ = self._scratch
            for _ in range(count):
                kernels.propagate(
                    *(self._X, self._b, self._P, self._active, mean, step / count),
                    *(self.feet.model.gravity, self._noise, E, T),
                )
            self.time = time
            if sample is not None:
                self._gyro_rate = 1.0 / step
        if sample is not None:
            self._sample[:] = sample

    def correct(self, s: Array, on_ground: frozenset[str] | set[str]) -> None:
        """Correct by joint positions (n,) while the frames ``on_ground`` touch it.

        Raises
        ------
        NotFiniteError
            If the estimate is lost; `start` again.
        """
        h, J, R = self.feet.seen(s)
        N = self.deviations.joint**2 * J @ J.transpose(0, 2, 1)
        N += self.deviations.point**2 * np.eye(3)
        X, P, (T, _, L) = self._X, self._P, self._scratch
        touching = np.array([name in on_ground for name in self.feet.names])
        self._roll(R)
        tried, refused = np.flatnonzero(self._active & touching), []
        for k in np.flatnonzero(self._active & ~touching):
            kernels.lift(P, k)
        for k in tried:
            status, _ = kernels.correct(X, self._b, P, k, h[k], N[k], self.gate, L, T)
            if status != kernels.ACCEPTED:
                refused.append(k)
                kernels.lift(P, k)
        self._active &= touching
        self._active[refused] = False
        self._until[refused] = self.time + self.distrust
        self.let_go += len(refused)
        if refused and len(refused) == tried.size:  # it may be the base that is wrong
            P[3:6, 3:6] += START_VELOCITY**2 * np.eye(3)
        for k in np.flatnonzero(touching & ~self._active & (self._until <= self.time)):
            kernels.touch(X, P, k, h[k], N[k], L)
            self._active[k] = True
        if not (np.abs(X).max() < LOST and np.abs(self._b).max() < LOST and P.max() < LOST**2):
            raise NotFiniteError(
                f'the base of robot {self.feet.model.name!r} is lost, expected numbers below '
                f'{LOST:g}; look for large numbers in IMU and joint states'
            )

    def _roll(self, R: Array) -> None:
        """Move the middles of round feet on the ground along, by the turning of their axes."""
        axes = self._X[:, :3] @ R
        if self._radius > 0.0 and self._axes is not None:
            for k in np.flatnonzero(self._active):
                D = axes[k] @ self._axes[k].T
                turned = 0.5 * np.array([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], 0.0])
                self._X[:, kernels.POINTS + k] += np.cross(turned, (0.0, 0.0, self._radius))
        self._axes = axes

    def estimate(self) -> BaseEstimate:
        """Return where the base is now."""
        R, v, p = self._X[:, :3], self._X[:, 3], self._X[:, 4]
        imu_H_base, base_R_imu = self.feet.imu_H_base, self.feet.base_H_imu[:3, :3]
        arm, w = imu_H_base[:3, 3], self._sample[:3] - self._b[:3]
        H = np.eye(4)
        H[:3, :3], H[:3, 3] = R @ imu_H_base[:3, :3], p + R @ arm
        P, n = self._P, self._P.shape[0]
        pose = np.zeros((6, n))  # place: xi_p - p^ theta; turning: theta
        pose[:3, :3], pose[:3, 6:9], pose[3:, :3] = -cross3(H[:3, 3]), np.eye(3), np.eye(3)
        twist = np.zeros((6, n))  # R'v: R' xi_v; w: -zeta_w, and through the arm
        twist[:3, 3:6], twist[:3, 9:12] = base_R_imu @ R.T, base_R_imu @ cross3(arm)
        twist[3:, 9:12] = -base_R_imu
        noise = twist[:, 9:12] * self.deviations.gyro * np.sqrt(self._gyro_rate)
        return BaseEstimate(
            H,
            np.concatenate((base_R_imu @ (R.T @ v + np.cross(w, arm)), base_R_imu @ w)),
            pose @ P @ pose.T,
            twist @ P @ twist.T + noise @ noise.T,
            self._b.copy(),
            P[9:15, 9:15].copy(),
            frozenset(self.feet.names[k] for k in np.flatnonzero(self._active)),
        )
