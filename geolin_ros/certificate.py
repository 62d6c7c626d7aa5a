# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A check of A and B that shares nothing with how they were made.

For displacements z of a state and du of the efforts, in the chart that A and B are about,

    A z + B du = d/dh zdot(h z, tau + h du)   at h = 0                                   (1)

where the rate zdot follows from M nu_dot = [0; tau] - b, with the mass matrix M of the composite
bodies and the bias force b of the recursive Newton-Euler algorithm: no articulated body, no
derivative; contacts add the rows of `held_accelerations`. The right-hand side is a central
difference with Richardson's extrapolation. Random directions, one for each block of columns, make
it see every entry of A and B. What a shorter step explains is no deviation.

The discrete forms are linear in what Eq. (1) gives, at the state or at the midpoint; that of
``rkmk4`` is the derivative of its own step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from geolin_ros import se3
from geolin_ros.contacts.description import Closure
from geolin_ros.discretization import (
    Method,
    Rate,
    Step,
    carry_into_chart,
    groups_of,
    own_part,
    step_rkmk4,
)
from geolin_ros.dynamics import bias_force, mass_matrix
from geolin_ros.errors import UnsolvableError
from geolin_ros.frames import Representation
from geolin_ros.held_accelerations import HeldAccelerations
from geolin_ros.lie_group import derivative
from geolin_ros.linearization import Reference
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.representation import TwistChange
from geolin_ros.typing import Array
from geolin_ros.wrenches import Wrench

LIMIT = 1e-6
"""Largest deviation of a well-conditioned robot, relative to the largest entry of the block."""
ROUNDING = 1e3 * np.finfo(np.float64).eps
"""Times the condition number of M, or of J M^-1 J': largest deviation of another one."""
LEAST = 1e-3
"""A block with entries below this part of its row's largest is judged by that."""
STEPS = (4e-3, 5e-4)
"""Of the differences, in every unit of z and du; less where smoothed friction bends faster."""
REDUNDANT = 1e9
"""Contacts with a larger condition number of J M^-1 J' depend on each other."""


class Certificate(NamedTuple):
    """What a check found."""

    deviation: float
    """Largest deviation of A z + B du and nu_dot, relative to the largest entry of its block."""
    limit: float
    """Above it the check is breached."""
    condition: float
    """Condition number of the mass matrix."""
    worst: str
    """Block of the largest deviation, as ``rows by columns``."""

    @property
    def breached(self) -> bool:
        """Whether A, B or nu_dot are wrong."""
        return not self.deviation <= self.limit


@dataclass(frozen=True)
class Form:
    """What A and B are; the words are those of `Linearizer` and `Discretization`."""

    reference: Reference = 'moving'
    representation: Representation = 'body'
    method: Method | Literal['none'] = 'none'
    dt: float = 0.0


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
    model
        The robot.
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
        self._groups = groups_of(model)
        n, first = model.n, model.m - model.n
        sizes = {'H': first, 's': n, 'v': first, 'r': n}
        ends = np.cumsum(list(sizes.values()))
        self._blocks = {
            name: slice(end - size, end)
            for (name, size), end in zip(sizes.items(), ends, strict=True)
            if size
        }
        rubbing = model.tree.friction_speed[model.tree.friction != 0.0]
        shortest = min(0.05 * rubbing) if rubbing.size else np.inf
        self._steps = sorted({float(min(step, shortest)) for step in STEPS}, reverse=True)
        self._step = self._steps[0]
        self._actuated = [model.joint_names.index(name) for name in model.actuated_joints]
        self._held = HeldAccelerations(model, ())
        self._contacts: Sequence[Closure] = ()

    def check(self, claim: Claim, rng: np.random.Generator | None = None) -> Certificate:
        """Return how far ``claim`` is from the differences.

        Parameters
        ----------
        claim
            Of the form given.
        rng
            Where the random directions come from this time.

        Raises
        ------
        UnsolvableError
            If contacts in force depend on each other at the state: differences leave what they
            admit.
        GeolinError
            If the state or a contact does not fit the robot.
        """
        rng = rng or self._rng
        if claim.contacts is not self._contacts:
            self._held = HeldAccelerations(self._model, claim.contacts)
            self._contacts = claim.contacts
        condition = float(np.linalg.cond(mass_matrix(self._model, claim.state)))
        held = self._held.condition(claim.state)
        if not held < REDUNDANT:
            raise UnsolvableError(
                f'contacts of robot {self._model.name!r} depend on each other: condition number '
                f"{held:.1e} of J M^-1 J', expected below {REDUNDANT:.0e}; A and B hold along "
                'motions that they admit, which differences leave'
            )
        limit = max(LIMIT, ROUNDING * max(condition, held))
        if not all(np.isfinite(part).all() for part in (claim.A, claim.B, claim.nu_dot)):
            return Certificate(np.inf, limit, condition, 'not finite')
        width, inputs = claim.A.shape[0], claim.B.shape[1]
        columns = {**self._blocks, 'tau': slice(width, width + inputs)}
        directions = {name: np.zeros(width + inputs) for name in columns}
        for name, part in columns.items():
            directions[name][part] = rng.standard_normal(part.stop - part.start)
        found: dict[str, float] = {}
        for step in self._steps:
            self._step = step
            again = self._deviations(claim, columns, directions)
            found = {block: min(off, found.get(block, np.inf)) for block, off in again.items()}
            worst = max(found, key=lambda block: found[block])
            if found[worst] <= limit:
                break
        return Certificate(found[worst], limit, condition, worst)

    def _deviations(
        self, claim: Claim, columns: dict[str, slice], directions: dict[str, Array]
    ) -> dict[str, float]:
        """Return the deviation of nu_dot and of each block of A and B, at the present step."""
        nu_dot = self._accelerations(claim, claim.state, claim.tau)
        falling = self._accelerations(claim, claim.state, np.zeros_like(claim.tau))
        scale = max(_largest(nu_dot), _largest(falling), np.finfo(np.float64).tiny)
        found = {'nu_dot': _largest(nu_dot - claim.nu_dot) / scale}
        both = np.hstack((claim.A, claim.B))
        width = claim.A.shape[0]
        for name, part in columns.items():
            z, du = np.split(directions[name], [width])
            deviation = np.abs(both @ directions[name] - self._expected(claim, z, du))
            for row_name, rows in self._blocks.items():
                scale = max(_largest(both[rows, part]), LEAST * _largest(both[rows]))
                found[f'{row_name} by {name}'] = _largest(deviation[rows]) / scale
        return {block: off if off == off else np.inf for block, off in found.items()}

    # ---- what the differences say

    def _expected(self, claim: Claim, z: Array, du: Array) -> Array:
        """Return A z + B du, or Phi z + Gamma du, by differences."""
        if self._model.base == 'fixed' or self._form.representation == 'body':
            answer, _, _ = self._in_body(claim, z, du)
            return answer
        change = TwistChange(claim.state, self._form.representation)
        w = change.to_body(z)
        answer, theta, defect = self._in_body(claim, w, du)
        if self._form.method != 'none':
            after = TwistChange(claim.state.retract(theta), self._form.representation)
            after.K = after.K @ se3.right_jacobian(defect[:6])
            return after.from_body(answer)
        held = np.zeros_like(w)  # what the frozen reference adds is the same in all coordinates
        if self._form.reference == 'frozen':
            held[:6] = 0.5 * se3.cross(claim.state.v) @ w[:6]
        f = self._rate(claim, claim.state, claim.tau)

        def carried(h: float) -> Array:
            there = TwistChange(claim.state.retract(h * f), self._form.representation)
            return there.from_body(w + h * (answer - held))

        return self._derivative(carried) + held

    def _in_body(self, claim: Claim, z: Array, du: Array) -> tuple[Array, Array, Array]:
        """Return the same for body twists, with the step theta and the defect it leads to."""
        g, dt = claim.state, self._form.dt
        f = self._rate(claim, g, claim.tau)
        frozen = self._form.reference == 'frozen'
        if self._form.method in ('none', 'euler', 'zoh'):
            product = self._product(claim, g, z, du, frozen)
            if self._form.method == 'none':
                return product, np.zeros_like(f), np.zeros_like(f)
            answer, theta = z + dt * product, dt * f
            if self._form.method == 'zoh':
                answer += self._series(claim, dt * product, frozen)
                theta = theta + self._series(claim, dt * f, frozen)
            return answer, theta, theta if frozen else np.zeros_like(f)
        if self._form.method == 'midpoint':
            middle = g.retract(0.5 * dt * f)
            theta = dt * self._rate(claim, middle, claim.tau)
            first = self._product(claim, middle, z, du, False)
            second = self._product(claim, middle, first, 0.0 * du, False)
            answer = z + dt * first + 0.5 * dt * dt * second
        else:
            theta, answer = self._difference_of_steps(claim, z, du)
        defect = np.zeros_like(f)
        if frozen:
            defect, step = theta, Step(theta, answer[:, np.newaxis], np.zeros((f.size, 0)))
            carry_into_chart(step, defect, self._groups)
            answer = step.Phi[:, 0]
        return answer, theta, defect

    def _product(self, claim: Claim, g: State, z: Array, du: Array, frozen: bool) -> Array:
        """Return A z + B du of the body twist at g: Eq. (1), d f(g exp(h z))/dh - ad_f z."""
        spread = np.zeros(self._model.n)
        spread[self._actuated] = du
        change = self._derivative(
            lambda h: self._rate(claim, g.retract(h * z), claim.tau + h * spread)
        )
        if self._model.base == 'floating':
            change[:6] -= (0.5 if frozen else 1.0) * se3.cross(g.v) @ z[:6]
        return change

    def _series(self, claim: Claim, term: Array, frozen: bool) -> Array:
        """Return x dt/2! + x dt^2/3! + ... with x dt^k short for (A dt)^k term."""
        total, k = np.zeros_like(term), 2
        while _largest(term) > np.finfo(np.float64).eps * _largest(total) and k < 60:
            term = (
                self._form.dt
                / k
                * self._product(claim, claim.state, term, np.zeros(len(self._actuated)), frozen)
            )
            total, k = total + term, k + 1
        return total

    def _difference_of_steps(self, claim: Claim, z: Array, du: Array) -> tuple[Array, Array]:
        """Return theta of the Runge-Kutta step, and the derivative of where it leads to."""
        spread = np.zeros(self._model.n)
        spread[self._actuated] = du
        nothing = np.zeros((z.size, z.size)), np.zeros((z.size, 0))

        def theta(h: float) -> Array:
            def rate_at(at: State) -> Rate:
                return Rate(self._rate(claim, at, claim.tau + h * spread), *nothing)

            start = claim.state.retract(h * z)
            return step_rkmk4(start, rate_at, self._form.dt, self._groups)[1].theta

        step = theta(0.0)
        end = claim.state.retract(step)

        def moved(h: float) -> Array:
            return own_part(
                end.difference(claim.state.retract(h * z).retract(theta(h))), self._model
            )

        return step, self._derivative(moved)

    def _rate(self, claim: Claim, g: State, tau: Array) -> Array:
        """Return f = [v; r; nu_dot], of a fixed base [r; nu_dot]."""
        velocity = g.data[g.data.size - self._model.m :]
        return np.concatenate((velocity, self._accelerations(claim, g, tau)))

    def _accelerations(self, claim: Claim, g: State, tau: Array) -> Array:
        forces = -bias_force(self._model, g, claim.wrenches)
        forces[self._model.m - self._model.n :] += tau
        return self._held(g, forces)

    def _derivative(self, function: Callable[[float], Array]) -> Array:
        """Return df/dh at 0."""
        return derivative(function, self._step)


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))
