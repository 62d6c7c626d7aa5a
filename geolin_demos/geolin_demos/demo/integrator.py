# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motion of a robot under a joint servo: Runge and Kutta's fourth order on the manifold."""

import math
from typing import NamedTuple

import numpy as np

from geolin_ros.kernels import se3
from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.packing.types import Tree, Workspace, Wrenches
from geolin_ros.kernels.recursions.forward_dynamics import forward_dynamics
from geolin_ros.kernels.status import OK
from geolin_ros.typing import Array


class Servo(NamedTuple):
    """A PD law around postures middle + amplitude sin(frequency t + phase), each (n,)."""

    middle: Array
    """[rad or m]"""
    amplitude: Array
    """[rad or m]"""
    frequency: Array
    """[rad/s]"""
    phase: Array
    """[rad]"""
    stiffness: Array
    """(n, n) effort by position error."""
    damping: Array
    """(n, n) effort by rate error."""


class Scratch(NamedTuple):
    """What a step writes on its way; k = 12 + 2 n."""

    x: Array
    """(22 + 2 n,) state of the stage."""
    theta: Array
    """(k,) displacement of the stage."""
    rate: Array
    """(k,) theta's rate."""
    total: Array
    """(k,) weighted sum of the rates."""
    tau: Array
    """(n,) servo efforts."""
    nu_dot: Array
    """(6 + n,)"""
    J: Array
    """(6, 6) inverse right Jacobian."""


def make_scratch(n: int) -> Scratch:
    """Return zeroed scratch for n joint coordinates."""
    k = 12 + 2 * n
    return Scratch(
        x=np.zeros(22 + 2 * n),
        theta=np.zeros(k),
        rate=np.zeros(k),
        total=np.zeros(k),
        tau=np.zeros(n),
        nu_dot=np.zeros(6 + n),
        J=np.zeros((6, 6)),
    )


@kernel
def servo_effort(servo: Servo, t: float, x: Array, tau_out: Array) -> None:
    """Fill ``tau_out`` (n,) = K (s_d - s) + D (sdot_d - r) at x = [H (16) | s | v | r]."""
    n = tau_out.shape[0]
    tau_out[:] = 0.0
    for c in range(n):
        angle = servo.frequency[c] * t + servo.phase[c]
        error = servo.middle[c] + servo.amplitude[c] * math.sin(angle) - x[16 + c]
        rate = servo.amplitude[c] * servo.frequency[c] * math.cos(angle) - x[22 + n + c]
        for row in range(n):
            tau_out[row] += servo.stiffness[row, c] * error + servo.damping[row, c] * rate


@kernel
def step(
    tree: Tree,
    ws: Workspace,
    scratch: Scratch,
    servo: Servo,
    gravity: Array,
    none: Wrenches,
    t: float,
    dt: float,
    x: Array,
) -> int:
    """Advance x = [H (16) | s | v | r] from t by dt, in place; return the status.

    Four stages theta_i = c_i dt k_(i-1), x_i = x exp(theta_i) [Munthe-Kaas 1999]:

        k_i = J_r^-1(theta_i) f(x_i),  f = [v; r; nu_dot]                          (1)
        x+  = x exp((dt/6) (k_1 + 2 k_2 + 2 k_3 + k_4))                            (2)
    """
    n = servo.middle.shape[0]
    scratch.rate[:] = 0.0
    scratch.total[:] = 0.0
    for stage in range(4):
        node = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
        weight = 1.0 if stage == 0 or stage == 3 else 2.0
        for e in range(12 + 2 * n):
            scratch.theta[e] = node * dt * scratch.rate[e]
        displace(x, scratch.theta, scratch.x)
        servo_effort(servo, t + node * dt, scratch.x, scratch.tau)
        status: int = forward_dynamics(
            tree, ws, scratch.x, scratch.tau, gravity, none, scratch.nu_dot
        )
        if status != OK:
            return status
        se3.left_jacobian_inverse(scratch.theta, -1.0, scratch.J)
        v = scratch.x[16 + n :]
        for e in range(6):
            scratch.rate[e] = 0.0
            for c in range(6):
                scratch.rate[e] += scratch.J[e, c] * v[c]
        for e in range(n):
            scratch.rate[6 + e] = v[6 + e]
        for e in range(6 + n):
            scratch.rate[6 + n + e] = scratch.nu_dot[e]
        for e in range(12 + 2 * n):
            scratch.total[e] += weight * dt / 6.0 * scratch.rate[e]
    displace(x, scratch.total, scratch.x)
    x[:] = scratch.x
    return OK


@kernel
def displace(x: Array, theta: Array, x_out: Array) -> None:
    """Fill ``x_out`` = x exp(theta), theta = [H; s; v; r]; it may not be ``x``."""
    se3.retract(x[:16].reshape((4, 4)), theta, x_out[:16].reshape((4, 4)))
    x_out[12:15] = 0.0
    x_out[15] = 1.0
    for e in range(theta.shape[0] - 6):
        x_out[16 + e] = x[16 + e] + theta[6 + e]
