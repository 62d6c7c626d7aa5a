# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What robots are asked to do, and how hard they are pushed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from geolin_demos.balance.motions import Motion, lift_and_put_down, squat, stand
from geolin_demos.sim.simulator import Push, Simulator
from geolin_demos.sim.trial import push_of
from geolin_ros.control.posture import HEIGHTS, standing_posture
from geolin_ros.control.weights import effort_limits
from geolin_ros.errors import ConfigurationError, InfeasibleError, unknown_name

EVERY = 2.0
"""Time from push to push [s]."""
DEPTH, FREQUENCY = 0.15, 0.35
"""Of a squat [m, Hz]."""
STANDING = {'feet': (0.06, 0.02), 'soles': (0.025, 0.005), 'sole': (0.02, 0.004)}
"""Impulse of the pushes on so many, and step between those tried [s]."""


@dataclass(frozen=True, eq=False)
class Case:
    """A motion with pushes of one impulse, J of m g J [s]; what must stand must never fall."""

    name: str
    motion: Motion
    impulse: float
    pushes: tuple[Push, ...]
    step: float
    """Between the impulses that are tried to find the largest one borne [s]."""

    def with_impulse(self, impulse: float) -> 'Case':
        """Return the same pushes, weaker or stronger."""
        ratio = impulse / self.impulse
        pushes = tuple(
            replace(push, force=tuple((ratio * np.array(push.force)).tolist()))
            for push in self.pushes
        )
        return replace(self, impulse=impulse, pushes=pushes)


class Cases(NamedTuple):
    """Feasible cases, in order; why others are not, by name; the height, None for the usual."""

    feasible: list[Case]
    infeasible: dict[str, str]
    height: float | None


def cases_of(
    simulator: Simulator,
    asked: Sequence[str] = (),
    height: float | None = None,
    pushes: int = 8,
    seed: int = 0,
) -> Cases:
    """Return the cases of a robot: on points or on soles, by its feet.

    Those that are ``asked`` by name, or all, with so many pushes at most; the seed orders their
    directions and chooses the foot that is lifted. Unless a height of the base above the ground
    [m] is given, it is one at which all cases are feasible, if there is one. Raises
    `UnknownNameError` if there is none of a name; `ConfigurationError` if there are no pushes.
    """
    if pushes < 1:
        raise ConfigurationError(f'--pushes is {pushes}, expected 1 or more')
    n, model, supports = len(simulator.feet), simulator.model, list(simulator.feet.values())
    if {support.kind for support in supports} == {'point'}:
        names = [f'{n} feet', *([f'{n} - {n - 1} - {n} feet'] if n > 3 else [])]
    else:
        names = [f'{n} soles', *(['1 sole'] if n == 2 else []), f'squat {FREQUENCY:g} Hz']
    for name in asked:
        if name not in names:
            raise unknown_name('case', name, names, f'robot {model.name!r}')
    names = [name for name in names if name in (asked or names)]
    try:
        effort_limits(model)
    except ConfigurationError as error:
        return Cases([], dict.fromkeys(names, str(error)), height)

    def at(height: float | None) -> Cases:
        found = Cases([], {}, height)
        for name in names:
            try:
                found.feasible.append(_make(name, simulator, height, pushes, seed))
            except InfeasibleError as error:
                found.infeasible[name] = str(error)
        return found

    best = at(height)
    if best.infeasible and height is None:
        try:
            usual = standing_posture(model, supports)
        except InfeasibleError:
            return best
        for share in HEIGHTS:
            if best.infeasible:
                found = at(share * (usual.H[2, 3] - simulator.clearance(usual)))
                best = max(best, found, key=lambda cases: len(cases.feasible))  # or the first
    return best


def _make(name: str, simulator: Simulator, height: float | None, most: int, seed: int) -> Case:
    """Return a case; raises `InfeasibleError`."""
    feet, mass = list(simulator.feet), simulator.model.total_mass
    foot = feet[seed % len(feet)]
    directions = 0.25 * np.pi * np.random.default_rng(seed).permutation(8)[:most]

    def pushes(impulse: float, start: float, count: int = 8) -> tuple[Push, ...]:
        return tuple(
            push_of(impulse, angle, start + EVERY * k, mass)
            for k, angle in enumerate(directions[:count])
        )

    if name.startswith('squat'):
        impulse, step, given = 0.02, 0.004, pushes(0.02, 1.6, 2)
        count = np.ceil((given[-1].start + EVERY - 1.0) * FREQUENCY)
        duration = 1.0 + max(2.0, count) / FREQUENCY
        motion = squat(simulator, DEPTH, FREQUENCY, duration, height=height)
    elif ' - ' in name:
        impulse, step, start, shift = 0.04, 0.02, 0.5, 1.0
        up = start + 1.5 * shift
        given = pushes(impulse, up + 0.3, 3)
        hold = given[-1].start + EVERY - up
        motion = lift_and_put_down(simulator, foot, shift, hold, start, height)
    else:
        impulse, step = STANDING[name.split()[1]]
        given, lifted = pushes(impulse, 0.5), [foot] if name == '1 sole' else []
        motion = stand(simulator, given[-1].start + EVERY, lifted, height)
    for knot in motion.knots:
        if len(knot.statics.polygon) < 3:
            raise InfeasibleError(
                f'{", ".join(support.frame for support in knot.stands_on)} are points on a line, '
                'and no force of the ground catches a fall about it. Standing still takes three '
                f'points, or soles, {foot}:LENGTHxWIDTH'
            )
    return Case(name, motion, impulse, given, step)


def introduce(simulator: Simulator, found: Cases) -> None:
    """Print what was assumed of a robot, how high it stands, and what it cannot do."""
    for note in simulator.notes:
        print(f'  {note}')
    if found.height is not None:
        print(f'  base {found.height:.3f} m high')
    for name, reason in found.infeasible.items():
        print(f'INFEASIBLE  {name}: {reason}', flush=True)
