# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains to look up, by what the robot stands on and how its joints are bent.

For each set of contacts there is a route: postures in order, each with its gains. Between two
gains and efforts are interpolated linearly (never the cost P, which would have to be more exact),
the pose of the base along the geodesic. The error is measured as the bank is built, against the
gain designed halfway, and postures are added where it is too large.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from geolin_ros.control.equilibrium import Equilibrium, equilibrium
from geolin_ros.control.lqr import Gains, Tuning, design
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.support import Support
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import centre_of_mass
from geolin_ros.errors import ConfigurationError, InfeasibleError, unknown_name
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array

TOLERANCE, MOST_KNOTS = 0.01, 65
"""Relative error of an interpolated gain (Frobenius), and number of postures of a route."""


@dataclass(frozen=True, eq=False)
class Route:
    """Gains along postures on the same contacts, in order; of one alone it holds everywhere.

    Attributes
    ----------
    errors : (knots - 1,)
        Relative error of the gain halfway between two knots, as found when the bank was built.
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
    """Return a bank of gains along routes.

    Parameters
    ----------
    routes
        For each set of contacts equilibria in order, with the same contacts each.
    tolerance
        Largest relative error of an interpolated gain, beyond which equilibria are added halfway.

    Raises
    ------
    ConfigurationError
        If the contacts change along a route, or two routes have the same.
    NotStabilizableError, InfeasibleError
        If a posture cannot be regulated; if one halfway has no equilibrium, or more than
        `MOST_KNOTS` are needed.
    """
    found: dict[frozenset[str], Route] = {}
    for points in routes:
        feet = {frozenset(support.frame for support in point.supports) for point in points}
        if len(feet) != 1 or feet & set(found):
            raise ConfigurationError(
                f'a route has the contact sets {sorted(map(sorted, feet))}, expected one, and no '
                'other route with it'
            )
        first, *rest = [(point, design(model, point, tuning)) for point in points]
        done, ahead, errors = [first], rest[::-1], list[float]()
        while ahead:
            (here, before), (there, after) = done[-1], ahead[-1]
            halfway = _halfway(model, here, there)
            between = design(model, halfway, tuning)
            error = _error(interpolated(before, after, 0.5), between)
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


def _error(K: Gains, exact: Gains) -> float:
    return float(np.linalg.norm(K.K - exact.K) / np.linalg.norm(exact.K))


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
        if measured != self._candidate:
            self._candidate, self._since = measured, time
        if measured != self.contacts and time - self._since >= self.dwell:
            self.contacts = measured
        return self.contacts
