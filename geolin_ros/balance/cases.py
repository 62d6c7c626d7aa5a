# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What robots are asked to do, and how hard they are pushed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from geolin_ros.balance.motions import Motion, lift_and_put_down, squat, stand
from geolin_ros.errors import unknown_name
from geolin_ros.sim.simulator import Push, Simulator
from geolin_ros.sim.trial import push_of, random_pushes

EVERY = 2.0
"""Time from push to push [s]."""
DEPTH = 0.15
"""Of a squat [m]."""


@dataclass(frozen=True, eq=False)
class Case:
    """A motion with pushes of one impulse, J of m g J [s]; what must stand must never fall."""

    name: str
    motion: Motion
    impulse: float
    pushes: tuple[Push, ...]
    step: float = 0.02
    """Between the impulses that are tried to find the largest one borne [s]."""
    scheduled: bool = False
    """Whether its gains are made beforehand at the knots of the motion, else as it goes."""

    def with_impulse(self, impulse: float) -> 'Case':
        """Return the same pushes, weaker or stronger."""
        ratio = impulse / self.impulse
        pushes = tuple(
            replace(push, force=tuple((ratio * np.array(push.force)).tolist()))
            for push in self.pushes
        )
        return replace(self, impulse=impulse, pushes=pushes)


@dataclass(frozen=True)
class Plan:
    """How much is asked.

    Attributes
    ----------
    seed
        Of the order or, if thorough, the choice of directions, and of which foot is lifted.
    thorough
        More motions, and ten pushes in random directions where there would be one in each of
        eight.
    pushes
        Largest number of them in a case.
    only
        Name of the case that is run; empty: all.
    scheduled
        Whether to take the cases on gains made beforehand, or the others.
    """

    seed: int = 0
    thorough: bool = False
    pushes: int = 10
    only: str = ''
    scheduled: bool = False


def cases_of(simulator: Simulator, plan: Plan) -> list[Case]:
    """Return the cases of a robot: on points or on soles, by its feet.

    Raises
    ------
    UnknownNameError
        If it has none of the name that is asked for.
    """
    kinds = {support.kind for support in simulator.feet.values()}
    names = _on_points(simulator) if kinds == {'point'} else _on_soles(simulator, plan.thorough)
    if plan.only and plan.only not in names:
        raise unknown_name('case', plan.only, names, f'robot {simulator.model.name!r}')
    cases = [make(name, plan) for name, make in names.items() if plan.only in ('', name)]
    return [case for case in cases if case.scheduled == plan.scheduled]


Makers = dict[str, Callable[[str, Plan], Case]]


def _on_points(simulator: Simulator) -> Makers:
    feet, mass = list(simulator.feet), simulator.model.total_mass

    def all_feet(name: str, plan: Plan) -> Case:
        return _standing(name, simulator, plan, 0.06, 0.02)

    def lift(name: str, plan: Plan) -> Case:
        start, shift = 0.5, 1.0
        up = start + 1.5 * shift
        few = plan if plan.thorough else replace(plan, pushes=min(plan.pushes, 3))
        pushes = _pushes(few, 0.04, mass, up + 0.3)
        hold = pushes[-1].start + EVERY - up
        motion = lift_and_put_down(simulator, feet[plan.seed % len(feet)], shift, hold, start)
        return Case(name, motion, 0.04, pushes, 0.02)

    n = len(feet)
    found: Makers = {f'{n} feet': all_feet}
    return found | ({f'{n} - {n - 1} - {n} feet': lift} if n > 3 else {})


def _on_soles(simulator: Simulator, thorough: bool) -> Makers:
    feet, mass = list(simulator.feet), simulator.model.total_mass

    def all_soles(name: str, plan: Plan) -> Case:
        return _standing(name, simulator, plan, 0.025, 0.005)

    def one_sole(name: str, plan: Plan) -> Case:
        return _standing(name, simulator, plan, 0.02, 0.004, [feet[plan.seed % 2]])

    def squats(name: str, plan: Plan) -> Case:
        frequency = float(name.split()[1])
        few = plan if plan.thorough else replace(plan, pushes=min(plan.pushes, 2))
        pushes, begin = _pushes(few, 0.02, mass, 1.6), 1.0
        squats = np.ceil((pushes[-1].start + EVERY - begin) * frequency)
        motion = squat(simulator, DEPTH, frequency, begin + max(2.0, squats) / frequency)
        return Case(name, motion, 0.02, pushes, 0.004, scheduled=True)

    def step(name: str, plan: Plan) -> Case:
        lifted = feet[plan.seed % 2]
        motion = lift_and_put_down(simulator, lifted, shift=2.0, hold=3.0, start=0.5)
        one = replace(plan, pushes=1)
        return Case(name, motion, 0.015, _pushes(one, 0.015, mass, 4.0), 0.005)

    found: Makers = {f'{len(feet)} soles': all_soles}
    if len(feet) == 2:
        found['1 sole'] = one_sole
    found |= dict.fromkeys(
        ('squat 0.2 Hz', 'squat 0.5 Hz') if thorough else ('squat 0.35 Hz',), squats
    )
    if len(feet) == 2 and thorough:
        found['2 - 1 - 2 soles'] = step
    return found


def _standing(
    name: str,
    simulator: Simulator,
    plan: Plan,
    impulse: float,
    step: float,
    lifted: Sequence[str] = (),
) -> Case:
    pushes = _pushes(plan, impulse, simulator.model.total_mass, 0.5)
    motion = stand(simulator, pushes[-1].start + EVERY, lifted)
    return Case(name, motion, impulse, pushes, step)


def _pushes(plan: Plan, impulse: float, mass: float, start: float) -> tuple[Push, ...]:
    if plan.thorough:
        count = min(plan.pushes, 10)
        return tuple(random_pushes(impulse, mass, plan.seed, count, start, EVERY))
    directions = np.random.default_rng(plan.seed).permutation(8)[: plan.pushes]
    return tuple(
        push_of(impulse, 0.25 * np.pi * direction, start + EVERY * k, mass)
        for k, direction in enumerate(directions)
    )
