# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An arm on a fixed base follows a sweep by time-varying LQR (needs example-robot-data)."""

from collections.abc import Callable

import numpy as np
from geolin_control.stages import Solution, StageProblem
from scipy.integrate import solve_ivp

from geolin_ros import Linearizer, TreeModel, forward_dynamics, inverse_dynamics, robots

DT, N = 0.01, 150
Acceleration = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Joint positions, rates and efforts to accelerations."""


def regulator(model: TreeModel, states: np.ndarray, tau: np.ndarray) -> Solution:
    """Return w_k and K_k of the law tau_k + w_k + K_k (z - z_k), z = log(x_k^-1 g)."""
    plan = Linearizer(model).along(states, tau, DT * np.arange(N + 1))
    problem = StageProblem(*plan.B.shape)
    problem.A[:], problem.B[:], problem.c[:] = plan.A, plan.B, plan.c
    problem.Q[:] = np.diag(np.repeat([1e3, 1.0], model.n))
    problem.R[:] = 1e-3 * np.eye(model.n)
    return problem.solve(np.zeros(2 * model.n))


def sweep(model: TreeModel) -> tuple[np.ndarray, np.ndarray]:
    """Return states (N + 1, 22 + 2 n) and efforts (N, n) of a turn about the middle of joints."""
    state, limits = model.neutral_state(), model.limits
    middle, way = 0.5 * (limits.upper + limits.lower), 0.2 * (limits.upper - limits.lower)
    states, tau = np.zeros((N + 1, state.data.size)), np.zeros((N, model.n))
    for k in range(N + 1):
        phase, rate = 2.0 * np.pi * DT * k, 2.0 * np.pi
        state.s[:], state.r[:] = middle + way * np.sin(phase), way * rate * np.cos(phase)
        states[k] = state.data
        if k < N:
            tau[k] = inverse_dynamics(model, state, -way * rate**2 * np.sin(phase))
    return states, tau


def follow(model: TreeModel, acceleration: Acceleration, with_gains: bool = True) -> np.ndarray:
    """Return the distances of the joints from the sweep (N + 1, n), begun 0.05 off."""
    states, tau = sweep(model)
    found, n = regulator(model, states, tau), model.n
    wanted = np.hstack((states[:, 16 : 16 + n], states[:, 22 + n :]))
    x = wanted + np.repeat([0.05, 0.0], n)
    for k in range(N):
        u = tau[k]
        if with_gains:
            u = u + found.w[k] + found.K[k] @ (x[k] - wanted[k] - found.z[k])

        def rate(_: float, x: np.ndarray, u: np.ndarray = u) -> np.ndarray:
            return np.concatenate((x[n:], acceleration(x[:n], x[n:], u)))

        x[k + 1] = solve_ivp(rate, (0.0, DT), x[k], rtol=1e-8, atol=1e-10).y[:, -1]
    return x[:, :n] - wanted[:, :n]


if __name__ == '__main__':
    panda = TreeModel.from_urdf(robots.locate('panda'), base='fixed', mimic='independent')

    def by_geolin(s: np.ndarray, r: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return the accelerations of the arm."""
        state = panda.neutral_state()
        state.s[:], state.r[:] = s, r
        return forward_dynamics(panda, state, tau)

    for words, with_gains in (('by efforts alone', False), ('with gains', True)):
        away = np.abs(follow(panda, by_geolin, with_gains)[:, :7]).max(axis=1)
        print(f'{words}: {away[-1]:.4f} rad off after {DT * N:g} s')
