# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Sequential quadratic programming by multiple shooting: an arm moves within effort limits.

Each iteration linearizes along the trajectory at hand and solves for a step; needs
example-robot-data.
"""

import numpy as np
from geolin_control.stages import StageProblem

from geolin_ros import Linearizer, TreeModel, inverse_dynamics, robots

DT, N = 0.01, 60
START = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8, 0.02, 0.02])  # joints [rad, m]
GOAL = np.array([1.8, 0.7, -0.5, -1.2, 0.4, 2.4, -0.8, 0.02, 0.02])
DEFECT, ROUNDS, STILL = 1e4, 10, 1e-5
"""Of a defect in the merit; of multipliers an iteration; no further step is longer."""


def limits(model: TreeModel) -> np.ndarray:
    """Return the largest efforts (n,), a share of those of the description."""
    return 0.6 * model.limits.effort


def move(model: TreeModel) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Return states (N + 1, 22 + 2 n), efforts (N, n), and the defects after each iteration."""
    n, limit, times, state = model.n, limits(model), DT * np.arange(N + 1), model.neutral_state()
    state.s[:] = START
    states = np.tile(state.data, (N + 1, 1))
    tau = np.tile(inverse_dynamics(model, state, np.zeros(n)), (N, 1))
    along, problem = Linearizer(model).along, StageProblem(N, 2 * n, n)
    Q = np.repeat([1e-2, 1e-3], n) * np.ones((N + 1, 1))
    Q[N], R, target = 1e5, 1e-1 / limit**2, np.append(GOAL, np.zeros(n))
    problem.Q[:], problem.R[:] = Q[:, None] * np.eye(2 * n), np.diag(R)
    problem.bound_weights[:] = 1e2 / limit**2
    own = [*range(16, 16 + n), *range(22 + n, 22 + 2 * n)]

    def merit(states: np.ndarray, tau: np.ndarray, c: np.ndarray) -> float:
        away = states[:, own] - target
        cost = 0.5 * np.sum(Q * away**2) + 0.5 * np.sum(R * tau**2)
        return float(cost + DEFECT * np.abs(c).sum())

    plan, defects = along(states, tau, times), []
    for _ in range(50):
        problem.A[:], problem.B[:], problem.c[:] = plan.A, plan.B, plan.c
        problem.q[:], problem.r[:] = Q * (states[:, own] - target), R * tau
        problem.lower[:], problem.upper[:] = -limit - tau, limit - tau
        step, before = problem.solve(np.zeros(2 * n), ROUNDS), merit(states, tau, plan.c)
        length = 2.0
        while True:
            length *= 0.5
            moved, efforts = states.copy(), tau + length * step.w
            moved[:, own] += length * step.z
            plan = along(moved, efforts, times)
            if merit(moved, efforts, plan.c) < before or length < 1e-3:
                break
        states, tau = moved, efforts
        problem.w[:] = 0.0  # of the next step; multipliers stay
        defects.append(float(np.abs(plan.c).max()))
        if length * max(np.abs(step.z).max(), np.abs(step.w / limit).max()) < STILL:
            break
    return states, tau, defects


if __name__ == '__main__':
    panda = TreeModel.from_urdf(robots.locate('panda'), base='fixed', mimic='independent')
    states, tau, defects = move(panda)
    print(f'{len(defects)} iterations, defect {defects[-1]:.1e}, ', end='')
    print(f'ends {np.abs(states[-1, 16:25] - GOAL).max():.1e} off, ', end='')
    print(f'{np.abs(tau / limits(panda)).max():.3f} of the largest efforts')
