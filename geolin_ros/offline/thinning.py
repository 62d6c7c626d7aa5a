# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Fewer samples: every N-th, or the first of each period."""

from typing import NamedTuple

import numpy as np

from geolin_ros.errors import ConfigurationError
from geolin_ros.typing import IntArray


class Sampling(NamedTuple):
    """Which samples of a recording go into a dataset."""

    every: int = 1
    """Every N-th."""
    rate: float | None = None
    """So many a second [Hz]; None: all."""
    eig_rate: float = 50.0
    """Eigenvalues and conditioning so often [Hz]; 0: never."""


class Thinning:
    """Chooses samples by their number or stamps, whatever the tables they come in.

    Parameters
    ----------
    every
        Take every N-th sample.
    rate
        Take the first sample of each period of 1 / rate [Hz]; None: all.

    Raises
    ------
    ConfigurationError
        If one of them is not positive.
    """

    def __init__(self, every: int = 1, rate: float | None = None) -> None:
        if every < 1:
            raise ConfigurationError(f'every is {every}, expected at least 1')
        if rate is not None and not rate > 0.0:
            raise ConfigurationError(f'rate is {rate} Hz, expected more than 0')
        self._every, self._rate = every, rate
        self._seen = 0
        self._start: int | None = None
        self._period = -1

    def choose(self, stamp: IntArray) -> IntArray:
        """Return the indices to take of the next samples, stamped ``stamp`` (T,) [ns]."""
        if self._rate is not None:
            return self._first_of_periods(stamp)
        first = -self._seen % self._every
        self._seen += len(stamp)
        return np.arange(first, len(stamp), self._every)

    def _first_of_periods(self, stamp: IntArray) -> IntArray:
        if self._start is None:
            self._start = int(stamp[0])
        # a thousandth of a period belongs to the next one: stamps are rounded to nanoseconds
        periods = np.floor((stamp - self._start) * (self._rate or 0.0) * 1e-9 + 1e-3).astype(
            np.int64
        )
        before = np.concatenate(([self._period], periods[:-1]))
        self._period = int(periods[-1])
        return np.flatnonzero(periods != before)
