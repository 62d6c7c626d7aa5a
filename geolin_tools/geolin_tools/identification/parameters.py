# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is identified, as numbers that are zero at the description and of order one away from it.

Each number is divided by how far the description may be off: the numbers have, before anything is
measured, zero mean and unit variance.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geolin_ros.dynamics.derivatives import inertial_parameters
from geolin_ros.errors import unknown_name
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array
from geolin_tools.identification.bodies import DISTANCE, NUMBERS, Body, inertial_parameters_of
from geolin_tools.identification.equations import Equations, likeness

UNITS = {
    'rotor': 'kg m^2 or kg',
    'damping': 'N m s/rad or N s/m',
    'friction': 'N m or N',
    'friction_speed': 'rad/s or m/s',
    'stiffness': 'N m/rad or N/m',
    'offset': 'N m or N',
    'scale': '',
}
NOT_NEGATIVE = ('rotor', 'damping', 'friction', 'stiffness')
LOGARITHMIC = ('friction_speed', 'scale')
SCALE_TRUST = 0.3
"""Standard deviation of the logarithm of a scale of efforts, about that which makes efforts those
of the description."""
SPEED_TRUST = 1.0
"""The same of the speed over which Coulomb friction changes sign."""
LOAD_MASS, LOAD_WIDTH, LOAD_TRUST = 1.0, 0.1, 2.0
"""A load is taken for a ball: its mass [kg], the deviation of its mass from its centre [m], and
how far it is believed."""
WALL, STIFF = 0.01, 1e3
"""Bodies stay this part off the border of their room, or pay so many deviations for each unit."""


class Prior(NamedTuple):
    """What is believed of a robot before it is measured."""

    trust: float = 0.3
    """Relative standard deviation of what the description says about bodies."""
    springs: bool = True
    """Whether joints may turn out to have springs; what pulls at cables does."""
    scales: tuple[str, ...] = ()
    """Joints whose measured efforts are torques but for an unknown factor."""
    trusts: tuple[tuple[str, float], ...] = ()
    """Links that are trusted otherwise: name and relative standard deviation."""
    only: tuple[str, ...] = ()
    """Links and joints that may differ from the description; empty: all."""
    payload: str = ''
    """Link with an unknown load: what is identified then, with nothing else."""
    rooms: Mapping[str, Array] | None = None
    """Where the mass of bodies may be: see `rooms_of`."""


@dataclass(frozen=True)
class JointNumber:
    """One number of a joint: ``value = start + spread * x``, or of its logarithm."""

    joint: int
    kind: str
    start: float
    spread: float

    def value(self, x: float) -> float:
        """Return the value in its unit."""
        if self.kind in LOGARITHMIC:
            return float(self.start * np.exp(self.spread * x))
        found = self.start + self.spread * x
        is_rounding = self.kind in NOT_NEGATIVE and found < 1e-9 * max(self.start, self.spread)
        return 0.0 if is_rounding else found

    def slope(self, x: float) -> float:
        """Return the derivative of `value`."""
        return self.spread * (self.value(x) if self.kind in LOGARITHMIC else 1.0)

    @property
    def lowest(self) -> float:
        """The least x."""
        return -self.start / self.spread if self.kind in NOT_NEGATIVE else -np.inf


class Parameters:
    """The numbers x of a robot: ten for each body with a mass, then those of its joints.

    Parameters
    ----------
    model
        The description; its Coulomb friction must act (``coulomb_friction=True``).
    equations
        Where it moved: tells what is much friction, and much inertia, for a joint.
    prior
        What is believed of the robot.

    Raises
    ------
    UnknownNameError
        If the prior names a link or joint that the robot does not have.
    """

    def __init__(self, model: TreeModel, equations: Equations, prior: Prior | None = None) -> None:
        prior = prior or Prior()
        self.model, self.payload = model, prior.payload
        described = inertial_parameters(model).reshape(-1, NUMBERS)
        self.described, self._kept = described, np.zeros_like(described)
        only, trusts = self._named(prior)
        first = 1 if model.base == 'fixed' else 0
        if prior.payload:
            frame = model.frame(prior.payload)
            self._kept[frame.body] = described[frame.body]
            self.bodies = {frame.body: _load(frame.placement)}
            trusts = {frame.body: LOAD_TRUST}
        else:
            found = {i: Body.of(described[i]) for i in range(first, len(described))}
            self.bodies = {
                i: body
                for i, body in found.items()
                if body is not None and (not prior.only or i in only)
            }
        # a mass m exp(2 d) that is `trust` off has the distance 2 d = trust
        self._spreads = {i: trusts.get(i, prior.trust) / DISTANCE for i in self.bodies}
        self.joints: list[JointNumber] = []
        if not prior.payload:
            self.joints = list(_joint_numbers(model, equations, prior))
        self.count = NUMBERS * len(self.bodies) + len(self.joints)
        self.lower = np.full(self.count, -np.inf)
        self.lower[NUMBERS * len(self.bodies) :] = [number.lowest for number in self.joints]
        self._rooms = dict(self._rooms_of(prior.rooms))

    def _named(self, prior: Prior) -> tuple[set[int], dict[int, float]]:
        """Return the bodies of the links that a prior names, and how they are trusted."""
        model = self.model
        known = (*model.frames, *model.joint_names)
        for name in prior.only:
            if name not in known:
                raise unknown_name('link or joint', name, known, f'robot {model.name!r}')
        only = {model.frame(name).body for name in prior.only if name in model.frames}
        return only, {model.frame(name).body: trust for name, trust in prior.trusts}

    def _rooms_of(self, rooms: Mapping[str, Array] | None) -> Iterator[tuple[int, Array]]:
        """Yield the rows of bodies, by their mass.

        Where the description is beyond a plane, it is the plane. A load may be where its link is
        not.
        """
        if rooms is None or self.payload:
            return
        for i in self.bodies:
            rows = rooms.get(self.model.body_names[i])
            if rows is not None:
                mass = self.described[i, 0]
                rows = rows / mass
                beyond = np.minimum(rows @ self.described[i] - 2.0 * WALL, 0.0)
                rows[:, 0] -= beyond / mass
                yield i, rows

    @property
    def roomless(self) -> tuple[str, ...]:
        """Names of the identified bodies whose mass may be anywhere."""
        if self.payload:
            return ()
        return tuple(self.model.body_names[i] for i in self.bodies if i not in self._rooms)

    def room_residual(self, x: Array) -> Array:
        """Return how far bodies reach beyond their rooms, (k,), in deviations; 0 within."""
        pi = self.inertial(x)
        parts = [np.minimum(rows @ pi[i] - WALL, 0.0) for i, rows in self._rooms.items()]
        return np.concatenate([np.zeros(0), *parts]) * STIFF

    def room_jacobian(self, x: Array) -> Array:
        """Return the derivative (k, p) of `room_residual`."""
        pi, parts = self.inertial(x), [np.zeros((0, self.count))]
        for i, part, block in self.inertial_jacobians(x):
            rows = self._rooms.get(i)
            if rows is not None:
                J = np.zeros((len(rows), self.count))
                J[:, part] = np.where((rows @ pi[i] < WALL)[:, np.newaxis], rows @ block, 0.0)
                parts.append(J * STIFF)
        return np.concatenate(parts)

    def inertial(self, x: Array) -> Array:
        """Return the ten parameters of all bodies (nb, 10)."""
        pi = self.described.copy()
        for i, parameters in self.own(x).items():
            pi[i] = self._kept[i] + parameters
        return pi

    def own(self, x: Array) -> dict[int, Array]:
        """Return the ten parameters (10,) of identified bodies; of a load without what carries."""
        return {
            i: body.parameters(self._spreads[i] * x[NUMBERS * p : NUMBERS * (p + 1)])
            for p, (i, body) in enumerate(self.bodies.items())
        }

    def inertial_jacobians(self, x: Array) -> Iterator[tuple[int, slice, Array]]:
        """Yield body, its numbers, and the derivative (10, 10) of its parameters by them."""
        for p, (i, body) in enumerate(self.bodies.items()):
            part = slice(NUMBERS * p, NUMBERS * (p + 1))
            yield i, part, body.jacobian(self._spreads[i] * x[part]) * self._spreads[i]

    def joint_values(self, x: Array) -> dict[tuple[int, str], float]:
        """Return the values of the joints, by joint and kind."""
        own = x[NUMBERS * len(self.bodies) :]
        return {
            (number.joint, number.kind): number.value(float(value))
            for number, value in zip(self.joints, own, strict=True)
        }


def _load(placement: Array) -> Body:
    """Return a ball at the origin of a link, in axes of its body."""
    com, width = placement[:3, 3], LOAD_WIDTH**2 * np.eye(3)
    J = np.zeros((4, 4))
    J[:3, :3], J[:3, 3] = width + np.outer(com, com), com
    J[3, :3], J[3, 3] = com, 1.0
    body = Body.of(inertial_parameters_of(LOAD_MASS * J))
    assert body is not None
    return body


def _joint_numbers(model: TreeModel, equations: Equations, prior: Prior) -> Iterator[JointNumber]:
    for name in prior.scales:
        if name not in model.joint_names:
            raise unknown_name('joint', name, model.joint_names, f'robot {model.name!r}')
    tree, six = model.tree, model.m - model.n
    factors = likeness(equations).factor if prior.scales else np.full(model.n, np.nan)
    for c in np.flatnonzero(np.isfinite(equations.measured[:, six:]).all(axis=0)):
        at, name = int(model.own_coordinate[c]), model.joint_names[c]
        if prior.only and name not in prior.only:
            continue
        scale = 1.0 / float(factors[c]) if name in prior.scales and factors[c] > 0.0 else 1.0
        effort = max(scale * float(np.std(equations.measured[:, six + c])), 1e-3)
        speed = max(float(np.sqrt(np.mean(equations.rate[:, c] ** 2))), 1e-3)
        change = max(float(np.sqrt(np.mean(equations.acceleration[:, c] ** 2))), 1e-2)
        width = max(float(np.ptp(equations.position[:, c])), 1e-2)
        stiff = float(tree.stiffness[at])
        friction = float(tree.friction[at])
        yield JointNumber(int(c), 'rotor', float(tree.armature[at]), effort / change)
        yield JointNumber(int(c), 'damping', float(tree.damping[at]), effort / speed)
        yield JointNumber(int(c), 'friction', friction, effort)
        smooth = float(tree.friction_speed[at]) if friction > 0.0 else 0.1 * speed
        yield JointNumber(int(c), 'friction_speed', smooth, SPEED_TRUST)
        if stiff > 0.0 or prior.springs:
            yield JointNumber(int(c), 'stiffness', stiff, max(stiff, effort / width))
        yield JointNumber(int(c), 'offset', 0.0, effort)
        if name in prior.scales:
            yield JointNumber(int(c), 'scale', scale, SCALE_TRUST)
