# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Problems over stages beside PIQP's solutions, SciPy's Riccati equation, and hopeless ones."""

import runpy
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from geolin_control.stages import StageProblem
from scipy.optimize import linprog
from support.stage_problems import by_piqp, cost

from geolin_ros import TreeModel, robots
from geolin_ros.errors import ConfigurationError, ShapeError


def random_problem(seed, N=8, n_x=7, n_u=3, rows=4, scale=1.0):
    """Return a problem with cross terms whose rows and bounds are active, feasible at w = 0."""
    rng = np.random.default_rng(seed)
    problem = StageProblem(N, n_x, n_u, rows)
    problem.A[:] = np.eye(n_x) + 0.2 * rng.normal(size=(N, n_x, n_x))
    problem.B[:] = 0.4 * rng.normal(size=(N, n_x, n_u)) / scale
    problem.c[:] = 0.1 * rng.normal(size=(N, n_x))
    for k in range(N + 1):
        root = rng.normal(size=(n_x + n_u, n_x + n_u))
        H = root.T @ root / (n_x + n_u) + 0.1 * np.eye(n_x + n_u)
        problem.Q[k], problem.q[k] = H[:n_x, :n_x], rng.normal(size=n_x)
        if k < N:
            problem.S[k], problem.R[k] = H[n_x:, :n_x] / scale, H[n_x:, n_x:] / scale**2
            problem.r[k] = rng.normal(size=n_u) / scale
    problem.C[:] = 0.1 * rng.normal(size=(N, rows, n_x))
    problem.D[:] = rng.normal(size=(N, rows, n_u)) / scale
    problem.e[:] = -rng.uniform(0.5, 1.5, (N, rows))
    problem.lower[:], problem.upper[:] = -0.6 * scale, 0.5 * scale
    problem.row_weights[:], problem.bound_weights[:] = 300.0, 300.0 / scale**2
    return problem, 0.3 * rng.normal(size=n_x)


@pytest.mark.parametrize('scale', [1.0, 1e4], ids=['ones', 'inputs of 1e4'])
@pytest.mark.parametrize('seed', range(2))
def test_solution__is_that_of_piqp(seed, scale):
    problem, z0 = random_problem(seed, scale=scale)
    z, w = by_piqp(problem, z0)
    found = problem.solve(z0, rounds=60, newton_steps=30)
    assert found.status == 'solved'
    assert found.violations['rows'] < 1e-8
    assert found.violations['bounds'] < 1e-8 * scale
    assert np.count_nonzero(found.multipliers > 1e-6) > 0, 'rows are active'
    np.testing.assert_allclose(found.z, z, atol=1e-6)
    np.testing.assert_allclose(found.w / scale, w / scale, atol=1e-6)
    assert cost(problem, found.z, found.w) == pytest.approx(cost(problem, z, w), rel=1e-8)
    again = problem.solve(z0)
    assert again.steps <= 4, 'from its own multipliers'


def test_most_recursions__are_kept_to_and_the_next_call_goes_on():
    problem, z0 = random_problem(1)
    whole = problem.solve(z0, rounds=60, newton_steps=30)
    problem.forget()
    steps = [problem.solve(z0, most=3).steps for _ in range(60)]
    assert whole.steps > 3
    assert max(steps) == 3
    np.testing.assert_allclose(problem.solve(z0, most=3).w, whole.w, atol=1e-6)


def test_gains__are_the_derivative_of_the_solution():
    problem, z0 = random_problem(2)
    found = problem.solve(z0, rounds=1, newton_steps=30)
    shift = 1e-7 * np.random.default_rng(0).normal(size=z0.size)
    problem.forget()
    moved = problem.solve(z0 + shift, rounds=1, newton_steps=30)
    np.testing.assert_allclose(moved.w[0] - found.w[0], found.K[0] @ shift, atol=1e-11)


def test_long_horizon__ends_in_the_gain_of_scipys_riccati_equation():
    rng = np.random.default_rng(5)
    problem = StageProblem(400, 6, 2)
    A, B = np.eye(6) + 0.3 * rng.normal(size=(6, 6)), rng.normal(size=(6, 2))
    S = 0.1 * rng.normal(size=(2, 6))
    problem.A[:], problem.B[:], problem.Q[:], problem.R[:], problem.S[:] = (
        *(A, B, np.eye(6)),
        *(np.eye(2), S),
    )
    P = scipy.linalg.solve_discrete_are(A, B, np.eye(6), np.eye(2), s=S.T)
    K = -np.linalg.solve(np.eye(2) + B.T @ P @ B, B.T @ P @ A + S)
    found = problem.solve(np.ones(6), rounds=1)
    assert (found.status, found.steps) == ('solved', 1)
    np.testing.assert_allclose(found.K[0], K, rtol=1e-9, atol=1e-10)


def test_hopeless_problems__end_with_a_status_and_no_nan_lives_on():
    problem, z0 = random_problem(3)
    good = problem.solve(z0)

    problem.R[4] = -100.0 * np.eye(3)
    found = problem.solve(z0)
    assert 'not positive definite' in found.status
    assert not found.is_finite

    problem, z0 = random_problem(3)
    problem.A[:] *= 1e60
    assert not problem.solve(z0).is_finite
    problem.A[:] *= 1e-60
    again = problem.solve(z0)
    assert again.is_finite
    np.testing.assert_allclose(again.w, good.w, atol=1e-6)

    problem.C[2], problem.D[2], problem.e[2] = 0.0, 0.0, 1.0  # 1 <= 0
    found = problem.solve(z0)
    assert found.is_finite
    assert found.status.startswith('infeasible')
    assert found.violations['rows'] == pytest.approx(1.0)

    problem.C[2, 0, 0] = np.nan
    assert not problem.solve(z0).is_finite


def least_violation(problem, z0):
    """Return the least largest violation of the rows within the bounds, by SciPy's HiGHS."""
    (N, n_x, n_u), rows = problem.B.shape, problem.e.shape[1]
    by_w, z, G, h = np.zeros((n_x, N * n_u)), z0, [], []
    for k in range(N):
        own = slice(k * n_u, (k + 1) * n_u)
        row = problem.C[k] @ by_w
        row[:, own] += problem.D[k]
        G.append(np.column_stack((row, -np.ones(rows))))
        h.append(-problem.e[k] - problem.C[k] @ z)
        by_w, z = problem.A[k] @ by_w, problem.A[k] @ z + problem.c[k]
        by_w[:, own] += problem.B[k]
    bounds = [*zip(problem.lower.ravel(), problem.upper.ravel(), strict=True), (None, None)]
    end = np.append(np.zeros(N * n_u), 1.0)
    return linprog(end, np.vstack(G), np.concatenate(h), bounds=bounds).fun


def test_infeasible__is_what_a_linear_program_finds_infeasible():
    verdicts = []
    for seed in range(24):
        problem, z0 = random_problem(seed, N=5)
        problem.e[2] += np.random.default_rng(seed).uniform(0.0, 2.5)
        if seed % 3 == 0:  # opposite rows, no bounds
            problem.lower[:], problem.upper[:] = -np.inf, np.inf
            problem.C[2, 1], problem.D[2, 1] = -problem.C[2, 0], -problem.D[2, 0]
        least = least_violation(problem, z0)
        for rounds in (1, 2, 4, 10):
            found = problem.solve(z0, rounds=rounds, newton_steps=20)
            is_infeasible = found.status.startswith('infeasible')
            assert least > 1e-9 or not is_infeasible, 'never of one that is not'
        assert is_infeasible == (least > 1e-9)
        assert max(found.violations.values()) > 0.05 * least
        verdicts.append(is_infeasible)
    assert 6 < sum(verdicts) < 18


def test_violations__are_those_of_each_kind():
    kinds = ['friction', 'pulling', 'friction']
    problem = StageProblem(2, 1, 1, kinds)
    problem.Q[:], problem.R[:], problem.row_weights[:] = 1.0, 1.0, 1e-9
    problem.C[:, :, 0], problem.e[1] = 1.0, [1.0, -3.0, 0.5]
    problem.upper[1], problem.A[:] = -0.25, 1.0
    problem.bound_weights[:] = 1e-9
    found = problem.solve([2.0], rounds=1)
    assert found.violations == pytest.approx({'friction': 3.0, 'pulling': 2.0, 'bounds': 0.25})


@pytest.fixture(scope='module')
def arm():
    file = robots.EXAMPLES / 'panda_description' / 'urdf' / 'panda.urdf'
    if not file.exists():
        pytest.skip('needs example-robot-data')
    examples = Path(__file__).parents[2] / 'examples'
    example = {
        **runpy.run_path(str(examples / 'track.py')),
        **runpy.run_path(str(examples / 'sqp.py')),
    }
    return example, file, TreeModel.from_urdf(file, base='fixed', mimic='independent')


def test_gains_along_a_motion__hold_an_arm_of_pinocchio_to_it(arm):
    pin = pytest.importorskip('pinocchio')
    example, file, model = arm
    theirs = pin.buildModelFromUrdf(str(file))
    data, damping = theirs.createData(), model.tree.damping
    assert tuple(theirs.names[1:]) == model.joint_names

    def acceleration(s, r, tau):
        return pin.aba(theirs, data, s, r, tau - damping * r)

    held = np.abs(example['follow'](model, acceleration)[:, :7])
    alone = np.abs(example['follow'](model, acceleration, with_gains=False)[:, :7])
    assert held[50:].max() < 0.01 < 1.0 < alone[-1].max()


def test_quadratic_programs_in_sequence__move_an_arm_of_pinocchio_within_its_efforts(arm):
    pin = pytest.importorskip('pinocchio')
    example, file, model = arm
    states, tau, _ = example['move'](model)
    theirs = pin.buildModelFromUrdf(str(file))
    data, damping, n = theirs.createData(), model.tree.damping, model.n
    dt, x = example['DT'], np.append(states[0, 16 : 16 + n], states[0, 22 + n :])
    for u in tau:

        def rate(x, u=u):
            return np.append(x[n:], pin.aba(theirs, data, x[:n], x[n:], u - damping * x[n:]))

        for _ in range(4):
            k_1 = rate(x)
            k_2 = rate(x + 0.125 * dt * k_1)
            k_3 = rate(x + 0.125 * dt * k_2)
            x = x + dt / 24.0 * (k_1 + 2.0 * (k_2 + k_3) + rate(x + 0.25 * dt * k_3))
    assert np.abs(x[:n] - example['GOAL']).max() < 0.05
    assert np.abs(states[-1, 16 : 16 + n] - example['GOAL']).max() < 1e-3
    share = np.abs(tau) / example['limits'](model)
    assert share.max() < 1.001
    assert np.count_nonzero(share > 0.999) > 10


def test_problem__names_what_is_wrong():
    with pytest.raises(ConfigurationError, match='0 stages'):
        StageProblem(0, 2, 1)
    with pytest.raises(ShapeError, match=r'z0 has shape \(3,\), expected \(2,\)'):
        StageProblem(4, 2, 1).solve(np.zeros(3))
