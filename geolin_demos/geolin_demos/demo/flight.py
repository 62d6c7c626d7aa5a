# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot thrown up again and again, tumbling through upside down while its joints move."""

import math

import numpy as np

from geolin_demos.demo import integrator
from geolin_ros.dynamics.functions import failure
from geolin_ros.errors import GeolinError
from geolin_ros.kernels.packing.types import make_workspace
from geolin_ros.kernels.recursions.forward_dynamics import forward_dynamics
from geolin_ros.kernels.status import OK
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import pack
from geolin_ros.typing import Array

THROW_PERIOD = 1.5  # [s]
LONGEST_STEP = 1e-3  # [s]
HEIGHT = 1.0  # of the throws [m]
SPIN = 4.5  # [rad/s]: once around within a throw
NATURAL_FREQUENCY = 2.0 * math.pi * 4.0  # of the servo [rad/s]
DAMPING_RATIO = 0.7
LARGEST_AMPLITUDE = 0.25  # of the postures [rad or m]
GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))


class Flight:
    """Simulates the robot; time starts at zero with the first throw.

    Parameters
    ----------
    model
        Any robot with a floating base.

    Attributes
    ----------
    state
        Where the robot is; changed in place.
    tau : (n,)
        Efforts of the joint servo at this state [N m or N].
    time
        [s]
    """

    def __init__(self, model: TreeModel) -> None:
        self._model = model
        self._servo = make_servo(model)
        self._workspace = make_workspace(model.tree)
        self._scratch = integrator.make_scratch(model.n)
        self._no_wrenches = pack(model, ())
        self.state = model.neutral_state()
        self.state.s[:] = self._servo.middle + self._servo.amplitude * np.sin(self._servo.phase)
        self.tau = np.zeros(model.n)
        self.time = 0.0
        self._throw(0)

    def advance(self, duration: float) -> None:
        """Move on by ``duration`` [s], in steps of at most `LONGEST_STEP`.

        Raises
        ------
        GeolinError
            If the motion cannot be computed: the robot's numbers are out of reach of this servo.
        """
        throws = self._throws()
        steps = max(1, math.ceil(duration / LONGEST_STEP - 1e-6))
        dt = duration / steps
        for _ in range(steps):
            status = integrator.step(
                self._model.tree,
                self._workspace,
                self._scratch,
                self._servo,
                self._model.gravity,
                self._no_wrenches,
                self.time,
                dt,
                self.state.data,
            )
            if status != OK:
                raise GeolinError(
                    f'robot {self._model.name!r} cannot be simulated {self.time:.3f} s after the '
                    'start, expected finite accelerations; check its masses and joint damping'
                )
            self.time += dt
        if self._throws() != throws:
            self._throw(self._throws())
        integrator.servo_effort(self._servo, self.time, self.state.data, self.tau)

    def _throws(self) -> int:
        return math.floor(self.time / THROW_PERIOD + 1e-9)

    def _throw(self, count: int) -> None:
        """Put the base back to where it started, with a new spin; the joints go on."""
        H, v = self.state.H, self.state.v
        H[:] = np.eye(4)
        H[2, 3] = HEIGHT
        v[:3] = -0.5 * THROW_PERIOD * self._model.gravity  # back at this height a period later
        angle = 0.7 + GOLDEN_ANGLE * count
        v[3:] = SPIN * np.array([math.cos(angle), math.sin(angle), 0.2])
        integrator.servo_effort(self._servo, self.time, self.state.data, self.tau)


def make_servo(model: TreeModel) -> integrator.Servo:
    """Return slow postures well within limits, and gains that suit the robot.

    With K = w^2 M and D = 2 zeta w M, M the joints' inertia in free flight at the middle posture,
    every mode has the natural frequency w there, heavy legs and light hands alike.
    """
    lower, upper = np.maximum(model.limits.lower, -np.pi), np.minimum(model.limits.upper, np.pi)
    middle = 0.5 * (lower + upper)
    state = model.neutral_state()
    state.s[:] = middle
    M = free_flight_inertia(model, state)
    c = np.arange(model.n, dtype=np.float64)
    return integrator.Servo(
        middle=middle,
        amplitude=np.minimum(LARGEST_AMPLITUDE, 0.15 * (upper - lower)),
        frequency=2.0 * np.pi * (0.4 + 0.4 * np.modf(c * GOLDEN_ANGLE)[0]),
        phase=c * GOLDEN_ANGLE,
        stiffness=NATURAL_FREQUENCY**2 * M,
        damping=2.0 * DAMPING_RATIO * NATURAL_FREQUENCY * M,
    )


def free_flight_inertia(model: TreeModel, state: State) -> Array:
    """Return M (n, n) = (d rdot / d tau)^-1: the base gives way to joint efforts.

    Forward dynamics is affine in the efforts; differences of its values are exact.
    """
    workspace, none = make_workspace(model.tree), pack(model, ())
    rates = np.zeros((1 + model.n, model.m))
    for tau, nu_dot in zip(np.eye(1 + model.n, model.n, -1), rates, strict=True):
        status = forward_dynamics(
            model.tree, workspace, state.data, tau, model.gravity, none, nu_dot
        )
        if status != OK:
            raise failure(model, status, state, {'tau': tau})
    M = np.linalg.inv((rates[1:] - rates[0])[:, 6:])
    symmetric: Array = 0.5 * (M + M.T)
    return symmetric
