# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rates of sampled signals: differences of neighbours through a first-order low-pass filter."""

import math

import numpy as np

from geolin_ros.model.tree import Base
from geolin_ros.stream.topic_stream import Cause, DroppedInput
from geolin_ros.typing import Array

LONGEST_GAP = 1.5
"""Samples further apart [s] say nothing about a rate."""


class Differentiator:
    """The rate of a signal in R^k that is sampled at uneven times.

    With samples x_k at t_k, dt = t_k - t_(k-1),

        d_k = d_(k-1) + (1 - exp(-2 pi f dt)) ((x_k - x_(k-1)) / dt - d_(k-1)),

    starting with the first difference. Of a slow signal, d_k is the rate at t_k - `delay`: half a
    step by the difference, 1 / (2 pi f) by the filter. At the ``cutoff`` f [Hz] it passes
    1/sqrt(2).
    """

    def __init__(self, cutoff: float) -> None:
        self._cutoff = cutoff
        self._last: tuple[int, Array] | None = None
        self._step = 0.0
        self.rate: Array | None = None
        """The newest rate (k,), or None while there are no two samples."""

    @property
    def delay(self) -> float:
        """How long ago the rate was that of the signal [s]."""
        return 0.5 * self._step + 1.0 / (2.0 * math.pi * self._cutoff)

    def add(self, stamp: int, sample: Array) -> None:
        """Take a sample at ``stamp`` [ns], once; after a gap, or a jump back, start anew."""
        if self._last is not None and self._last[0] == stamp:
            return
        last, self._last = self._last, (stamp, sample.copy())
        if last is None:
            return
        dt = (stamp - last[0]) * 1e-9
        if not 0.0 < dt <= LONGEST_GAP:
            self.rate = None
            return
        difference = (sample - last[1]) / dt
        self._step = dt
        if self.rate is None:
            self.rate = difference
        else:
            share = -math.expm1(-2.0 * math.pi * self._cutoff * dt)
            self.rate = self.rate + share * (difference - self.rate)

    def forget(self) -> None:
        """Start anew."""
        self._last = self.rate = None


class MeasuredAcceleration:
    """nu_dot by differences: of the body twist at odometries, of joint rates at joint states."""

    def __init__(self, base: Base, cutoff: float) -> None:
        self.base, self.joints = Differentiator(cutoff), Differentiator(cutoff)
        self._parts = (self.base, self.joints) if base == 'floating' else (self.joints,)

    @property
    def delay(self) -> float:
        """How late nu_dot is [s]."""
        return max(part.delay for part in self._parts)

    def nu_dot(self) -> Array:
        """Return the newest nu_dot (m,).

        Raises `DroppedInput` if there are no two samples of each yet.
        """
        rates = [part.rate for part in self._parts if part.rate is not None]
        if len(rates) < len(self._parts):
            raise DroppedInput(
                Cause.NO_ACCELERATION,
                'no accelerations yet, expected two joint states and two odometries first',
            )
        return np.concatenate(rates)
