# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Slow motions through postures at rest: stand, lift a foot and put it down, squat.

Between two postures the reference is the geodesic g_i exp(f z), z = log(g_i^-1 g_(i+1)), of
SE(3) x R^n; its velocity is z df/dt. Efforts are interpolated.
"""

import bisect
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geolin_demos.sim.simulator import Simulator
from geolin_ros.control.equilibrium import Equilibrium, equilibrium
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.support import Support
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import centre_of_mass
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
    the foot half of that; it is in the air for ``hold`` [s]. The height of the base [m] is by
    default as `standing_posture` has it.
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
        knots.append(equilibrium(model, posture, first.supports, FRICTION))
    shifted = len(knots) - 1
    off = equilibrium(model, knots[-1].state, staying)
    knots[-1] = _unloaded(off, first.supports)
    up = {foot: place + np.array([0.0, 0.0, LIFT]) for foot, place in places.items()}
    high = standing_posture(model, staying, start=off.state, feet=up)
    knots += [off, equilibrium(model, high, staying)]
    return shifted, shifted + 1, shifted + 2


def _unloaded(point: Equilibrium, supports: tuple[Support, ...]) -> Equilibrium:
    """Return an equilibrium on more supports, of which the others carry nothing."""
    sizes = np.cumsum([support.rows for support in point.supports])[:-1]
    frames = [support.frame for support in point.supports]
    wrenches = dict(zip(frames, np.split(point.wrenches, sizes), strict=True))
    shares = dict(zip(frames, point.load_share, strict=True))
    return dataclasses.replace(
        point,
        supports=supports,
        wrenches=np.concatenate([wrenches.get(s.frame, np.zeros(s.rows)) for s in supports]),
        load_share=np.array([shares.get(s.frame, 0.0) for s in supports]),
    )
