# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains to look up: by what the robot stands on and how its joints are bent, or along a gait.

For each set of contacts a bank has a route: postures in order, each with its gains. Between two
gains and efforts are interpolated linearly (never the cost P, which would have to be more exact),
the pose of the base along the geodesic. The error is measured as the bank is built, against the
gain designed halfway, and postures are added where it is too large.

Those of a gait, from standing on, are

    z_{k+1} = A_k z_k + B_k w_k about x_k, u_k;   u = u_k - (K_k + K_complement_k) z

The optimal gains of a periodic system repeat with it [Bittanti 1991]: the Riccati recursion goes
backwards over the period until it returns what it began with, and from there over the start. Of
what contacts forbid, only velocities are damped: where a foot has landed, it stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from geolin_ros.control.equilibrium import Equilibrium, equilibrium
from geolin_ros.control.lqr import Gains, Tuning, design
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.support import Support
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import centre_of_mass
from geolin_ros.errors import (
    ConfigurationError,
    InfeasibleError,
    NotStabilizableError,
    unknown_name,
)
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array

TOLERANCE, MOST_KNOTS = 0.01, 65
"""Relative error of an interpolated gain (Frobenius), and number of postures of a route."""
MOST_PERIODS = 100
"""Over which the gains have to become periodic."""
SAME = 1e-10
"""Relative change of the cost over a period of gains that are."""


@dataclass(frozen=True, eq=False)
class Route:
    """Gains along postures on the same contacts, in order; of one alone it holds everywhere.

    ``errors`` (knots - 1,) are relative ones of the gain halfway between two knots, as found when
    the bank was built.
    """

    knots: tuple[Gains, ...]
    errors: Array

    def gains(self, state: State) -> Gains:
        """Return the gains at the point of the route nearest to a state's joints, in its pose."""
        if len(self.knots) == 1:
            return self.knots[0]
        starts, legs = self._joints[:-1], np.diff(self._joints, axis=0)
        lengths = np.maximum(np.sum(legs**2, axis=1), np.finfo(np.float64).tiny)
        shares = np.clip(np.sum((state.s - starts) * legs, axis=1) / lengths, 0.0, 1.0)
        away = np.linalg.norm(state.s - starts - shares[:, None] * legs, axis=1)
        leg = int(np.argmin(away))
        return interpolated(self.knots[leg], self.knots[leg + 1], float(shares[leg]))

    @cached_property
    def _joints(self) -> Array:
        return np.array([knot.state.s for knot in self.knots])


@dataclass(frozen=True, eq=False)
class GainBank:
    """Routes by the frames of the contacts, in any order, for the robot of a model hash."""

    model_hash: str
    routes: dict[frozenset[str], Route]

    def gains(self, contacts: Sequence[str], state: State) -> Gains:
        """Return the gains for contacts (frames) and the joints of a state; errors as `route`."""
        return self.route(contacts).gains(state)

    def route(self, contacts: Sequence[str]) -> Route:
        """Return the route for contacts (frames); raises `UnknownNameError` if there is none."""
        route = self.routes.get(frozenset(contacts))
        if route is None:
            known = ['+'.join(sorted(frames)) for frames in self.routes]
            raise unknown_name('contact set', '+'.join(sorted(contacts)), known, 'the gain bank')
        return route


def build(
    model: TreeModel,
    routes: Sequence[Sequence[Equilibrium]],
    tuning: Tuning | None = None,
    *,
    tolerance: float = TOLERANCE,
) -> GainBank:
    """Return a bank of gains along routes, each of equilibria in order on the same contacts.

    Equilibria are added halfway where the relative error of an interpolated gain is above
    ``tolerance``.

    Raises `ConfigurationError` for a tolerance that is not above 0, if the contacts change along a
    route, or two routes have the same; `NotStabilizableError` if a posture cannot be regulated;
    `InfeasibleError` if one halfway has no equilibrium, or more than `MOST_KNOTS` are needed.
    """
    if not tolerance > 0.0:
        raise ConfigurationError(f'tolerance is {tolerance:g}, expected a relative error above 0')
    found: dict[frozenset[str], Route] = {}
    for points in routes:
        feet = {frozenset(support.frame for support in point.supports) for point in points}
        if len(feet) != 1 or feet & set(found):
            raise ConfigurationError(
                f'a route has the contact sets {sorted(map(sorted, feet))}, expected one, and no '
                'other route with it'
            )
        first, *rest = [(point, design(model, point, tuning=tuning)) for point in points]
        done, ahead, errors = [first], rest[::-1], list[float]()
        while ahead:
            (here, before), (there, after) = done[-1], ahead[-1]
            halfway = _halfway(model, here, there)
            between = design(model, halfway, tuning=tuning)
            off = interpolated(before, after, 0.5).K - between.K
            error = float(np.linalg.norm(off) / np.linalg.norm(between.K))
            if error <= tolerance:
                done.append(ahead.pop())
                errors.append(error)
                continue
            ahead.append((halfway, between))
            if len(ahead) + len(done) > MOST_KNOTS:
                raise InfeasibleError(
                    f'gains of robot {model.name!r} would need more than {MOST_KNOTS} postures '
                    f'to be interpolated within {tolerance:g}; allow for more error, or make the '
                    'route shorter'
                )
        found[feet.pop()] = Route(tuple(gains for _, gains in done), np.array(errors))
    return GainBank(model.hash, found)


def squat(
    model: TreeModel, supports: Sequence[Support], heights: Sequence[float], start: State
) -> list[Equilibrium]:
    """Return equilibria at heights of the base above the feet [m], feet where ``start`` has them.

    Raises `InfeasibleError` if one of them is out of reach, or has no equilibrium.
    """
    points, state = [], start
    for height in heights:
        state = standing_posture(model, supports, start=state, height=height)
        points.append(equilibrium(model, state, supports))
    return points


def interpolated(first: Gains, second: Gains, fraction: float) -> Gains:
    """Return what lies between two gains for the same contacts, and their operating points."""
    mean = {
        name: (1.0 - fraction) * getattr(first, name) + fraction * getattr(second, name)
        for name in ('feedforward', 'K', 'K_complement', 'K_past')
    }
    return replace(
        first,
        state=first.state.retract(fraction * first.state.difference(second.state)),
        closed_loop=max(first.margin, second.margin),
        solution=None,
        **mean,
    )


def _halfway(model: TreeModel, first: Equilibrium, second: Equilibrium) -> Equilibrium:
    """Return an equilibrium between two, feet where the first has them."""
    start = first.state.retract(0.5 * first.state.difference(second.state))
    at = Kinematics(model, first.state)
    footholds = {s.frame: at.pose(s.at(model)) for s in first.stands_on}
    com = 0.5 * sum(centre_of_mass(model, p.state).com[:2] for p in (first, second))
    state = standing_posture(model, first.stands_on, feet=footholds, com=com, start=start)
    return equilibrium(model, state, first.stands_on)


class SteadyContacts:
    """Hysteresis on contacts: a change counts when it has lasted for ``dwell`` [s]."""

    def __init__(self, contacts: Sequence[str], dwell: float = 0.02) -> None:
        if not 0.0 <= dwell < np.inf:
            raise ConfigurationError(f'dwell is {dwell} s, expected a time from 0 on')
        self.dwell = dwell
        self.contacts = frozenset(contacts)
        self._candidate, self._since = self.contacts, 0.0

    def update(self, time: float, contacts: Sequence[str]) -> frozenset[str]:
        """Return the contacts that count at ``time`` [s], given those that are measured."""
        measured = frozenset(contacts)
        if measured != self._candidate or time < self._since:  # a clock set back
            self._candidate, self._since = measured, time
        if measured != self.contacts and time - self._since >= self.dwell:
            self.contacts = measured
        return self.contacts


class Step(NamedTuple):
    """A and B from one knot to the next, and what z and w cost there: z'Qz + 2 w'Sz + w'Rw."""

    A: Array
    B: Array
    Q: Array
    R: Array
    S: Array


@dataclass(frozen=True, eq=False)
class GaitGains:
    """Gains at knots one ``dt`` apart: a start from rest, then a period that repeats.

    Attributes
    ----------
    knots
        Each with the state to be in, which moves, and the supports in contact until the next.
    first
        Knots before the period.
    displacement : (4, 4)
        Where a period takes the robot: a turn about the vertical and a way along the ground.
    """

    model_hash: str
    knots: tuple[Gains, ...]
    first: int
    displacement: Array

    @property
    def period(self) -> float:
        """Time in which the gait repeats itself [s]."""
        return (len(self.knots) - self.first) * self.knots[0].dt

    def at(self, time: float, place: Array) -> Gains:
        """Return gains and state at a time [s] since the robot stood, before which it stands.

        ``place`` (4, 4) leads from the world in which the gait was planned to that of the robot.
        """
        dt = self.knots[0].dt
        passed = int(np.floor(max(time, 0.0) / dt + 1e-9))
        share = min(max(max(time, 0.0) / dt - passed, 0.0), 1.0)
        ends = []
        for number in (passed, passed + 1):
            repeats, k = divmod(max(number - self.first, 0), len(self.knots) - self.first)
            knot = self.knots[min(number, self.first) + k]
            state = knot.state.copy()
            state.H = place @ np.linalg.matrix_power(self.displacement, repeats) @ state.H
            ends.append(replace(knot, state=state))
        knot, after = ends
        state = knot.state.retract(share * knot.state.difference(after.state))
        return replace(knot, state=state)


def gains_along(steps: Sequence[Step], first: int) -> tuple[Array, float]:
    """Return K (N, n_u, n_x) of w = -K z, and how much of z is left over a period at most.

    The steps from number ``first`` on repeat for ever. Raises `NotStabilizableError` if the
    recursion does not settle.
    """
    P = steps[first].Q
    for _ in range(MOST_PERIODS):
        before, (P, K) = P, _backwards(P, steps[first:])
        if np.linalg.norm(P - before) <= SAME * np.linalg.norm(P):
            break
    else:
        raise NotStabilizableError(
            f'gains of a gait of {len(steps) - first} steps do not become periodic within '
            f'{MOST_PERIODS} periods, expected inputs that reach all motions that do not decay'
        )
    left = np.eye(len(P))
    for step, gain in zip(steps[first:], K, strict=True):
        left = (step.A - step.B @ gain) @ left
    _, start = _backwards(P, steps[:first])
    return np.array([*start, *K]), float(np.abs(np.linalg.eigvals(left)).max())


def _backwards(P: Array, steps: Sequence[Step]) -> tuple[Array, list[Array]]:
    """Return the cost before some steps, of the cost P after them, and their gains."""
    gains = list[Array]()
    for A, B, Q, R, S in reversed(steps):
        G = S + B.T @ P @ A
        K = np.asarray(np.linalg.solve(R + B.T @ P @ B, G), dtype=np.float64)
        P = Q + A.T @ P @ A - G.T @ K
        P = 0.5 * (P + P.T)
        gains.append(K)
    return P, gains[::-1]
