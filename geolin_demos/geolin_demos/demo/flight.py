# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot thrown up again and again, tumbling through upside down while its joints move."""

import math

import numpy as np

from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

THROW_PERIOD = 1.5  # [s]
LONGEST_STEP = 1e-3  # [s]
STAGES = ((0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0))
"""Nodes and weights of Runge and Kutta."""
HEIGHT = 1.0  # of the throws [m]
SPIN = 4.5  # [rad/s]: once around within a throw
NATURAL_FREQUENCY = 2.0 * math.pi * 4.0  # of the servo [rad/s]
DAMPING_RATIO = 0.7
LARGEST_AMPLITUDE = 0.25  # of the postures [rad or m]
GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))


class Flight:
    """Simulates the robot by Runge and Kutta's fourth order on the manifold, from a throw on.

    A servo moves the joints slowly, well within their limits: tau = K (s_d - s) + D (sdot_d - r)
    about postures s_d = middle + amplitude sin(frequency t + phase). With K = w^2 M and D = 2 zeta
    w M, M = (d rdot / d tau)^-1 the joints' inertia in free flight at the middle posture, every
    mode has the natural frequency w there. On a fixed base only the joints move.

    ``state`` is changed in place; ``tau`` (n,) are the efforts at it [N m or N], ``time`` in s.
    """

    def __init__(self, model: TreeModel) -> None:
        self._model, self._linearizer = model, Linearizer(model)
        n, self._base = model.n, model.m - model.n
        lower, upper = np.clip((model.limits.lower, model.limits.upper), -np.pi, np.pi)
        self._middle = 0.5 * (lower + upper)
        self._amplitude = np.minimum(LARGEST_AMPLITUDE, 0.15 * (upper - lower))
        self._phase = GOLDEN_ANGLE * np.arange(n, dtype=np.float64)
        self._frequency = 2.0 * np.pi * (0.4 + 0.4 * np.modf(self._phase)[0])
        self.state, self.time = model.neutral_state(), 0.0
        self.state.s[:] = self._middle
        # forward dynamics is affine in the efforts: differences of its values are exact
        some = np.eye(1 + n, n, -1)
        rates = [self._linearizer.forward_dynamics(self.state, tau)[self._base :] for tau in some]
        M = np.linalg.inv(np.array(rates[1:]) - rates[0])
        self._stiffness = NATURAL_FREQUENCY**2 * 0.5 * (M + M.T)
        self._damping = 2.0 * DAMPING_RATIO / NATURAL_FREQUENCY * self._stiffness
        self.state.s[:] = self._middle + self._amplitude * np.sin(self._phase)
        self._throw(0)

    def advance(self, duration: float) -> None:
        """Move on by ``duration`` [s], in steps of at most `LONGEST_STEP`.

        Raises `GeolinError` if the robot's numbers are out of reach of this servo.
        """
        throws = self._throws()
        steps = max(1, math.ceil(duration / LONGEST_STEP - 1e-6))
        with np.errstate(over='ignore', invalid='ignore'):
            for _ in range(steps):
                self._step(duration / steps)
        if self._throws() != throws:
            self._throw(self._throws())
        self.tau = self._effort(self.time, self.state)

    def _step(self, dt: float) -> None:
        """Four stages theta_i = c_i dt k_(i-1), g_i = g exp(theta_i) [Munthe-Kaas 1999].

        k_i = f + [theta_i, f] / 2 + [theta_i, [theta_i, f]] / 12,  f = [v; r; nu_dot] at g_i;
        g+  = g exp((dt/6) (k_1 + 2 k_2 + 2 k_3 + k_4))
        """
        rate = total = np.zeros(2 * self._model.m)
        for node, weight in STAGES:
            theta = node * dt * rate
            at = self.state.retract(theta)
            tau = self._effort(self.time + node * dt, at)
            nu_dot = self._linearizer.forward_dynamics(at, tau)
            rate = np.concatenate((at.v[: self._base], at.r, nu_dot))
            if self._base:
                ad = se3.cross(theta[:6])
                bracket = ad @ at.v
                rate[:6] += 0.5 * bracket + ad @ bracket / 12.0
            total = total + weight * rate
        self.state.data[:] = self.state.retract(dt * total).data
        self.time += dt

    def _effort(self, t: float, state: State) -> Array:
        """Return the efforts of the servo (n,)."""
        angle = self._frequency * t + self._phase
        s = self._middle + self._amplitude * np.sin(angle)
        r = self._amplitude * self._frequency * np.cos(angle)
        tau: Array = self._stiffness @ (s - state.s) + self._damping @ (r - state.r)
        return tau

    def _throws(self) -> int:
        return math.floor(self.time / THROW_PERIOD + 1e-9)

    def _throw(self, count: int) -> None:
        """Put a base that moves back to where it started, with a new spin; the joints go on."""
        self.tau = self._effort(self.time, self.state)
        if not self._base:
            return
        H, v = self.state.H, self.state.v
        H[:] = np.eye(4)
        H[2, 3] = HEIGHT
        v[:3] = -0.5 * THROW_PERIOD * self._model.gravity  # back at this height a period later
        angle = 0.7 + GOLDEN_ANGLE * count
        v[3:] = SPIN * np.array([math.cos(angle), math.sin(angle), 0.2])
