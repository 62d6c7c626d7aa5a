# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is identified: numbers zero at the description and of order one away from it.

Each number is divided by how far the description may be off: the numbers have, before anything is
measured, zero mean and unit variance.

Bodies can exist whatever their ten numbers are. A body's pseudo-inertia
J = [[Sigma, h], [h', m]] (4 x 4), Sigma = tr(I)/2 1 - I, is positive definite exactly if some
distribution of positive masses has it [Wensing 2018]. With the description's J0 = L L' it is
written J = L U U' L', U upper triangular with exponentials on the diagonal: the log-Cholesky
parametrization [Rucker 2022], whose origin here is the description. To first order the distance
from it in the affine-invariant metric [Lee 2018] is 2 |diagonal|, sqrt(2) |rest|, in no units.

Its mass lies within the shapes of its links. Between two planes n'x = a and n'x = b the integral
of (n'x - a)(b - n'x) over its mass is not negative: linear in its pseudo-inertia, and it bounds
centre of mass and second moment alike [Wensing 2018, there for ellipsoids]. Thirteen directions n
make a hull of 26 faces.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geolin_ros.control.soles import shapes_of
from geolin_ros.description import mass_properties
from geolin_ros.description.shapes import Shape
from geolin_ros.dynamics.derivatives import inertial_parameters
from geolin_ros.dynamics.variation import inertia_of_parameters
from geolin_ros.errors import GeolinError, UnsupportedJointError, unknown_name
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array
from geolin_tools.identification.equations import Equations, likeness

NUMBERS = 10  # of a body
ROW, COLUMN = np.triu_indices(4)
DISTANCE = np.where(ROW == COLUMN, 2.0, np.sqrt(2.0))
"""Distance (10,) from the description of one unit of each number."""
FLAT = 1e-4  # least width of a body as a part of its greatest: descriptions have rods and points
TENSOR = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # Ixx, Ixy, Iyy, Ixz, Iyz, Izz
_SIGNS = np.array([n for n in product((0, 1, -1), repeat=3) if next((x for x in n if x), -1) > 0])
DIRECTIONS = _SIGNS / np.linalg.norm(_SIGNS, axis=1)[:, np.newaxis]
MARGIN = 0.1
"""Planes stand off the shapes by this part of their distance: cables and screws are not drawn."""


class Body(NamedTuple):
    """A body of the description as the origin of ten numbers: L (4, 4) of its L L'."""

    factor: Array

    @classmethod
    def of(cls, parameters: Array) -> 'Body | None':
        """Return the body with ten parameters (10,) as in `inverse_dynamics_regressor`.

        Flat bodies, and those that cannot exist, become the nearest with some thickness in every
        direction; None is returned for a body without mass.
        """
        J = pseudo_inertia(parameters)
        mass = J[3, 3]
        if mass <= 0.0:
            return None
        com = J[:3, 3] / mass
        moments, axes = np.linalg.eigh(J[:3, :3] - mass * np.outer(com, com))
        largest = max(float(moments[-1]), mass * 1e-8)  # a point counts as 0.1 mm wide
        widths = np.maximum(moments, FLAT**2 * largest)
        L = np.zeros((4, 4))
        L[:3, :3] = axes * np.sqrt(widths)
        L[:3, 3], L[3, 3] = com * np.sqrt(mass), np.sqrt(mass)
        return cls(L)

    def parameters(self, numbers: Array) -> Array:
        """Return the ten parameters (10,) of a body."""
        F = self.factor @ _triangle(numbers)
        return inertial_parameters_of(F @ F.T)

    def jacobian(self, numbers: Array) -> Array:
        """Return the derivative (10, 10) of `parameters`."""
        U = _triangle(numbers)
        ways = self.factor[:, ROW] * np.where(ROW == COLUMN, np.diag(U)[ROW], 1.0)
        halves = np.einsum('ik,jk->kij', ways, (self.factor @ U)[:, COLUMN])
        return inertial_parameters_of(halves + halves.swapaxes(1, 2)).T


def pseudo_inertia(parameters: Array) -> Array:
    """Return J (4, 4) of ten parameters; linear."""
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = parameters
    half = 0.5 * (xx + yy + zz)
    return np.array(
        [
            [half - xx, -xy, -xz, hx],
            [-xy, half - yy, -yz, hy],
            [-xz, -yz, half - zz, hz],
            [hx, hy, hz, m],
        ]
    )


def inertial_parameters_of(J: Array) -> Array:
    """Return the ten parameters (..., 10) of pseudo-inertias (..., 4, 4); linear."""
    trace = J[..., 0, 0] + J[..., 1, 1] + J[..., 2, 2]
    tensor = [(trace if i == j else 0.0) - J[..., i, j] for i, j in TENSOR]
    return np.stack([J[..., 3, 3], *np.moveaxis(J[..., :3, 3], -1, 0), *tensor], axis=-1)


def is_physical(parameters: Array) -> bool:
    """Whether a body with these ten parameters can exist."""
    if not parameters[0] > 0.0:
        return False
    _, _, rotational = of_mass(parameters)
    moments = np.linalg.eigvalsh(rotational)
    return bool(moments[0] > 0.0 and moments[0] + moments[1] > moments[2])


def of_mass(parameters: Array) -> tuple[float, Array, Array]:
    """Return mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2]."""
    return mass_properties(inertia_of_parameters(parameters))


def _triangle(numbers: Array) -> Array:
    U = np.zeros((4, 4))
    U[ROW, COLUMN] = numbers
    np.fill_diagonal(U, np.exp(np.clip(np.diag(U), -10.0, 10.0)))
    return U


def rooms_of(model: TreeModel, source: str | Path) -> dict[str, Array]:
    """Return rows (13, 10) by body: their products with its inertial parameters are not negative.

    Rows are in units of the square of half the distance of the planes. Shapes are those of
    collisions, or visual ones where these are not read; bodies without any are left out. The
    source is path or text of the robot's URDF or MJCF; from the path of a URDF meshes are found.

    Raises `UrdfError` if a shape is malformed.
    """
    shapes, path = shapes_of(source)
    found = {}
    for body, name in enumerate(model.body_names):
        links = [link for link, frame in model.frames.items() if frame.body == body]
        outlines = [
            _outlines(model, link, shapes[link], path) for link in links if shapes.get(link)
        ]
        if outlines and all(outlines):
            found[name] = _rows([*chain(*outlines)])
    return found


def _outlines(
    model: TreeModel, link: str, shapes: Sequence[Shape], path: Path | None
) -> list[tuple[Array, float]]:
    """Return points, in axes of the body, and radii of the shapes of a link that are read."""
    H = model.frames[link].placement
    for is_collision in (True, False):
        try:
            found = [s.outline(path) for s in shapes if s.is_collision == is_collision]
        except GeolinError:
            continue
        if found:
            return [(points @ H[:3, :3].T + H[:3, 3], radius) for points, radius in found]
    return []


def _rows(outlines: Sequence[tuple[Array, float]]) -> Array:
    bodies = [pseudo_inertia(unit) for unit in np.eye(NUMBERS)]
    along = [points @ DIRECTIONS.T for points, _ in outlines]
    radii = [radius for _, radius in outlines]
    low = np.min([x.min(axis=0) - r for x, r in zip(along, radii, strict=True)], axis=0)
    high = np.max([x.max(axis=0) + r for x, r in zip(along, radii, strict=True)], axis=0)
    a, b = low - MARGIN * (high - low), high + MARGIN * (high - low)
    # tr(Q J) of J = [[Sigma, h], [h', m]]
    Q = np.zeros((len(DIRECTIONS), 4, 4))
    Q[:, :3, :3] = -np.einsum('ki,kj->kij', DIRECTIONS, DIRECTIONS)
    Q[:, :3, 3], Q[:, 3, 3] = (a + b)[:, np.newaxis] * DIRECTIONS, -a * b
    half = np.maximum(0.5 * (b - a), 1e-6)
    return np.asarray(np.einsum('kij,pij->kp', Q, bodies) / half[:, np.newaxis] ** 2)


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
SPEED_TRUST = 1.0  # the same of the speed over which Coulomb friction changes sign
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


class JointNumber(NamedTuple):
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
        return 0.0 if is_rounding else float(found)

    def slope(self, x: float) -> float:
        """Return the derivative of `value`."""
        return self.spread * (self.value(x) if self.kind in LOGARITHMIC else 1.0)


class Parameters:
    """The numbers x of a robot: ten for each body with a mass, then those of its joints.

    Coulomb friction of the description must act (``coulomb_friction=True``); equations say what is
    much friction, and much inertia, for a joint. Raises `UnknownNameError` if the prior names a
    link or joint that the robot does not have, `UnsupportedJointError` if a joint is one axis of
    several.
    """

    def __init__(self, model: TreeModel, equations: Equations, prior: Prior | None = None) -> None:
        prior = prior or Prior()
        self.model, self.payload = model, prior.payload
        described = inertial_parameters(model).reshape(-1, NUMBERS)
        self.described, self._kept = described, np.zeros_like(described)
        known = (*model.frames, *model.joint_names)
        for name in prior.only:
            if name not in known:
                raise unknown_name('link or joint', name, known, f'robot {model.name!r}')
        only = {model.frame(name).body for name in prior.only if name in model.frames}
        trusts = {model.frame(name).body: trust for name, trust in prior.trusts}
        self.bodies: dict[int, Body] = {}
        self.joints: list[JointNumber] = []
        if prior.payload:
            frame = model.frame(prior.payload)
            self._kept[frame.body] = described[frame.body]
            ball = np.diag([LOAD_WIDTH, LOAD_WIDTH, LOAD_WIDTH, 1.0])
            ball[:3, 3] = frame.placement[:3, 3]
            self.bodies[frame.body] = Body(np.sqrt(LOAD_MASS) * ball)
            trusts = {frame.body: LOAD_TRUST}
        else:
            for i in range(1 if model.base == 'fixed' else 0, len(described)):
                body = Body.of(described[i])
                if body is not None and (not prior.only or i in only):
                    self.bodies[i] = body
            self.joints += _joint_numbers(model, equations, prior)
        # a mass m exp(2 d) that is `trust` off has the distance 2 d = trust
        self._spreads = {i: trusts.get(i, prior.trust) / DISTANCE for i in self.bodies}
        self.first = NUMBERS * len(self.bodies)
        self.count = self.first + len(self.joints)
        self.lower = np.full(self.count, -np.inf)
        for at, number in enumerate(self.joints, self.first):
            if number.kind in NOT_NEGATIVE:
                self.lower[at] = -number.start / number.spread
        self._rooms: dict[int, Array] = {}  # by mass; a load may be where its link is not
        rooms = {} if self.payload else prior.rooms or {}
        for i in self.bodies:
            if model.body_names[i] in rooms:
                rows = rooms[model.body_names[i]]
                # where the description is beyond a plane, it is the plane
                beyond = np.minimum(rows @ described[i] / described[i, 0] - 2.0 * WALL, 0.0)
                self._rooms[i] = (rows - np.outer(beyond, np.eye(NUMBERS)[0])) / described[i, 0]

    @property
    def roomless(self) -> tuple[str, ...]:
        """Names of the identified bodies whose mass may be anywhere."""
        if self.payload:
            return ()
        return tuple(self.model.body_names[i] for i in self.bodies if i not in self._rooms)

    def room(self, x: Array) -> tuple[Array, Array]:
        """Return how far bodies reach beyond their rooms, in deviations, and its derivative.

        (k,) and (k, p); 0 within.
        """
        pi, beyond, J = self.inertial(x), [np.zeros(0)], [np.zeros((0, self.count))]
        for i, part, block in self.inertial_jacobians(x):
            if i in self._rooms:
                rows = self._rooms[i]
                beyond.append(STIFF * np.minimum(rows @ pi[i] - WALL, 0.0))
                slopes = np.where(beyond[-1][:, np.newaxis] < 0.0, STIFF * rows @ block, 0.0)
                J.append(np.zeros((len(rows), self.count)))
                J[-1][:, part] = slopes
        return np.concatenate(beyond), np.concatenate(J)

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
        return {
            (number.joint, number.kind): number.value(value)
            for number, value in zip(self.joints, x[self.first :].tolist(), strict=True)
        }


def _joint_numbers(model: TreeModel, equations: Equations, prior: Prior) -> Iterator[JointNumber]:
    for name in prior.scales:
        if name not in model.joint_names:
            raise unknown_name('joint', name, model.joint_names, f'robot {model.name!r}')
    tree, efforts = model.tree, equations.measured[:, model.m - model.n :]
    factors = likeness(equations).factor if prior.scales else np.full(model.n, np.nan)
    chains = {name.rpartition('/')[0] for name in model.body_names if name not in model.frames}
    for c in np.flatnonzero(np.isfinite(efforts).all(axis=0)).tolist():
        at, name = model.own_coordinate[c], model.joint_names[c]
        if prior.only and name not in prior.only:
            continue
        if name.rpartition('/')[0] in chains:
            raise UnsupportedJointError(
                f'joint {name!r} is one axis of several, which have one friction in an overlay, '
                'expected joints with one; write it as a chain of those, or give only others'
            )
        scale = 1.0 / float(factors[c]) if name in prior.scales and factors[c] > 0.0 else 1.0
        effort = max(scale * float(np.std(efforts[:, c])), 1e-3)
        speed = max(float(np.sqrt(np.mean(equations.rate[:, c] ** 2))), 1e-3)
        change = max(float(np.sqrt(np.mean(equations.acceleration[:, c] ** 2))), 1e-2)
        width = max(float(np.ptp(equations.position[:, c])), 1e-2)
        stiff, friction = float(tree.stiffness[at]), float(tree.friction[at])
        smooth = float(tree.friction_speed[at]) if friction > 0.0 else 0.1 * speed
        yield JointNumber(c, 'rotor', float(tree.armature[at]), effort / change)
        yield JointNumber(c, 'damping', float(tree.damping[at]), effort / speed)
        yield JointNumber(c, 'friction', friction, effort)
        yield JointNumber(c, 'friction_speed', smooth, SPEED_TRUST)  # behind its friction
        if stiff > 0.0 or prior.springs:
            yield JointNumber(c, 'stiffness', stiff, max(stiff, effort / width))
        yield JointNumber(c, 'offset', 0.0, effort)
        if name in prior.scales:
            yield JointNumber(c, 'scale', scale, SCALE_TRUST)
