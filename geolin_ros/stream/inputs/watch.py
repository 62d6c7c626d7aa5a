# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Keeps a stretch of what a stream takes and predicts, now and then, to be judged elsewhere."""

from typing import Any

import numpy as np

from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.inputs.plausibility import LEAST_SAMPLES, Window

LONGEST = 0.6
"""Time of a stretch [s], more where there are few samples."""
CLOSEST = 1.8e6
"""Samples that come sooner after each other [ns] are left out."""
GAP = 1e8
"""After a longer pause [ns], or a step back, a stretch begins anew."""
MOST = 400
"""Samples of a stretch, and messages of odometry."""


class Watch:
    """Collects windows while it is open; costs nothing while it is not.

    `note` and `note_odometry` stand in the path of the robot's rate: they copy numbers, and judge
    nothing.

    Parameters
    ----------
    predicts
        Whether the accelerations of answers are predicted.

    Attributes
    ----------
    is_open
        Whether samples are wanted.
    """

    def __init__(self, model: TreeModel, predicts: bool) -> None:
        sizes = (model.neutral_state().data.size, model.n, model.m, 1)
        self._ends = np.cumsum(sizes).tolist()
        self._n_s, self._m = model.n_s, model.m if predicts else 0
        self._rows = np.empty((MOST, self._ends[-1]))
        self._stamps: list[int] = []
        self._odometry: list[Any] = []
        self.is_open = False

    def open(self) -> None:
        """Begin a stretch."""
        self._begin()
        self.is_open = True

    def _begin(self) -> None:
        self._stamps, self._odometry = [], []

    def note_odometry(self, message: Any) -> None:
        """Keep a nav_msgs/Odometry of an open stretch."""
        if self.is_open and len(self._odometry) < MOST:
            self._odometry.append(message)

    def note(self, answer: Any) -> None:
        """Copy the numbers of an answer into the open stretch; close it when it is long enough."""
        if not self.is_open:
            return
        stamps, stamp = self._stamps, answer.stamp
        if stamps:
            pause = stamp - stamps[-1]
            if not 0 <= pause <= GAP:
                self._begin()
                stamps = self._stamps
            elif pause < CLOSEST:
                return
        row, (state, tau, nu_dot, _) = self._rows[len(stamps)], self._ends
        row[:state], row[state:tau] = answer.state.data, answer.tau
        row[tau:nu_dot], row[nu_dot] = answer.nu_dot, answer.odometry_age
        stamps.append(stamp)
        long_enough = stamp - stamps[0] >= LONGEST * 1e9 and len(stamps) >= LEAST_SAMPLES
        self.is_open = not (long_enough or len(stamps) == MOST)

    def take(self) -> Window | None:
        """Return the stretch that is full, if one is, with arrays of its own."""
        count = len(self._stamps)
        if self.is_open or count == 0:
            return None
        states, tau, nu_dot, age = np.split(self._rows[:count].copy(), self._ends[:-1], axis=1)
        H, s, v, r = np.split(states, np.cumsum((16, self._n_s, 6)), axis=1)
        window = Window(
            (np.array(self._stamps) - self._stamps[0]) * 1e-9,
            H.reshape(count, 4, 4),
            v,
            s,
            r,
            tau,
            nu_dot[:, : self._m],
            age[:, 0],
            self._odometry,
        )
        self._begin()
        return window
