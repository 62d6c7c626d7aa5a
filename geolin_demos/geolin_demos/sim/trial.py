# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot, a reference and a control law in one process, and what came of it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from geolin_demos.sim.simulator import Push, Simulator
from geolin_ros.model.state import State
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

PERIOD = 0.002
"""Of the control loop [s]."""
GRAVITY = 9.81
SETTLED = 0.1
"""A push is over when the base is this near to where it comes to rest, of the largest distance."""
HEIGHT, TILT = 0.15, 0.6
"""By which the base of a robot that stands may be off at any time: of the reference's height, and
[rad]. Sliding feet, and a lifted foot put down, count as standing."""
SPEED = 0.1
"""By how much the velocity of the base may be off at the end [m/s]."""

Law = Callable[[float, State], Array]
"""Joint efforts (n_u,) for a time [s] and a measured state."""
Measure = Callable[[State], State]
"""What a law sees of a true state, one call a control period."""


def stands(state: State, reference: State) -> bool:
    """Return whether the base is near enough to where it should be."""
    height = reference.H[2, 3]
    cosine = float(state.H[:3, 2] @ reference.H[:3, 2])
    return bool(abs(state.H[2, 3] - height) <= HEIGHT * height and cosine >= np.cos(TILT))


class Recording:
    """Times [s], states and references of one run; when it stood no longer [s], or None."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.states: list[State] = []
        self.references: list[State] = []
        self.fallen: float | None = None

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
        pairs = zip(self.references, self.states, strict=True)
        return np.array([se3.log(se3.relative(wanted.H, is_.H)) for wanted, is_ in pairs])

    def distances(self) -> Array:
        """Return how far the base is from its reference (k,) [m]."""
        return np.asarray(np.linalg.norm(self.errors()[:, :3], axis=1))

    def peak_error(self) -> float:
        """Return the largest of the distances [m]."""
        return float(self.distances().max())

    def summary(self, pushes: Sequence[Push]) -> dict[str, Any]:
        """Return whether and when it fell [s], distances [m], the median settling time [s]."""
        away, settling = self.distances(), self.settling_times(pushes)
        return {
            'stands': self.stands,
            'fallen': self.fallen,
            'peak_error': float(away.max()),
            'drift': float(away[-1]),
            'settling': float(np.median(settling)) if settling.size else float('nan'),
        }

    def settling_times(self, pushes: Sequence[Push]) -> Array:
        """Return for each push how long after its end the base was on its way [s].

        Until its distance from where it comes to rest, before the next push, stays below `SETTLED`
        of the largest. There are none of a robot that fell.
        """
        if self.fallen is not None:
            return np.empty(0)
        times, errors = np.array(self.times), self.errors()[:, :3]
        found = []
        ends = [*(push.start for push in pushes[1:]), np.inf]
        for push, end in zip(pushes, ends, strict=True):
            window = np.flatnonzero((times >= push.start) & (times < end))
            if window.size:
                away = np.linalg.norm(errors[window] - errors[window[-1]], axis=1)
                moving = window[away > SETTLED * away.max(initial=0.0)]
                last = times[moving[-1]] if moving.size else push.start
                found.append(max(0.0, last - push.start - push.duration))
        return np.array(found)


def simulate(
    simulator: Simulator,
    law: Law,
    reference: Callable[[float], State],
    duration: float,
    *,
    period: float = PERIOD,
    sensors: Measure | None = None,
) -> Recording:
    """Put a robot on its reference, run a control law until the time is over or the robot falls.

    The reference is where it should be at a time [s], velocities included. Efforts are constant
    for a period [s]; sensors tell what the law sees of the state, by default all of it.
    """
    recording = Recording()
    simulator.reset(reference(0.0))
    for _ in range(round(duration / period)):
        time, state = simulator.time, simulator.state
        if not recording.add(time, state, reference(time)):
            break
        simulator.advance(law(time, state if sensors is None else sensors(state)), period)
    return recording


def push_of(impulse: float, angle: float, start: float, mass: float) -> Push:
    """Return a horizontal push of momentum m g J, with J = ``impulse`` [s].

    J of 0.05 s is half the weight for 0.1 s. The angle is from the x axis of the world [rad].
    """
    force = impulse * mass * GRAVITY / Push.duration
    return Push(start, (force * float(np.cos(angle)), force * float(np.sin(angle)), 0.0))


def random_pushes(
    impulse: float, mass: float, seed: int, count: int = 10, start: float = 1.0, every: float = 2.0
) -> list[Push]:
    """Return pushes of one impulse in random directions, one ``every`` so often [s]."""
    angles = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, count)
    return [push_of(impulse, angle, start + every * k, mass) for k, angle in enumerate(angles)]
