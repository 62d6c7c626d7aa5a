# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A Z + B dU of a robot along directions Z, dU, without A and B, in every form of them.

    A z + B du = d/dh zdot(h z, tau + h du)   at h = 0                                   (1)

for displacements z of a state and du of the efforts, in the chart that A and B are about. The
rate zdot is that of `prescribed_accelerations`; the right-hand side is a central difference with
Richardson's extrapolation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from geolin_ros.linearization.discretization import (
    Method,
    Step,
    carry_into_chart,
    groups_of,
    own_part,
)
from geolin_ros.linearization.representation import TwistChange
from geolin_ros.linearization.result import Reference
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.spatial import se3
from geolin_ros.spatial.frames import Representation
from geolin_ros.spatial.lie_group import derivative
from geolin_ros.typing import Array
from geolin_ros.verification.prescribed_accelerations import Balance, PrescribedAccelerations

linalg = optional('scipy.linalg', extra='control')

STAGES = ((0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0))
"""Nodes and weights of Runge and Kutta."""
HALVINGS = 1
"""Of the step of a difference: enough for a check."""


@dataclass(frozen=True)
class Form:
    """What A and B are; the words are those of `Linearizer` and `Discretization`."""

    reference: Reference = 'moving'
    representation: Representation = 'body'
    method: Method | Literal['none'] = 'none'
    dt: float = 0.0


class Directional:
    """Products of the A and B of one state, or of its Phi and Gamma.

    Parameters
    ----------
    model, form
        The robot, and what A and B are.
    dynamics
        What accelerates it.
    state, tau
        What A and B are about.
    step
        Of the differences, in every unit of z and du.
    made_of
        A and B of the body twist in continuous form, which ``zoh`` is the exponential of; other
        forms need none.

    Attributes
    ----------
    here
        What holds at the state.
    """

    def __init__(
        self,
        model: TreeModel,
        form: Form,
        dynamics: PrescribedAccelerations,
        state: State,
        tau: Array,
        step: float,
        made_of: tuple[Array, Array] | None = None,
    ) -> None:
        self._model, self._form, self._dynamics, self._made_of = model, form, dynamics, made_of
        self._state, self._tau, self._step = state, tau, step
        self._actuated = model.actuated
        self._groups = groups_of(model)
        self.here = dynamics.at(state, tau)

    def __call__(self, Z: Array, dU: Array) -> Array:
        """Return A Z + B dU, or Phi Z + Gamma dU, for columns Z (2 m, k) and dU (n_u, k)."""
        form, state = self._form, self._state
        if self._model.base == 'fixed' or form.representation == 'body':
            answer, _, _ = self._in_body(Z, dU)
            return answer
        change = TwistChange(state, form.representation)
        W = change.to_body(Z)
        answer, theta, defect = self._in_body(W, dU)
        if form.method != 'none':
            after = TwistChange(state.retract(theta), form.representation)
            after.K = after.K @ se3.right_jacobian(defect[:6])
            return after.from_body(answer)
        frozen = np.zeros_like(W)  # what the frozen reference adds is the same in all coordinates
        if form.reference == 'frozen':
            frozen[:6] = 0.5 * se3.cross(state.v) @ W[:6]

        def carried(h: float) -> Array:
            there = TwistChange(state.retract(h * self.here.f), form.representation)
            return there.from_body(W + h * (answer - frozen))

        return derivative(carried, self._step, HALVINGS) + frozen

    def _in_body(self, Z: Array, dU: Array) -> tuple[Array, Array, Array]:
        """Return the same for body twists, with the step theta and the defect it leads to."""
        g, dt, f = self._state, self._form.dt, self.here.f
        frozen, nothing = self._form.reference == 'frozen', np.zeros_like(self.here.f)
        match self._form.method:
            case 'none':
                return self._products(self.here, g, Z, dU, frozen), nothing, nothing
            case 'euler':
                answer, theta = Z + dt * self._products(self.here, g, Z, dU, frozen), dt * f
                return answer, theta, theta if frozen else nothing
            case 'zoh':
                answer, theta = self._exponential(Z, dU)
                return answer, theta, theta if frozen else nothing
            case 'midpoint':
                middle = g.retract(0.5 * dt * f)
                there = self._dynamics.at(middle, self._tau)
                first = dt * self._products(there, middle, Z, dU, False)
                second = dt * self._products(there, middle, first, 0.0 * dU, False)
                answer, theta = Z + first + 0.5 * second, dt * there.f
            case 'rkmk4':
                answer, theta = self._difference_of_steps(Z, dU)
        if not frozen:
            return answer, theta, nothing
        step = Step(theta, answer, np.zeros((f.size, 0)))
        carry_into_chart(step, theta, self._groups)
        return step.Phi, theta, theta

    def _products(self, at: Balance, g: State, Z: Array, dU: Array, frozen: bool) -> Array:
        """Return A Z + B dU of the body twist at g: Eq. (1), d f(g exp(h z))/dh - ad_f z."""

        def changed(z: Array, du: Array) -> Array:
            return self._derivative(lambda h: at.near(g.retract(h * z), self._tau + h * du))

        change = self._columns(changed, Z, dU)
        if self._model.base == 'floating':
            change[:6] -= (0.5 if frozen else 1.0) * se3.cross(g.v) @ Z[:6]
        return change

    def _exponential(self, Z: Array, dU: Array) -> tuple[Array, Array]:
        """Return Phi Z + Gamma dU and theta of A and B constant over dt."""
        assert self._made_of is not None, 'zoh needs A and B'
        A, B = self._made_of
        size, k = Z.shape
        generator = np.zeros((size + k + 1, size + k + 1))
        generator[:size] = np.hstack((A, B @ dU, self.here.f[:, np.newaxis]))
        E = linalg.expm(self._form.dt * generator)[:size]
        return E[:, :size] @ Z + E[:, size:-1], E[:, -1]

    def _difference_of_steps(self, Z: Array, dU: Array) -> tuple[Array, Array]:
        """Return the derivative of where the Runge-Kutta step leads to, and its theta."""
        g, stages = self._state, [self.here]

        def rate_at(stage: int, at: State) -> Array:
            if stage == len(stages):
                stages.append(self._dynamics.at(at, self._tau))
            return stages[stage].f

        theta = self._step_from(g, rate_at)
        end = g.retract(theta)

        def changed(z: Array, du: Array) -> Array:
            def moved(h: float) -> Array:
                start, tau = g.retract(h * z), self._tau + h * du
                theta = self._step_from(start, lambda stage, at: stages[stage].near(at, tau))
                return own_part(end.difference(start.retract(theta)), self._model)

            return self._derivative(moved)

        return self._columns(changed, Z, dU), theta

    def _step_from(self, start: State, rate: Callable[[int, State], Array]) -> Array:
        """Return theta of `discretization.step_rkmk4`, its Eqs. (1) and (2)."""
        dt = self._form.dt
        k = rate(0, start)
        total = STAGES[0][1] * k
        for stage, (node, weight) in list(enumerate(STAGES))[1:]:
            theta = node * dt * k
            x = rate(stage, start.retract(theta))
            k = x.copy()
            for group in self._groups:
                ad = group.of(se3.cross, theta)
                bracket = ad @ x[group.rows]
                k[group.rows] += 0.5 * bracket + ad @ bracket / 12.0
            total = total + weight * k
        return dt * total

    def _columns(self, changed: Callable[[Array, Array], Array], Z: Array, dU: Array) -> Array:
        """Return changed(z, du) of each column, du as one of tau."""
        spread = np.zeros((self._model.n, Z.shape[1]))
        spread[self._actuated] = dU
        return np.array([changed(z, du) for z, du in zip(Z.T, spread.T, strict=True)]).T

    def _derivative(self, function: Callable[[float], Array]) -> Array:
        """Return df/dh at 0."""
        return derivative(function, self._step, HALVINGS)
