# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of the base at the stamp of a joint state, from samples at other instants."""

from collections import deque
from typing import Any, Literal, NamedTuple

import numpy as np

from geolin_ros.kernels.se3 import retract
from geolin_ros.model.state import State
from geolin_ros.spatial import se3
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.typing import Array

PairingName = Literal['newest', 'interpolate']
HISTORY = 16384
"""Samples that are kept at most where joint states wait for them."""


class BaseSample(NamedTuple):
    """Pose H (4, 4) and body twist v (6,) of the base at ``stamp`` [ns]."""

    stamp: int
    H: Array
    v: Array


class Pairing:
    """Finds the state of the base at other instants than those of its samples.

    ``'newest'`` takes the newest sample that is not after the instant, carried along its twist:
    H exp(v dt), v. ``'interpolate'`` goes between two neighbours 0 and 1:
    H_0 exp(a log(H_0^-1 H_1)), (1 - a) v_0 + a v_1. No sample counts that is further away than
    ``max_skew`` [s].

    Parameters
    ----------
    waits
        Whether joint states wait for a sample that is not before them, as they always do where
        it is interpolated; else the newest has to do, whatever its stamp.
    """

    def __init__(self, name: PairingName, max_skew: float, waits: bool = False) -> None:
        self._max_skew, self._interpolates = max_skew, name == 'interpolate'
        self._waits = waits or self._interpolates
        self._samples: deque[BaseSample] = deque(maxlen=HISTORY if self._waits else 1)
        self._step = np.zeros(6)

    def add(self, sample: BaseSample) -> None:
        """Take a sample; one that is older than the last starts anew."""
        if self._samples and sample.stamp <= self._samples[-1].stamp:
            self._samples.clear()
        self._samples.append(sample)

    def is_ready(self, stamp: int) -> bool:
        """Whether no later sample is needed for ``stamp`` [ns]."""
        return not self._waits or (bool(self._samples) and self._samples[-1].stamp >= stamp)

    def at(self, stamp: int, state: State) -> float:
        """Write H and v at ``stamp`` into ``state``; return its distance to the sample used [s].

        Where it is interpolated, that is the earlier one. Raises `DroppedInput` if there is no
        sample, or none within max_skew.
        """
        if not self._samples:
            raise DroppedInput(
                Cause.NO_ODOMETRY, 'no odometry yet, expected one before the first joint state'
            )
        later: Any = None
        earlier: Any = None
        for sample in reversed(self._samples):
            if sample.stamp >= stamp:
                later = sample
            if sample.stamp <= stamp:
                earlier = sample
                break
        if self._interpolates:
            before = self._distance('nearest odometry before it', stamp, earlier)
            self._distance('nearest odometry after it', stamp, later)
            share = before * 1e9 / max(later.stamp - earlier.stamp, 1)
            retract(earlier.H, share * se3.log(se3.relative(earlier.H, later.H)), state.H)
            state.v[:] = (1.0 - share) * earlier.v + share * later.v
            return before
        sample = earlier or self._samples[0]
        dt = self._distance('newest odometry', stamp, sample)
        np.multiply(sample.v, dt, out=self._step)
        retract(sample.H, self._step, state.H)
        state.v[:] = sample.v
        return dt

    def _distance(self, what: str, stamp: int, sample: BaseSample | None) -> float:
        """Return how far a sample is from a stamp [s], if that is not too far."""
        dt = np.inf if sample is None else (stamp - sample.stamp) * 1e-9
        if abs(dt) > self._max_skew:
            raise DroppedInput(
                Cause.SKEW,
                f'the {what} is {dt:+.4f} s away from the joint state, expected at most '
                f'{self._max_skew:g} s; raise max_skew or synchronize the publishers',
            )
        return dt
