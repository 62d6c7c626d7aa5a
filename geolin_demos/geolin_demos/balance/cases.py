# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What robots are asked to do, and how hard they are pushed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from geolin_demos.balance.motions import Motion, lift_and_put_down, squat, stand, standing_height
from geolin_demos.sim.simulator import Push, Simulator
from geolin_demos.sim.trial import push_of, random_pushes
from geolin_ros.control.posture import HEIGHTS
from geolin_ros.control.stabilizability import analyze_modes
from geolin_ros.control.weights import effort_limits
from geolin_ros.errors import ConfigurationError, InfeasibleError, unknown_name

EVERY = 2.0
"""Time from push to push [s]."""
DEPTH = 0.15
"""Of a squat [m]."""
SHARES = np.array(HEIGHTS)
"""Of the usual height, at which cases are tried that it does not allow."""
AT_LIMIT = 1e-3
"""Distance of a joint from its limit that counts as none [rad or m]."""


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
    """Whether its gains are designed offline at the knots of the motion, else online."""

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
    cases
        Names of those that are run; empty: all.
    height
        Of the base above the ground where the robot stands [m]; None: one at which all cases are
        feasible, if there is one.
    """

    seed: int = 0
    thorough: bool = False
    pushes: int = 10
    cases: tuple[str, ...] = ()
    height: float | None = None


class Cases(NamedTuple):
    """What a robot can do of a plan.

    Attributes
    ----------
    feasible
        In order.
    infeasible
        Why not, by name.
    height
        That of the plan, or the one chosen [m]; None where the usual one serves.
    """

    feasible: list[Case]
    infeasible: dict[str, str]
    height: float | None


def cases_of(simulator: Simulator, plan: Plan) -> Cases:
    """Return the cases of a robot: on points or on soles, by its feet.

    Raises `UnknownNameError` if it has none of a name that is asked for.
    """
    kinds = {support.kind for support in simulator.feet.values()}
    names = _on_points(simulator) if kinds == {'point'} else _on_soles(simulator, plan.thorough)
    for name in plan.cases:
        if name not in names:
            raise unknown_name('case', name, names, f'robot {simulator.model.name!r}')
    makers = {name: make for name, make in names.items() if name in (plan.cases or names)}
    try:
        effort_limits(simulator.model)
    except ConfigurationError as error:
        return Cases([], dict.fromkeys(makers, str(error)), plan.height)
    best = _at_height(simulator, plan, makers)
    if not best.infeasible:
        return best
    tried = [best]
    try:
        usual = standing_height(simulator)
    except InfeasibleError:
        return best
    for height in usual * SHARES:
        tried.append(_at_height(simulator, replace(plan, height=float(height)), makers))
        if plan.height is None and not tried[-1].infeasible:
            return tried[-1]
    if plan.height is None:
        best = max(tried, key=lambda found: len(found.feasible))  # the first of several
    reasons = {}
    for name, reason in best.infeasible.items():
        could = [f'{found.height:.3f}' for found in tried[1:] if name not in found.infeasible]
        if could:
            reason += f'; it can with its base {", ".join(could)} m high'
        elif any(found.infeasible[name] != reason for found in tried):
            reason += f'; nor can it {usual * SHARES[-1]:.3f} to {usual * SHARES[0]:.3f} m high'
        reasons[name] = reason
    return best._replace(infeasible=reasons)


def _at_height(simulator: Simulator, plan: Plan, makers: 'Makers') -> Cases:
    """Return the cases at the height of the plan."""
    feasible, infeasible = [], {}
    for name, make in makers.items():
        try:
            case = make(name, plan)
            _check_area(simulator, case.motion)
            feasible.append(case)
        except InfeasibleError as error:
            infeasible[name] = str(error)
    return Cases(feasible, infeasible, plan.height)


def _check_area(simulator: Simulator, motion: Motion) -> None:
    """Refuse to stand still on points that have no area between them.

    Raises `InfeasibleError` with what joint efforts reach of the motions about them.
    """
    for knot in motion.knots:
        if len(knot.statics.polygon) > 2:
            continue
        report = analyze_modes(simulator.model, knot.state, knot.stands_on, knot.tau)
        frames = [support.frame for support in knot.stands_on]
        what = 'are points on a line' if len(frames) > 1 else 'is a point'
        steps = '+'.join(map(str, report.blocks))
        raise InfeasibleError(
            f'{", ".join(frames)} {what}, and no force of the ground catches a fall about it: '
            f'joint efforts reach {sum(report.blocks[:2])} of {report.states} states at once, '
            f'{sum(report.blocks[2:])} by way of others alone (steps {steps}). Standing still '
            f'takes three points, or soles, {frames[0]}:LENGTHxWIDTH'
        )


def introduce(simulator: Simulator, found: Cases) -> None:
    """Print what was assumed of a robot, which joints are at their limits, what it cannot do."""
    for note in simulator.notes:
        print(f'  {note}')
    if found.height is not None:
        print(f'  base {found.height:.3f} m high')
    for case in found.feasible:
        stuck = at_limits(simulator, case)
        if stuck:
            print(f'  {case.name}: joints at their limits: {", ".join(stuck)}')
    for name, reason in found.infeasible.items():
        print(f'INFEASIBLE  {name}: {reason}', flush=True)


def at_limits(simulator: Simulator, case: Case) -> list[str]:
    """Return the joints that are at a limit in a posture of a case."""
    limits, names = simulator.model.limits, simulator.model.joint_names
    knots = [knot.state.s for knot in case.motion.knots]
    room = np.minimum(limits.upper - knots, knots - limits.lower).min(axis=0)
    return [name for name, left in zip(names, room, strict=True) if left < AT_LIMIT]


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
        motion = lift_and_put_down(
            simulator, feet[plan.seed % len(feet)], shift, hold, start, plan.height
        )
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
        duration = begin + max(2.0, squats) / frequency
        motion = squat(simulator, DEPTH, frequency, duration, height=plan.height)
        return Case(name, motion, 0.02, pushes, 0.004, scheduled=True)

    def step(name: str, plan: Plan) -> Case:
        lifted = feet[plan.seed % 2]
        motion = lift_and_put_down(
            simulator, lifted, shift=2.0, hold=3.0, start=0.5, height=plan.height
        )
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
    motion = stand(simulator, pushes[-1].start + EVERY, lifted, plan.height)
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
