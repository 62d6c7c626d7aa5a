# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot under commands, cycle after cycle, and what came of it."""

import time as clock
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from geolin_walking.gait import Phase
from geolin_walking.reference import Command, in_world
from geolin_walking.walker import Law, Plan, Walker, walker_for

from geolin_demos.sim.simulator import GRAVITY, PERIOD, Simulator
from geolin_ros.control.posture import standing_posture
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array

CYCLE = 0.02
"""From a plan to the next [s]."""
TOUCHES = 0.02
"""A foot that carries more touches the ground, of the weight."""
REST = 1.0
"""In which a robot that has fallen is damped, and watched [s]."""

CommandAt = Callable[[float], Command]


class Answer(NamedTuple):
    """What a walker answers: a law of times since the question, and what it ``took`` [s].

    ``plan`` is a `Plan` or a geolin_msgs/WalkingPlan.
    """

    phase: Phase
    law: Law | Callable[[float, State], Array]
    took: float
    plan: Any


Ask = Callable[[float, State, Sequence[bool], Command], Answer]
"""Time, state, feet that touch the ground and command to an answer."""


class Leg(NamedTuple):
    """A part of a tour: a command for some time [s]."""

    words: str
    command: Command
    duration: float


@dataclass
class Course:
    """What a robot did: after each cycle, when it fell [s], and the worst of its plans.

    Times [s], yaws [rad], velocities (3,) in its own heading [m/s], tilts [rad]; what each plan
    took [s], and its phase. ``violation`` is the largest of a friction cone in a plan, of the
    weight.
    """

    times: list[float] = field(default_factory=list)
    yaws: list[float] = field(default_factory=list)
    velocities: list[Array] = field(default_factory=list)
    tilts: list[float] = field(default_factory=list)
    cycles: list[float] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    fallen: float | None = None
    violation: float = 0.0

    def mean_velocity(self, begin: float, end: float) -> Array:
        """Return (vx, vy, yaw rate) in the robot's heading, over some time [s]."""
        times, yaws = np.array(self.times), np.unwrap(self.yaws)
        own = np.flatnonzero((times > begin) & (times <= end))
        mean = np.mean([self.velocities[k] for k in own], axis=0)
        turned = (yaws[own[-1]] - yaws[own[0]]) / (times[own[-1]] - times[own[0]])
        return np.array([mean[0], mean[1], turned])

    def percentile(self, share: float) -> float:
        """Return a percentile of the cycles but the first, which compiles [s]."""
        return float(np.percentile(self.cycles[1:], share))


def in_process(walker: Walker) -> Ask:
    """Return how to ask a walker in this process; it took so much processor time."""

    def ask(time: float, state: State, touching: Sequence[bool], command: Command) -> Answer:
        begin = clock.process_time()
        plan = walker.plan(time, state, touching, command)
        took = clock.process_time() - begin
        return Answer(plan.phase, plan.law.since(time), took, plan)

    return ask


def prepare(simulator: Simulator, model: TreeModel | None = None) -> Walker:
    """Put a robot on its feet; return who makes it walk, by a model of its own.

    Raises `ConfigurationError` if it has neither four points nor two soles; `InfeasibleError` if
    it has no posture to stand in.
    """
    supports = list(simulator.feet.values())
    model = model or simulator.model
    posture = standing_posture(model, supports)
    there = posture.copy()
    there.H[2, 3] += simulator.rise(there)
    simulator.reset(there)
    return walker_for(model, supports, posture)


def walk(
    simulator: Simulator, ask: Ask, command_at: CommandAt, duration: float, course: Course
) -> Iterator[Answer]:
    """Yield each answer after its first period of 2 ms, until the time is over.

    A robot that falls is damped for the rest of `REST`.
    """
    weight = simulator.model.total_mass * GRAVITY
    for _ in range(round(duration / CYCLE)):
        time, forces = simulator.time, simulator.wrenches().values()
        touching = [bool(np.linalg.norm(force[:3]) > TOUCHES * weight) for force in forces]
        answer = ask(time, simulator.state, touching, command_at(time))
        course.cycles.append(answer.took)
        course.phases.append(answer.phase)
        if answer.phase is Phase.DAMPING and course.fallen is None:
            course.fallen = time
        if course.fallen is not None and time > course.fallen + REST:
            return
        if isinstance(answer.plan, Plan) and answer.plan.solution is not None:
            of_forces = {**answer.plan.solution.violations, 'bounds': 0.0}
            course.violation = max(course.violation, *of_forces.values())
        for k in range(round(CYCLE / PERIOD)):
            elapsed = simulator.time - time
            simulator.advance(answer.law(elapsed, simulator.state), PERIOD)
            if k == 0:
                yield answer
        state = simulator.state
        H, yaw = state.H, float(np.arctan2(state.H[1, 0], state.H[0, 0]))
        course.times.append(simulator.time)
        course.yaws.append(yaw)
        course.velocities.append(in_world(H[:3, :3] @ state.v[:3], -yaw))
        course.tilts.append(float(np.arccos(np.clip(H[2, 2], -1.0, 1.0))))


def at_times(tour: Sequence[Leg]) -> CommandAt:
    """Return the commands of a tour."""
    ends = np.cumsum([leg.duration for leg in tour])

    def command_at(time: float) -> Command:
        return tour[min(int(np.searchsorted(ends, time + 1e-9, 'right')), len(tour) - 1)].command

    return command_at
