# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a robot did that should have followed a reference: whether it fell, how far it was off."""

from collections.abc import Sequence

import numpy as np

from geolin_demos.sim.simulator import Push
from geolin_ros.model.state import State
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

SETTLED = 0.1
"""A push is over when the base is this near to where it comes to rest, of the largest distance."""
HEIGHT, TILT = 0.15, 0.6
"""By which the base of a robot that stands may be off at any time: of the reference's height, and
[rad]. Sliding feet, and a lifted foot put down, count as standing."""
SPEED = 0.1
"""By how much the velocity of the base may be off at the end [m/s]."""


def stands(state: State, reference: State) -> bool:
    """Return whether the base is near enough to where it should be."""
    height = reference.H[2, 3]
    cosine = float(state.H[:3, 2] @ reference.H[:3, 2])
    return bool(abs(state.H[2, 3] - height) <= HEIGHT * height and cosine >= np.cos(TILT))


class Recording:
    """States and references of one run, sample by sample.

    Attributes
    ----------
    times : list of float
        [s]
    states, references : list of State
        Where the robot was, and where it should have been.
    fallen
        When it stood no longer [s], or None.
    """

    def __init__(self) -> None:
        self.times: list[float] = []
        self.states: list[State] = []
        self.references: list[State] = []
        self.fallen: float | None = None
        self._errors: list[Array] = []

    def add(self, time: float, state: State, reference: State) -> bool:
        """Keep one sample; return whether the robot still stands."""
        self.times.append(time)
        self.states.append(state)
        self.references.append(reference)
        if self.fallen is None and not stands(state, reference):
            self.fallen = time
        return self.fallen is None

    @property
    def stands(self) -> bool:
        """Whether it never fell and moves like its reference at the end."""
        if self.fallen is not None or not self.states:
            return False
        lag = self.states[-1].v[:3] - self.references[-1].v[:3]
        return bool(np.linalg.norm(lag) <= SPEED)

    def errors(self) -> Array:
        """Return log(H_reference^-1 H) (k, 6) of the base, in axes of the reference [m, rad]."""
        known = len(self._errors)
        pairs = zip(self.references[known:], self.states[known:], strict=True)
        self._errors += [se3.log(se3.relative(wanted.H, is_.H)) for wanted, is_ in pairs]
        return np.array(self._errors)

    def peak_error(self) -> float:
        """Return the largest distance of the base from its reference [m]."""
        return float(np.max(np.linalg.norm(self.errors()[:, :3], axis=1)))

    def drift(self) -> float:
        """Return the distance of the base from its reference at the end [m]."""
        return float(np.linalg.norm(self.errors()[-1, :3]))

    def settling_times(self, pushes: Sequence[Push]) -> Array:
        """Return for each push how long after its end the base was on its way [s].

        A robot that fell never settled: then there are none.

        It is on its way until its distance from where it comes to rest, before the next push,
        stays below ``SETTLED`` of the largest.
        """
        if self.fallen is not None:
            return np.empty(0)
        times, errors = np.array(self.times), self.errors()[:, :3]
        found = []
        ends = [*(push.start for push in pushes[1:]), np.inf]
        for push, end in zip(pushes, ends, strict=True):
            window = np.flatnonzero((times >= push.start) & (times < end))
            if not window.size:
                continue
            away = np.linalg.norm(errors[window] - errors[window[-1]], axis=1)
            moving = window[away > SETTLED * away.max(initial=0.0)]
            last = times[moving[-1]] if moving.size else push.start
            found.append(max(0.0, last - push.start - push.duration))
        return np.array(found)
