# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How long a simulated robot waits for the efforts that answer its state."""

import time

import numpy as np

from geolin_demos.balance.graph import RobotGraph
from geolin_ros.errors import GeolinError


class SilenceError(GeolinError, RuntimeError):
    """No controller answers."""


class Answers:
    """Waits for one answer after another, and counts them.

    In lock step until it is there or the time-out is over; against the clock always to the end of
    the period.

    Parameters
    ----------
    graph
        Of the robot.
    period, timeout
        From one state to the next against the clock, and for an answer in lock step [s].
    is_realtime
        Which of the two.

    Attributes
    ----------
    latencies
        From a state sent to the efforts received [s].
    missed
        How many answers were not there in time.
    """

    def __init__(
        self, graph: RobotGraph, period: float, timeout: float, is_realtime: bool
    ) -> None:
        self.latencies: list[float] = []
        self.missed = 0
        self._graph, self._period, self._timeout = graph, period, timeout
        self._realtime, self._due = is_realtime, time.monotonic()

    def wait(self, sent: float, stamp: int) -> None:
        """Return when the robot may go on after the state that was ``sent`` (time.monotonic)."""
        if self._realtime:  # where the robot itself is late, its controller has a period still
            begin = self._due if sent < self._due + 0.2 * self._period else sent
            self._due = begin + self._period
        else:
            self._due = sent + self._timeout
        if self._graph.spin_until(self._due, stamp):
            self.latencies.append(time.monotonic() - sent)
        else:
            self.missed += 1
        if self._realtime:
            self._graph.spin_until(self._due)

    def percentiles(self) -> tuple[float, float]:
        """Return the median and the 99th percentile of the latencies [s], NaN without any."""
        p50, p99 = np.percentile(self.latencies or [np.nan], (50, 99))
        return float(p50), float(p99)
