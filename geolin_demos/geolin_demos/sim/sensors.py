# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensors that are late and not exact."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from geolin_ros.errors import ConfigurationError
from geolin_ros.model.state import State
from geolin_ros.spatial import se3
from geolin_ros.typing import Array


class Sensors:
    """Turns true states into measured ones, one call a sample.

    Raises `ConfigurationError` if the delay or the noise is negative.

    Parameters
    ----------
    noise
        Standard deviation of the base velocity [m/s]; that of its angular velocity [rad/s] is
        twice as large. White, Gaussian.
    delay
        By how many samples the measurement is late; until then it is the first.
    seed
        Of the noise.
    """

    def __init__(self, noise: float = 0.0, delay: int = 0, seed: int = 0) -> None:
        if delay < 0 or not noise >= 0.0:
            raise ConfigurationError(
                f'sensors have noise {noise} m/s and a delay of {delay} samples, expected 0 or '
                'more of each'
            )
        self._deviations = noise * np.repeat((1.0, 2.0), 3)
        self._past: deque[State] = deque(maxlen=delay + 1)
        self._rng = np.random.default_rng(seed)

    def __call__(self, state: State) -> State:
        """Return what is measured now."""
        self._past.append(state)
        measured = self._past[0].copy()
        measured.v += self._deviations * self._rng.standard_normal(6)
        return measured


@dataclass(frozen=True)
class Imu:
    """An IMU of the cheap kind, calibrated some time ago.

    Densities of white noise [rad/s/sqrt(Hz), m/s^2/sqrt(Hz)], and standard deviations of what it
    is off all the time [rad/s, m/s^2].
    """

    gyro: float = 1e-3
    accelerometer: float = 1e-2
    gyro_bias: float = 0.01
    accelerometer_bias: float = 0.1


class ImuSensor:
    """An IMU on the base, which integrates between two states; gravity (3,) in m/s^2."""

    def __init__(self, gravity: Array, imu: Imu | None = None, seed: int = 0) -> None:
        imu, self._rng, self._gravity = imu or Imu(), np.random.default_rng(seed), gravity
        self._density = np.repeat((imu.gyro, imu.accelerometer), 3)
        bias = np.repeat((imu.gyro_bias, imu.accelerometer_bias), 3)
        self._bias = bias * self._rng.standard_normal(6)
        self._last: tuple[float, State] | None = None

    def forget(self) -> None:
        """Begin anew: the robot was put elsewhere."""
        self._last = None

    def __call__(self, time: float, state: State) -> Array | None:
        """Return a sample (6,) = [gyro; accelerometer] of the means since the last call."""
        before, self._last = self._last, (time, state)
        if before is None:
            return None
        step, last = time - before[0], before[1]
        turned = se3.log(se3.relative(last.H, state.H))[3:]
        velocities = [at.H[:3, :3] @ at.v[:3] for at in (last, state)]
        mean = (velocities[1] - velocities[0]) / step - self._gravity
        half = last.H @ se3.exp(np.concatenate((np.zeros(3), 0.5 * turned)))
        exact = np.concatenate((turned / step, half[:3, :3].T @ mean))
        noise = self._density / np.sqrt(step) * self._rng.standard_normal(6)
        return np.asarray(exact + self._bias + noise)
