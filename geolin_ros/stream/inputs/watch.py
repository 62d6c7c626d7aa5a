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

    Attributes
    ----------
    is_open
        Whether samples are wanted.
    """

    def __init__(self, model: TreeModel, predicts: bool) -> None:
        self._parts = np.cumsum((16, model.n_s, 6)).tolist()
        self._m = model.m if predicts else 0  # accelerations of answers that are predicted
        self._samples: list[tuple[Any, ...]] = []
        self._odometry: list[Any] = []
        self.is_open = False

    def open(self) -> None:
        """Begin a stretch."""
        self._samples, self._odometry, self.is_open = [], [], True

    def note_odometry(self, message: Any) -> None:
        """Keep a nav_msgs/Odometry of an open stretch."""
        if self.is_open and len(self._odometry) < MOST:
            self._odometry.append(message)

    def note(self, answer: Any) -> None:
        """Copy the numbers of an answer into the open stretch; close it when it is long enough."""
        if not self.is_open:
            return
        stamp = answer.stamp
        if self._samples:
            pause = stamp - self._samples[-1][0]
            if not 0 <= pause <= GAP:
                self.open()
            elif pause < CLOSEST:
                return
        arrays = answer.state.data, answer.tau, answer.nu_dot[: self._m]
        self._samples.append((stamp, *(array.copy() for array in arrays), answer.odometry_age))
        count = len(self._samples)
        is_long = stamp - self._samples[0][0] >= LONGEST * 1e9 and count >= LEAST_SAMPLES
        self.is_open = not (is_long or count == MOST)

    def take(self) -> Window | None:
        """Return the stretch that is full, if one is, with arrays of its own."""
        if self.is_open or not self._samples:
            return None
        stamps, states, tau, nu_dot, ages = map(np.array, zip(*self._samples, strict=True))
        H, s, v, r = np.split(states, self._parts, axis=1)
        times = (stamps - stamps[0]) * 1e-9
        window = Window(times, H.reshape(-1, 4, 4), v, s, r, tau, nu_dot, ages, self._odometry)
        self._samples, self._odometry = [], []
        return window
