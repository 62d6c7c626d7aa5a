# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A check of A and B that shares nothing with how they were made.

Along random directions, one for each block of columns so that every entry of A and B counts, A Z +
B dU is compared with the derivative of textbook equations, in every form of A and B:

    A z + B du = Im f(g exp(i h z), tau + i h du) / h - ad_f z                           (1)

for displacements z of a state g and du of the efforts, in the chart that A and B are about, and
the rate f of `accelerations`; half of ad_f z for the frozen reference. With a tiny h, Eq. (1) is
the derivative to rounding [Squire 1998]. Coordinates of the base twist and steps over a period are
written down as they are defined, and differentiated the same way. Nothing here reads the engine,
its packed arrays or its placements.

The limit grows with the condition number of M along the motions that contacts leave: light feet
count where they are free. J nu_dot + gamma = 0 and J B = 0 are kept to rounding whatever it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from geolin_ros.errors import UnsolvableError
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array
from geolin_ros.verification import group
from geolin_ros.verification.accelerations import PrescribedAccelerations
from geolin_ros.verification.bodies import Bodies, Point
from geolin_ros.verification.group import IMAGINARY, STEP

if TYPE_CHECKING:
    from geolin_ros.linearization.about import Reference
    from geolin_ros.linearization.discretization import Method
    from geolin_ros.spatial.frames import Representation


LIMIT = 1e-8
"""Largest deviation of a well-conditioned robot, relative to the largest entry of the block."""
ROUNDING = 1e3 * np.finfo(np.float64).eps
"""Times the condition of M along the motions that contacts leave, or of J J': of another one."""
LEAST = 1e-3
"""A block with entries below this part of its row's largest is judged by that."""
REDUNDANT = 1e9
"""Contacts with a larger condition number of J J', rows of length one, depend on each other."""
STAGES = ((0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0))
"""Nodes and weights of Runge and Kutta after the first stage."""


@dataclass(frozen=True)
class Form:
    """What A and B are; the words are those of `Linearizer` and `Discretization`."""

    reference: 'Reference' = 'moving'
    representation: 'Representation' = 'body'
    method: 'Method | Literal["none"]' = 'none'
    dt: float = 0.0


class Certificate(NamedTuple):
    """What a check found."""

    deviation: float
    """Largest deviation of A z + B du and nu_dot, relative to the largest entry of its block."""
    limit: float
    """Above it the check has failed."""
    condition: float
    """Condition number of the mass matrix."""
    worst: str
    """Block of the largest deviation, as ``rows by columns``."""

    @property
    def failed(self) -> bool:
        """Whether A, B or nu_dot are wrong."""
        return not self.deviation <= self.limit


class Claim(NamedTuple):
    """What is checked: A (2m, 2m), B (2m, n_u) and nu_dot (m,) about a state and efforts (n,).

    Under external ``wrenches`` and ``contacts``, of which those count that are active.
    """

    state: State
    tau: Array
    A: Array
    B: Array
    nu_dot: Array
    wrenches: Sequence[Wrench] = ()
    contacts: Sequence[Closure] = ()


class Certifier:
    """Checks one robot's linearizations; not for several threads at once.

    Parameters
    ----------
    form
        Of all the linearizations that will be checked.
    rng
        Where the random directions come from.
    """

    def __init__(
        self, model: TreeModel, form: Form, rng: np.random.Generator | None = None
    ) -> None:
        self._model, self._form = model, form
        self._rng = rng or np.random.default_rng()
        n, first = model.n, model.m - model.n
        sizes = {'H': first, 's': n, 'v': first, 'r': n, 'tau': len(model.actuated_joints)}
        ends = dict(zip(sizes, np.cumsum(list(sizes.values())), strict=True))
        self._columns = {k: slice(ends[k] - size, ends[k]) for k, size in sizes.items() if size}
        self._rows = {name: part for name, part in self._columns.items() if name != 'tau'}
        self._bodies = Bodies(model)

    def check(self, claim: Claim, rng: np.random.Generator | None = None) -> Certificate:
        """Return how far a claim of the form is from the differences, in directions of ``rng``.

        Raises `UnsolvableError` if contacts in force depend on each other at the state:
        differences leave what they admit; `GeolinError` if the state or a contact does not fit the
        robot.
        """
        rng = rng or self._rng
        acting = PrescribedAccelerations(self._bodies, claim.contacts, claim.wrenches)
        condition, left, redundancy = acting.conditions(self._bodies.point(claim.state))
        if not redundancy < REDUNDANT:
            raise UnsolvableError(
                f'contacts of robot {self._model.name!r} depend on each other: condition number '
                f"{redundancy:.1e} of J J', expected below {REDUNDANT:.0e}; A and B hold "
                'along motions that they admit, which differences leave'
            )
        limit = max(LIMIT, ROUNDING * max(left, redundancy))
        if not all(np.isfinite(part).all() for part in (claim.A, claim.B, claim.nu_dot)):
            return Certificate(np.inf, limit, condition, 'not finite')
        directions = np.zeros((claim.A.shape[0] + claim.B.shape[1], len(self._columns)))
        for column, part in zip(directions.T, self._columns.values(), strict=True):
            size = part.stop - part.start
            column[part] = rng.choice([-1.0, 1.0], size) * rng.uniform(0.5, 1.5, size)
        found = self._deviations(claim, acting, directions)
        worst = max(found, key=lambda block: found[block])
        continuous = self._form.method == 'none' and self._form.representation == 'body'
        if found[worst] <= limit and continuous:  # which no condition excuses
            at, by_tau = self._bodies.point(claim.state), claim.B[self._model.m :]
            slips = acting.slip(at, claim.tau[np.newaxis], claim.nu_dot, by_tau)
            broken = int(slips[1] > slips[0])
            if not slips[broken] <= LIMIT:
                name = ('contacts', 'contacts by tau')[broken]
                return Certificate(slips[broken], LIMIT, condition, name)
        return Certificate(found[worst], limit, condition, worst)

    def _deviations(
        self, claim: Claim, acting: PrescribedAccelerations, directions: Array
    ) -> dict[str, float]:
        """Return the deviation of nu_dot and of each block of A and B."""
        products = Directional(self._form, acting, claim.state, claim.tau)
        m = self._model.m
        nu_dot = products.f[m:]
        at, efforts = self._bodies.point(claim.state), claim.tau[np.newaxis]
        by_force, by_effort = acting.least(at, efforts)
        falling = acting.without_efforts(at, efforts)
        scale = max(_largest(nu_dot), _largest(falling), by_force, np.finfo(np.float64).tiny)
        both = np.hstack((claim.A, claim.B))
        expected = products(*np.split(directions, [len(claim.A)]))
        largest = np.abs(np.column_stack((both, both @ directions - expected)))
        starts = [part.start for part in self._rows.values()]
        by_rows = np.maximum.reduceat(largest, starts, axis=0)
        columns = [part.start for part in self._columns.values()]
        sizes = np.maximum.reduceat(by_rows[:, : both.shape[1]], columns, axis=1)
        sizes = np.maximum(sizes, LEAST * sizes.max(axis=1, keepdims=True))
        if self._form.method == 'none':
            of_rates = [name in 'vr' for name in self._rows]
            least = [by_effort if name == 'tau' else by_force for name in self._columns]
            sizes[of_rates] = np.maximum(sizes[of_rates], least)
        found = {'nu_dot': _largest(nu_dot - claim.nu_dot) / scale}
        for i, rows in enumerate(self._rows):
            for j, name in enumerate(self._columns):
                found[f'{rows} by {name}'] = by_rows[i, both.shape[1] + j] / sizes[i, j]
        return {block: float(off) if off == off else np.inf for block, off in found.items()}


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))


class Directional:
    """Products of the A and B of one state, or of its Phi and Gamma.

    Parameters
    ----------
    form
        What A and B are.
    dynamics
        What accelerates the robot.
    state, tau
        What A and B are about.

    Attributes
    ----------
    f : (2 m,)
        [v; r; nu_dot] at the state, of a fixed base [r; nu_dot].
    """

    def __init__(
        self, form: Form, dynamics: PrescribedAccelerations, state: State, tau: Array
    ) -> None:
        self._form, self._dynamics, self._bodies = form, dynamics, dynamics.bodies
        self._tau, self._at = tau, self._bodies.point(state)
        self._half = 0.5 if form.reference == 'frozen' else 1.0  # of ad_f z leaves Eq. (1)
        self._twist_rows = slice(self._bodies.model.m, self._bodies.model.m + 6)
        self.f = dynamics.rate(self._at, tau[np.newaxis])[0]

    def __call__(self, Z: Array, dU: Array) -> Array:
        """Return A Z + B dU, or Phi Z + Gamma dU, for columns Z (2 m, k) and dU (n_u, k)."""
        form, model = self._form, self._bodies.model
        efforts = np.zeros((dU.shape[1], model.n))
        efforts[:, model.actuated] = dU.T
        in_numbers = model.base == 'floating' and form.representation != 'body'
        z = self._from_numbers(Z.T) if in_numbers else Z.T
        if form.method == 'none':
            return self._products(self._at, z, efforts, self._half, in_numbers).T
        answer, theta = self._step(z, efforts)
        start, defect = self._bodies.retract(self._at, theta[np.newaxis]), 0.0 * theta
        if form.reference == 'frozen':
            start, defect = self._at, theta
            if form.method in ('midpoint', 'rkmk4'):
                answer = self._carried(answer, theta)
        if in_numbers:
            end = self._bodies.retract(start, defect + IMAGINARY * answer)
            answer = answer.copy()
            answer[:, self._twist_rows] = self._numbers(end).imag / STEP
        return answer.T

    def _products(
        self, at: Point, z: Array, efforts: Array, share: float = 1.0, in_numbers: bool = False
    ) -> Array:
        """Return A z + B du (k, 2 m) at a real point, Eq. (1)."""
        moved = self._bodies.retract(at, IMAGINARY * z)
        f = self._dynamics.rate(moved, self._tau + IMAGINARY * efforts)
        rates = f.real[0]
        if in_numbers:
            f[:, self._twist_rows] = self._numbers_rate(moved, f[:, self._twist_rows])
        change: Array = f.imag / STEP
        for rows, twist in self._bodies.groups:
            change[:, rows] -= share * z[:, rows] @ self._ad(rows, twist, rates).T
        return change

    def _ad(self, rows: slice, twist: Array, z: Array) -> Array:
        """Return (z x) of one of the groups, in its own rows."""
        return np.asarray(twist @ group.ad(z[..., rows] @ twist) @ twist.T)

    def _step(self, z: Array, efforts: Array) -> tuple[Array, Array]:
        """Return Phi z + Gamma du (k, 2 m) in the method's own chart, and theta (2 m,)."""
        at, dt = self._at, self._form.dt
        match self._form.method:
            case 'euler':
                return z + dt * self._products(at, z, efforts, self._half), dt * self.f
            case 'zoh':
                return self._exponential(z, efforts)
            case 'midpoint':
                middle = self._bodies.retract(at, 0.5 * dt * self.f[np.newaxis])
                theta = dt * self._dynamics.rate(middle, self._tau[np.newaxis])[0]
                first = dt * self._products(middle, z, efforts)
                second = dt * self._products(middle, first, np.zeros_like(efforts))
                return z + first + 0.5 * second, theta
        start = self._bodies.retract(at, IMAGINARY * z)
        theta = self._runge_kutta(start, self._tau + IMAGINARY * efforts)
        end = self._bodies.retract(start, theta)
        there = end.map(lambda part: part[:1].real)
        return self._bodies.difference(there, end).imag / STEP, theta[0].real

    def _exponential(self, z: Array, efforts: Array) -> tuple[Array, Array]:
        """Return the same of A and B constant over dt."""
        size, k = self.f.size, len(z)
        every = np.vstack((np.eye(size), np.zeros_like(z)))
        and_efforts = np.vstack((np.zeros((size, self._tau.size)), efforts))
        made = self._products(self._at, every, and_efforts, self._half)
        generator = np.zeros((size + k + 1, size + k + 1))
        generator[:size] = np.vstack((made, self.f)).T
        E = group.matrix_exponential(self._form.dt * generator)[:size]
        return (E[:, :size] @ z.T + E[:, size:-1]).T, E[:, -1]

    def _runge_kutta(self, start: Point, tau: Array) -> Array:
        """Return theta (k, 2 m) of a step [Munthe-Kaas 1999] that leads to start exp(theta).

        k_i = x_i + [theta_i, x_i] / 2 + [theta_i, [theta_i, x_i]] / 12,  x_i = f(g exp theta_i)
        """
        dt = self._form.dt
        k = self._dynamics.rate(start, tau)
        total = k / 6.0
        for node, weight in STAGES:
            theta = node * dt * k
            x = self._dynamics.rate(self._bodies.retract(start, theta), tau)
            k = x.copy()
            for rows, twist in self._bodies.groups:
                ad = self._ad(rows, twist, theta)
                bracket = ad @ x[:, rows, np.newaxis]
                k[:, rows] += (0.5 * bracket + ad @ bracket / 12.0)[..., 0]
            total = total + weight * k
        return dt * total

    def _carried(self, answer: Array, theta: Array) -> Array:
        """Return displacements of g exp(theta) as displacements of theta."""
        carried = answer.copy()
        for rows, twist in self._bodies.groups:
            J = group.right_jacobian(self._ad(rows, twist, theta))
            carried[:, rows] = np.linalg.solve(J, answer[:, rows].T).T
        return carried

    def _map(self, at: Point) -> Array:
        """Return Y (k, 6, 6): the body twist's numbers in the form's coordinates."""
        H = at.G[:, 0].copy()
        if self._form.representation == 'mixed':
            H[:, :3, 3] = 0.0
        return group.adjoint(H)

    def _numbers(self, at: Point) -> Array:
        return np.asarray((self._map(at) @ at.nu[:, :6, np.newaxis])[..., 0])

    def _numbers_rate(self, at: Point, v_dot: Array) -> Array:
        """Return the time derivative of these numbers."""
        rate = v_dot.copy()
        if self._form.representation == 'mixed':
            rate[:, :3] += group.cross(at.nu[:, 3:6], at.nu[:, :3])
        return np.asarray((self._map(at) @ rate[..., np.newaxis])[..., 0])

    def _from_numbers(self, z: Array) -> Array:
        """Return displacements of the body twist for displacements of these numbers."""
        moved = self._bodies.retract(self._at, IMAGINARY * z)
        numbers = self._numbers(self._at) + IMAGINARY * z[:, self._twist_rows]
        v = np.linalg.solve(self._map(moved), numbers[..., np.newaxis])[..., 0]
        found = z.copy()
        found[:, self._twist_rows] = v.imag / STEP
        return found
