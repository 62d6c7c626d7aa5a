# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a robot that walks knows, when and how well."""

from collections.abc import Sequence

import numpy as np
from geolin_demos.sim.simulator import Simulator
from geolin_demos.walk.course import (
    CYCLE,
    Answer,
    Ask,
    CommandAt,
    Leg,
    at_times,
)
from geolin_walking.reference import Command
from geolin_walking.walker import Law

from benchmarks.simulated_odometry import Odometry
from geolin_ros.linearization.along import differences, retracted
from geolin_ros.model.state import State

STANDS = 1.0
"""Before robots walk: an estimator that levels itself by gravity must not be accelerated [s]."""


def noisy(ask: Ask, velocity: float, rate: float, seed: int) -> Ask:
    """Return how to ask about states with noise on the twist of the base [m/s, rad/s]."""
    rng, deviations = np.random.default_rng(seed), np.repeat((velocity, rate), 3)

    def ask_about(time: float, state: State, down: Sequence[bool], command: Command) -> Answer:
        state.v[:] += deviations * rng.standard_normal(6)
        return ask(time, state, down, command)

    return ask_about


def delayed(ask: Ask) -> Ask:
    """Return how to ask where each answer comes a cycle later.

    It is then about the state that the plan in force leads to, as far off it as the robot is now.
    """
    waiting: list[Answer] = []

    def ask_ahead(time: float, state: State, down: Sequence[bool], command: Command) -> Answer:
        if not waiting:
            waiting.append(ask(time, state, down, command))
        now = waiting.pop()
        assert isinstance(now.law, Law)
        z = differences(now.law.wanted(0.0), state.data[None])
        ahead = state.copy()
        ahead.data[:] = retracted(now.law.wanted(CYCLE), z)[0]
        waiting.append(ask(time + CYCLE, ahead, down, command))
        return now

    return ask_ahead


def on_odometry(ask: Ask, simulator: Simulator, seed: int = 0) -> Ask:
    """Return how to ask by what the state estimator makes of IMU, joints and foot forces.

    The law sees no more than that either.
    """
    odometry, seen = Odometry(simulator, seed=seed), dict[float, State]()

    def known(state: State) -> State:
        if simulator.time not in seen:
            seen.clear()
            seen[simulator.time] = odometry(state)
        return seen[simulator.time].copy()

    def ask_about(time: float, state: State, down: Sequence[bool], command: Command) -> Answer:
        answer = ask(time, known(state), down, command)
        law = answer.law
        return answer._replace(law=lambda elapsed, state: law(elapsed, known(state)))

    return ask_about


def after_standing(command: Command) -> CommandAt:
    """Return a command from `STANDS` on."""
    return at_times([Leg('stands', Command(), STANDS), Leg('goes', command, np.inf)])
