# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What robots are asked to do, and how hard they are pushed: stand, lift a foot, squat.

Between two postures the reference is the geodesic g_i exp(f z), z = log(g_i^-1 g_(i+1)), of
SE(3) x R^n; its velocity is z df/dt. Efforts are interpolated.
"""

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from geolin_demos.sim.simulator import Push, Simulator, push_of
from geolin_ros.control.equilibrium import Equilibrium, equilibrium
from geolin_ros.control.posture import HEIGHTS, standing_posture
from geolin_ros.control.support import Support
from geolin_ros.control.weights import effort_limits
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import centre_of_mass
from geolin_ros.errors import ConfigurationError, InfeasibleError, unknown_name
from geolin_ros.model.state import State
from geolin_ros.typing import Array

LIFT = 0.05
"""How high a foot is lifted [m]."""
FRICTION = 0.2
"""For postures on the way: little, else a foot that carries little would press sideways."""
SHIFT_KNOTS, SQUAT_KNOTS = 6, 9
"""Postures on the way of the centre of mass to other supports, and of a squat."""
SETTLE = 2.0
"""How long a motion goes on after its last knot [s]."""
Timing = Callable[[float], tuple[float, float]]
"""Progress u in knots, and its rate, at a time [s]."""


class Moment(NamedTuple):
    """Where a motion is: state with velocities, efforts (n,), supports, and the knot before."""

    state: State
    tau: Array
    supports: tuple[Support, ...]
    knot: int
    fraction: float


@dataclass(frozen=True, eq=False)
class Motion:
    """Postures in order, and when each is reached.

    A change of the supports is two knots with the same posture, reached at the same time.
    """

    knots: tuple[Equilibrium, ...]
    timing: Timing
    duration: float

    def at(self, time: float) -> Moment:
        """Return where the motion is."""
        u, rate = self.timing(time)
        index = min(int(u), len(self.knots) - 1)
        here = self.knots[index]
        fraction = u - index
        if fraction == 0.0 and rate == 0.0:
            return Moment(here.state, here.tau, here.supports, index, 0.0)
        there = self.knots[min(index + 1, len(self.knots) - 1)]
        z = np.split(here.state.difference(there.state), 2)[0]
        tau = (1.0 - fraction) * here.tau + fraction * there.tau
        state = here.state.retract(np.concatenate((fraction * z, rate * z)))
        return Moment(state, tau, here.supports, index, fraction)

    def reference(self, time: float) -> State:
        """Return the state alone."""
        return self.at(time).state


def stops(times: Sequence[float], knots: Sequence[int]) -> Timing:
    """Return a timing that rests at some knots, at times [s], with quintic steps between them."""

    def timing(time: float) -> tuple[float, float]:
        index = bisect.bisect_right(times, time) - 1
        if index < 0 or index >= len(times) - 1:
            return float(knots[max(index, 0)]), 0.0
        length, way = times[index + 1] - times[index], knots[index + 1] - knots[index]
        x = (time - times[index]) / length
        u = knots[index] + way * x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
        return u, way * 30.0 * (x * (1.0 - x)) ** 2 / length

    return timing


def swing(knots: int, frequency: float, start: float) -> Timing:
    """Return a timing to the last knot and back, as (1 - cos) / 2, again and again [Hz, s]."""

    def timing(time: float) -> tuple[float, float]:
        phase = 2.0 * np.pi * frequency * max(0.0, time - start)
        half = 0.5 * (knots - 1)
        return half * (1.0 - np.cos(phase)), half * np.sin(phase) * 2.0 * np.pi * frequency

    return timing


def stand(
    simulator: Simulator, duration: float, lifted: Sequence[str] = (), height: float | None = None
) -> Motion:
    """Return standing still, perhaps with some feet in the air from the beginning on."""
    knots = [standing(simulator, height)]
    if lifted:
        _lift(simulator, knots, lifted)
    return Motion((knots[-1],), stops([0.0], [0]), duration)


def lift_and_put_down(
    simulator: Simulator,
    foot: str,
    shift: float,
    hold: float,
    start: float = 1.0,
    height: float | None = None,
) -> Motion:
    """Return a motion that lifts one foot, a frame, and puts it down again.

    From ``start`` on it takes ``shift`` to bring the centre of mass over the other feet, and back,
    the foot half of that; it is in the air for ``hold`` [s].
    """
    knots = [standing(simulator, height)]
    shifted, switched, lifted = _lift(simulator, knots, [foot])
    up = [start, start + shift, start + shift, start + 1.5 * shift]
    at = [0, shifted, switched, lifted]
    last, top = up[-1] + hold, 2 * lifted + 1
    times = [*up, *(last + up[-1] - time for time in reversed(up))]
    indices = [*at, *(top - index for index in reversed(at))]
    return Motion((*knots, *reversed(knots)), stops(times, indices), times[-1] + SETTLE)


def squat(
    simulator: Simulator,
    depth: float,
    frequency: float,
    duration: float,
    height: float | None = None,
) -> Motion:
    """Return squats of ``depth`` [m] from a height at a frequency [Hz], from 1 s on."""
    postures = [standing(simulator, height)]
    model, supports, top = simulator.model, postures[0].supports, postures[0].state.H[2, 3]
    for down in np.linspace(0.0, depth, SQUAT_KNOTS)[1:]:
        start = postures[-1].state
        posture = standing_posture(model, supports, height=top - down, start=start)
        postures.append(equilibrium(model, posture, supports))
    return Motion(tuple(postures), swing(len(postures), frequency, 1.0), duration)


def standing(simulator: Simulator, height: float | None = None) -> Equilibrium:
    """Return a posture on all feet, its base at a height [m]."""
    model = simulator.model
    supports = list(simulator.feet.values())
    state = standing_posture(model, supports, height=height)
    state.H[2, 3] -= simulator.clearance(state)
    return equilibrium(model, state, supports)


def _lift(
    simulator: Simulator, knots: list[Equilibrium], feet: Sequence[str]
) -> tuple[int, int, int]:
    """Append knots: weight shifted off some feet, off the ground, up in the air; return which."""
    model, first = simulator.model, knots[0]
    staying = tuple(support for support in first.supports if support.frame not in feet)
    at = Kinematics(model, first.state)
    places = {foot: at.pose(foot)[:3, 3] for foot in feet}
    goal = standing_posture(model, staying, start=first.state, feet=places)
    here = centre_of_mass(model, first.state).com[:2]
    there = centre_of_mass(model, goal).com[:2]
    for share in np.linspace(0.0, 1.0, SHIFT_KNOTS + 1)[1:]:
        com = (1.0 - share) * here + share * there
        posture = standing_posture(model, first.supports, start=knots[-1].state, com=com)
        knots.append(equilibrium(model, posture, first.supports, friction=FRICTION))
    shifted = len(knots) - 1
    off = equilibrium(model, knots[-1].state, staying)
    knots[-1] = _unloaded(off, first.supports)
    up = {foot: place + np.array([0.0, 0.0, LIFT]) for foot, place in places.items()}
    high = standing_posture(model, staying, start=off.state, feet=up)
    knots += [off, equilibrium(model, high, staying)]
    return shifted, shifted + 1, shifted + 2


def _unloaded(point: Equilibrium, supports: tuple[Support, ...]) -> Equilibrium:
    """Return an equilibrium on more supports, of which the others carry nothing."""
    loaded = {support.frame for support in point.supports}
    is_loaded = [support.frame in loaded for support in supports]
    wrenches = np.zeros(sum(support.rows for support in supports))
    wrenches[np.repeat(is_loaded, [support.rows for support in supports])] = point.wrenches
    shares = np.zeros(len(supports))
    shares[is_loaded] = point.load_share
    return replace(point, supports=supports, wrenches=wrenches, load_share=shares)


EVERY = 2.0
"""Time from push to push [s]."""
DEPTH, FREQUENCY = 0.15, 0.35
"""Of a squat [m, Hz]."""
STANDING = {'feet': (0.06, 0.02), 'soles': (0.025, 0.005), 'sole': (0.02, 0.004)}
"""Impulse of the pushes on so many, and step between those tried [s]."""


@dataclass(frozen=True, eq=False)
class Case:
    """A motion with pushes of one impulse, J of m g J [s].

    ``step`` is between the impulses that are tried to find the largest one borne [s].
    """

    name: str
    motion: Motion
    impulse: float
    pushes: tuple[Push, ...]
    step: float

    def with_impulse(self, impulse: float) -> 'Case':
        """Return the same pushes, weaker or stronger."""
        forces = impulse / self.impulse * np.array([push.force for push in self.pushes])
        pushes = zip(self.pushes, forces.tolist(), strict=True)
        stronger = tuple(replace(push, force=tuple(force)) for push, force in pushes)
        return replace(self, impulse=impulse, pushes=stronger)


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
    """Return the cases of a robot: on points or on soles, by its feet; all, or those ``asked``.

    The seed orders the directions of pushes and chooses the foot that is lifted. Unless a height
    of the base above the ground [m] is given, it is one at which all cases are feasible, if there
    is one. Raises `UnknownNameError` if there is none of a name; `ConfigurationError` without
    pushes.
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
