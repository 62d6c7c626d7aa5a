# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What robots are asked to do, and how hard they are pushed."""

from dataclasses import dataclass, replace

import numpy as np

from geolin_ros.balance.motions import Motion, lift_and_put_down, squat, stand
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
    step: float = 0.01
    """Between the impulses that are tried to find the largest one borne [s]."""

    def with_impulse(self, impulse: float) -> 'Case':
        """Return the same pushes, weaker or stronger."""
        ratio = impulse / self.impulse
        pushes = tuple(
            replace(push, force=tuple((ratio * np.array(push.force)).tolist()))
            for push in self.pushes
        )
        return replace(self, impulse=impulse, pushes=pushes)


def cases_of(simulator: Simulator, seed: int = 0, thorough: bool = False) -> list[Case]:
    """Return the cases of a robot: on points or on soles, by its feet.

    Parameters
    ----------
    simulator
        The robot.
    seed
        Of the order or, if thorough, the choice of directions.
    thorough
        Ten pushes in random directions instead of one in each of eight, and more motions.
    """
    kinds = {support.kind for support in simulator.feet.values()}
    make = _on_points if kinds == {'point'} else _on_soles
    return make(simulator, seed, thorough)


def _on_points(simulator: Simulator, seed: int, thorough: bool) -> list[Case]:
    feet = list(simulator.feet)
    found = [_standing(simulator, f'{len(feet)} feet', 0.06, seed, thorough)]
    if len(feet) > 3:
        start, shift = 0.5, 1.0
        up = start + 1.5 * shift
        pushes = _pushes(simulator, 0.04, seed, thorough, up + 0.3, None if thorough else 3)
        hold = pushes[-1].start + EVERY - up
        motion = lift_and_put_down(simulator, feet[seed % len(feet)], shift, hold, start)
        name = f'{len(feet)} - {len(feet) - 1} - {len(feet)} feet'
        found.append(Case(name, motion, 0.04, pushes))
    return found


def _on_soles(simulator: Simulator, seed: int, thorough: bool) -> list[Case]:
    feet = list(simulator.feet)
    found = [_standing(simulator, f'{len(feet)} soles', 0.025, seed, thorough)]
    if len(feet) == 2:
        lifted = feet[seed % 2]
        found.append(_standing(simulator, '1 sole', 0.02, seed, thorough, (lifted,)))
    for frequency in (0.2, 0.5) if thorough else (0.35,):
        mass = simulator.model.total_mass
        pushes = tuple(
            push_of(0.02, angle, 1.6 + EVERY * k, mass) for k, angle in enumerate((1, 4))
        )
        motion = squat(simulator, DEPTH, frequency, 1.0 + 2.0 / frequency)
        found.append(Case(f'squat {frequency:g} Hz', motion, 0.02, pushes, 0.004))
    if thorough and len(feet) == 2:
        mass = simulator.model.total_mass
        motion = lift_and_put_down(simulator, feet[seed % 2], shift=2.0, hold=3.0, start=0.5)
        pushes = (push_of(0.015, 1.0 + seed, 4.0, mass),)
        found.append(Case('2 - 1 - 2 soles', motion, 0.015, pushes, 0.004))
    return found


def _standing(
    simulator: Simulator,
    name: str,
    impulse: float,
    seed: int,
    thorough: bool,
    lifted: tuple[str, ...] = (),
) -> Case:
    pushes = _pushes(simulator, impulse, seed, thorough, 0.5)
    motion = stand(simulator, pushes[-1].start + EVERY, lifted)
    step = 0.01 if simulator.feet[next(iter(simulator.feet))].kind == 'point' else 0.004
    return Case(name, motion, impulse, pushes, step)


def _pushes(
    simulator: Simulator,
    impulse: float,
    seed: int,
    thorough: bool,
    start: float,
    count: int | None = None,
) -> tuple[Push, ...]:
    mass = simulator.model.total_mass
    if thorough:
        return tuple(random_pushes(impulse, mass, seed, 10, start, EVERY))
    directions = np.random.default_rng(seed).permutation(8)[:count]
    return tuple(
        push_of(impulse, 0.25 * np.pi * direction, start + EVERY * k, mass)
        for k, direction in enumerate(directions)
    )
