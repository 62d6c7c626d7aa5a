# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensors that are late and not exact."""

from collections import deque
from dataclasses import astuple, dataclass

import numpy as np

from geolin_ros.errors import ConfigurationError
from geolin_ros.model.state import State


@dataclass(frozen=True)
class Noise:
    """Standard deviations of each number: [m, rad, rad or m] and their rates."""

    position: float = 0.0
    orientation: float = 0.0
    joints: float = 0.0
    velocity: float = 0.0
    angular_velocity: float = 0.0
    joint_rates: float = 0.0


class Sensors:
    """Turns true states into measured ones, one call a sample.

    Parameters
    ----------
    noise
        White, Gaussian; poses are disturbed in base axes.
    delay
        By how many samples the measurement is late; until then it is the first.
    seed
        Of the noise.

    Raises
    ------
    ConfigurationError
        If the delay or a deviation is negative.
    """

    def __init__(self, noise: Noise | None = None, delay: int = 0, seed: int = 0) -> None:
        deviations = astuple(noise or Noise())
        if delay < 0 or any(not deviation >= 0.0 for deviation in deviations):
            raise ConfigurationError(
                f'sensors with {noise} and a delay of {delay} samples, expected 0 or more of each'
            )
        self._deviations = deviations
        self._past: deque[State] = deque(maxlen=delay + 1)
        self._rng = np.random.default_rng(seed)

    def __call__(self, state: State) -> State:
        """Return what is measured now."""
        self._past.append(state)
        n = state.r.size
        scale = np.repeat(self._deviations, (3, 3, n, 3, 3, n))
        if not scale.any():
            return self._past[0]
        return self._past[0].retract(scale * self._rng.standard_normal(scale.size))
