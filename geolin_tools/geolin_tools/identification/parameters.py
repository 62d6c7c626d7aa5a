# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is identified, as numbers that are zero at the description and of order one away from it.

Each number is divided by how far the description may be off: the numbers have, before anything is
measured, zero mean and unit variance.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from geolin_ros.dynamics.derivatives import inertial_parameters
from geolin_ros.errors import unknown_name
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array, BoolArray
from geolin_tools.identification.bodies import DISTANCE, NUMBERS, Body
from geolin_tools.identification.equations import Equations

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
SCALE_TRUST = 0.1
"""Standard deviation of the logarithm of a scale of efforts, before anything is measured."""
SPEED_TRUST = 1.0
"""The same of the speed over which Coulomb friction changes sign."""


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
        return self.start + self.spread * x

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
    trust
        Relative standard deviation of what the description says of bodies.
    springs, scales
        Joints with a spring to identify, or a scale of efforts.
    """

    def __init__(
        self,
        model: TreeModel,
        equations: Equations,
        trust: float = 0.3,
        springs: Sequence[str] = (),
        scales: Sequence[str] = (),
    ) -> None:
        self.model = model
        described = inertial_parameters(model).reshape(-1, NUMBERS)
        first = 1 if model.base == 'fixed' else 0
        found = {i: Body.of(described[i]) for i in range(first, len(described))}
        self.bodies = {i: body for i, body in found.items() if body is not None}
        self.described = described
        # a mass m exp(2 d) that is `trust` off has the distance 2 d = trust
        self.spread = trust / DISTANCE
        six = model.m - model.n
        measured = np.isfinite(equations.measured[:, six:]).all(axis=0)
        own = list(_joint_numbers(model, equations, np.asarray(measured), springs, scales))
        self.joints: list[JointNumber] = own
        self.count = NUMBERS * len(self.bodies) + len(own)
        self.lower = np.full(self.count, -np.inf)
        self.lower[NUMBERS * len(self.bodies) :] = [number.lowest for number in own]

    def body_part(self, position: int) -> slice:
        """Return where the numbers of the ``position``-th identified body are."""
        return slice(NUMBERS * position, NUMBERS * (position + 1))

    def inertial(self, x: Array) -> Array:
        """Return the ten parameters of all bodies (nb, 10)."""
        pi = self.described.copy()
        for p, (i, body) in enumerate(self.bodies.items()):
            pi[i] = body.parameters(self.spread * x[self.body_part(p)])
        return pi

    def inertial_jacobians(self, x: Array) -> Iterator[tuple[int, slice, Array]]:
        """Yield body, its numbers, and the derivative (10, 10) of its parameters by them."""
        for p, (i, body) in enumerate(self.bodies.items()):
            part = self.body_part(p)
            yield i, part, body.jacobian(self.spread * x[part]) * self.spread

    def joint_values(self, x: Array) -> dict[tuple[int, str], float]:
        """Return the values of the joints, by joint and kind."""
        own = x[NUMBERS * len(self.bodies) :]
        return {
            (number.joint, number.kind): number.value(float(value))
            for number, value in zip(self.joints, own, strict=True)
        }


def _joint_numbers(
    model: TreeModel,
    equations: Equations,
    measured: BoolArray,
    springs: Sequence[str],
    scales: Sequence[str],
) -> Iterator[JointNumber]:
    for name in (*springs, *scales):
        if name not in model.joint_names:
            raise unknown_name('joint', name, model.joint_names, f'robot {model.name!r}')
    tree, six = model.tree, model.m - model.n
    for c in np.flatnonzero(measured):
        at, name = int(model.own_coordinate[c]), model.joint_names[c]
        effort = max(float(np.std(equations.measured[:, six + c])), 1e-3)
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
        if stiff > 0.0 or name in springs:
            yield JointNumber(int(c), 'stiffness', stiff, max(stiff, effort / width))
        yield JointNumber(int(c), 'offset', 0.0, effort)
        if name in scales:
            yield JointNumber(int(c), 'scale', 1.0, SCALE_TRUST)
