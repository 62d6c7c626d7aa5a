# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bodies that can exist: ten free numbers for each, about the body of the description.

A body's pseudo-inertia J = [[Sigma, h], [h', m]] (4 x 4), Sigma = tr(I)/2 1 - I, is positive
definite exactly if some distribution of positive masses has it [Wensing 2018]. With the
description's J0 = L L' it is written J = L U U' L', U upper triangular with exponentials on the
diagonal: the log-Cholesky parametrization [Rucker 2022], whose origin here is the description.
Whatever the numbers are, the body exists; and to first order the distance from the description in
the affine-invariant metric [Lee 2018] is 2 |diagonal|, sqrt(2) |rest|, in no units.

Its mass lies within the shapes of its links. Between two planes n'x = a and n'x = b the integral
of (n'x - a)(b - n'x) over its mass is not negative: linear in its pseudo-inertia, and it bounds
centre of mass and second moment alike [Wensing 2018, there for ellipsoids]. Thirteen directions n
make a hull of 26 faces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from geolin_ros.control.soles import Shapes, shapes_of
from geolin_ros.description import mass_properties
from geolin_ros.description.shapes import Shape
from geolin_ros.dynamics.variation import inertia_of_parameters
from geolin_ros.errors import GeolinError
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array

NUMBERS = 10  # of a body
ROW, COLUMN = np.triu_indices(4)
DISTANCE = np.where(ROW == COLUMN, 2.0, np.sqrt(2.0))
"""Distance (10,) from the description of one unit of each number."""
FLAT = 1e-4
"""Least width of a body as a part of its greatest: descriptions have rods and points."""
TENSOR = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # Ixx, Ixy, Iyy, Ixz, Iyz, Izz
_SIGNS = np.array([n for n in product((0, 1, -1), repeat=3) if next((x for x in n if x), -1) > 0])
DIRECTIONS = _SIGNS / np.linalg.norm(_SIGNS, axis=1)[:, np.newaxis]
MARGIN = 0.1
"""Planes stand off the shapes by this part of their distance: cables and screws are not drawn."""


@dataclass(frozen=True)
class Body:
    """A body of the description as the origin of ten numbers."""

    factor: Array
    """(4, 4) L of its pseudo-inertia L L'."""

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
    collisions, or visual ones where these are not read; bodies without any are left out.

    Raises `UrdfError` if a shape is malformed.

    Parameters
    ----------
    model
        The robot.
    source
        Path or text of its URDF or MJCF; from the path of a URDF meshes are found.
    """
    shapes, path = shapes_of(source)
    found = {}
    for body, name in enumerate(model.body_names):
        outlines = _outlines(model, body, shapes, path)
        if outlines:
            found[name] = _rows(outlines)
    return found


def _outlines(
    model: TreeModel, body: int, shapes: Shapes, path: Path | None
) -> list[tuple[Array, float]]:
    """Return points and radii of the shapes of a body, in its axes; none if a link's are not."""
    found: list[tuple[Array, float]] = []
    for link, frame in model.frames.items():
        if frame.body == body and shapes.get(link):
            outlines = _outlines_of_link(shapes[link], path)
            if not outlines:
                return []
            H = frame.placement
            found += [(points @ H[:3, :3].T + H[:3, 3], radius) for points, radius in outlines]
    return found


def _outlines_of_link(shapes: Sequence[Shape], path: Path | None) -> list[tuple[Array, float]]:
    for is_collision in (True, False):
        try:
            found = [s.outline(path) for s in shapes if s.is_collision == is_collision]
        except GeolinError:
            continue
        if found:
            return found
    return []


def _rows(outlines: Sequence[tuple[Array, float]]) -> Array:
    bodies = [pseudo_inertia(unit) for unit in np.eye(NUMBERS)]
    along = [points @ DIRECTIONS.T for points, _ in outlines]
    radii = [radius for _, radius in outlines]
    low = np.min([x.min(axis=0) - r for x, r in zip(along, radii, strict=True)], axis=0)
    high = np.max([x.max(axis=0) + r for x, r in zip(along, radii, strict=True)], axis=0)
    off = MARGIN * (high - low)
    rows = np.empty((len(DIRECTIONS), NUMBERS))
    for k, (n, a, b) in enumerate(zip(DIRECTIONS, low - off, high + off, strict=True)):
        # tr(Q J) of J = [[Sigma, h], [h', m]]
        Q = np.zeros((4, 4))
        Q[:3, :3], Q[:3, 3], Q[3, 3] = -np.outer(n, n), (a + b) * n, -a * b
        rows[k] = [(Q * J).sum() / max(0.5 * (b - a), 1e-6) ** 2 for J in bodies]
    return rows
