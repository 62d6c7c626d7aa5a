# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot, a reference and a control law in one process: runs as fast as possible."""

from collections.abc import Callable

import numpy as np

from geolin_demos.sim.recording import Recording
from geolin_demos.sim.simulator import Push, Simulator
from geolin_ros.model.state import State
from geolin_ros.typing import Array

PERIOD = 0.002
"""Of the control loop [s]."""
STANDARD_GRAVITY = 9.81

Law = Callable[[float, State], Array]
"""Joint efforts (n_u,) for a time [s] and a measured state."""
Reference = Callable[[float], State]
"""Where the robot should be at a time [s], velocities included."""
Measure = Callable[[State], State]
"""What a law sees of a true state, one call a control period."""


def simulate(
    simulator: Simulator,
    law: Law,
    reference: Reference,
    duration: float,
    *,
    period: float = PERIOD,
    sensors: Measure | None = None,
) -> Recording:
    """Start on the reference and run a control law until the time is over or the robot falls.

    Parameters
    ----------
    simulator
        The robot; it is put on the reference, and its clock to zero.
    law, reference
        What controls it, and what it should do.
    duration
        [s]
    period
        For which efforts are constant [s].
    sensors
        What the law sees of the state; by default all of it.
    """
    recording = Recording()
    simulator.reset(reference(0.0))
    for _ in range(round(duration / period)):
        time, state = simulator.time, simulator.state
        if not recording.add(time, state, reference(time)):
            break
        simulator.advance(law(time, state if sensors is None else sensors(state)), period)
    return recording


def push_of(
    impulse: float, angle: float, start: float, mass: float, duration: float = 0.1
) -> Push:
    """Return a horizontal push.

    Parameters
    ----------
    impulse
        J of the momentum m g J [s]: 0.05 is half the weight for 0.1 s.
    angle
        Of the direction from the x axis of the world [rad].
    start, duration
        [s]
    mass
        m [kg]
    """
    force = impulse * mass * STANDARD_GRAVITY / duration
    return Push(start, (force * float(np.cos(angle)), force * float(np.sin(angle)), 0.0), duration)


def random_pushes(
    impulse: float, mass: float, seed: int, count: int = 10, start: float = 1.0, every: float = 2.0
) -> list[Push]:
    """Return pushes of one impulse in random directions, one ``every`` so often [s]."""
    angles = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, count)
    return [
        push_of(impulse, angle, start + every * index, mass) for index, angle in enumerate(angles)
    ]
