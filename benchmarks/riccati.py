# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains of standing robots, cold and warm, beside SciPy: ``python -m benchmarks.riccati``.

The whole of a design too: linearization with contacts, reduction, discretization, cost, gains.
Limits of single gains are times, for gains are made while a robot runs; those of whole designs are
ratios, which hold on a machine with other work too, as contenders take turns.
"""

import time
import warnings
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import numpy as np
import scipy.linalg

from benchmarks.measure import interleaved_medians
from benchmarks.report import Row, compare
from benchmarks.robots import FOLDER
from geolin_ros import TreeModel, robots
from geolin_ros.control.equilibrium import Equilibrium, equilibrium
from geolin_ros.control.lqr import PERIOD, Plant, complement, design, plant_of
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.riccati import solve_dare
from geolin_ros.control.support import Support
from geolin_ros.control.weights import Cost, cost, weights_for
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.reduction import ReducedLinearization, reduce
from geolin_ros.typing import Array

LEGS = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')
ANKLES = tuple(f'{side}_ankle_roll_link:0.17x0.05@0.035,0,-0.035' for side in ('left', 'right'))
SOLES = ('left_sole:0.18x0.08', 'right_sole:0.18x0.08')
CASES = {
    'go2, 4 feet': (FOLDER / 'go2_description/urdf/go2.urdf', LEGS, 4),
    'go2, 3 feet': (FOLDER / 'go2_description/urdf/go2.urdf', LEGS, 3),
    'quadruped, 4 feet': (robots.path('quadruped'), LEGS, 4),
    'g1, 2 soles': (FOLDER / 'g1_description/urdf/g1_29dof_rev_1_0.urdf', ANKLES, 2),
    'g1, 1 sole': (FOLDER / 'g1_description/urdf/g1_29dof_rev_1_0.urdf', ANKLES, 1),
    'humanoid, 2 soles': (robots.path('humanoid'), SOLES, 2),
    'humanoid, 1 sole': (robots.path('humanoid'), SOLES, 1),
}
OVERLAY = {'joints': {'*': {'rotor_inertia': 0.01, 'gear_ratio': 1.0}}}
PEER = 'scipy.linalg.solve_discrete_are'
COLD_US, WARM_US = 4e3, 1e3  # of humanoids: a gain each few steps of 2 ms
DESIGN = {
    'quadrupeds, cold': 0.9,
    'quadrupeds, warm': 0.55,
    'humanoids, cold': 0.3,
    'humanoids, warm': 0.2,
}
"""Limits of the ratio of a whole design."""
DESIGN_PEER = 'scipy: null_space, expm, solve_discrete_are'
AGREEMENT = 1e-6
"""How far gains of a whole design may be from SciPy's, relatively."""
LOWER = 0.002
"""How far the base is from where the gain of a warm start was made [m]."""


def stand(
    path: Path, feet: tuple[str, ...], on: int
) -> tuple[TreeModel, Equilibrium, Equilibrium]:
    """Return the robot, an equilibrium, and another one a little lower."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        model = TreeModel.from_urdf(path, overlay=OVERLAY)
    supports = [Support.parse(text) for text in feet]
    state = standing_posture(model, supports)
    if on < len(supports):
        supports = supports[:on]
        state = standing_posture(model, supports, start=state)
    lower = standing_posture(model, supports, start=state, height=state.H[2, 3] - LOWER)
    return model, equilibrium(model, state, supports), equilibrium(model, lower, supports)


def plant(model: TreeModel, point: Equilibrium) -> tuple[Plant, ReducedLinearization, Cost]:
    """Return the discrete system with its cost, and the continuous one."""
    linearizer = Linearizer(model, [support.contact for support in point.supports])
    reduced = reduce(linearizer(point.state, point.tau).copy())
    weights = weights_for(point.supports)
    price = cost(weights, model, point.state, point.supports, point.wrenches, reduced)
    return plant_of(reduced, price, PERIOD, 0), reduced, price


def measure(rounds: int, detail: bool = False, names: Collection[str] = CASES) -> list[Row]:
    """Compare robots that stand; with ``detail`` print what the parts of a design take.

    Raises
    ------
    RuntimeError
        If a gain was not found the way that is to be measured.
    """
    rows = []
    for name, case in CASES.items():
        if name not in names or not case[0].exists():
            continue
        model, above, point = stand(*case)
        here, reduced, price = plant(model, point)
        old = design(model, above)
        K0 = old.K @ reduced.P
        exact = by_scipy(here)
        print(f"{'':32} {name}: {len(here.A)} states, gain differs from SciPy's by", end='')
        for start, kind in ((None, 'doubling'), (K0, 'warm')):
            found = solve_dare(*here, K0=start)
            if found.method != kind:
                raise RuntimeError(f'{name} was solved by {found.method}, expected {kind}')
            print(f' {np.linalg.norm(found.K - exact) / np.linalg.norm(exact):.0e}', end='')
        print(' cold and warm')
        for what, start, limit_us in (('cold', None, COLD_US), ('warm', K0, WARM_US)):
            ours, theirs = partial(solve_dare, *here, K0=start), partial(by_scipy, here)
            title, bound = f'LQR gain of quadrupeds, {what}', None
            if case[1] in (ANKLES, SOLES):
                title, bound = f'LQR gain of humanoids, {what}', limit_us
            rows.append(compare(title, name, ours, PEER, theirs, min(rounds, 60), limit_us=bound))
        kind = 'humanoids' if case[1] in (ANKLES, SOLES) else 'quadrupeds'
        by_hand = partial(design_by_scipy, reduced, price)
        error = np.linalg.norm(by_hand() - design(model, point).K) / np.linalg.norm(old.K)
        if not error < AGREEMENT:
            raise RuntimeError(f'{name}: designs differ by {error:.0e}, expected {AGREEMENT:g}')
        for what, previous in (('cold', None), ('warm', old)):
            title, limit = f'from a state to a gain, {kind}, {what}', DESIGN[f'{kind}, {what}']
            ours, turns = partial(design, model, point, previous=previous), min(rounds, 60)
            rows.append(compare(title, name, ours, DESIGN_PEER, by_hand, turns, limit))
            if detail:
                fastest, median = one_after_another(ours)
                print(f'    one after another {1e6 * fastest:.0f} us (median {1e6 * median:.0f})')
        if detail:
            print_parts(model, point, reduced, price, here, K0)
    return rows


def one_after_another(call: Callable[[], object], calls: int = 600) -> tuple[float, float]:
    """Return what the fastest twentieth of calls takes at most, and half of them [s]."""
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    times.sort()
    return times[calls // 20], times[calls // 2]


def print_parts(
    model: TreeModel,
    point: Equilibrium,
    reduced: ReducedLinearization,
    price: Cost,
    here: Plant,
    K0: Array,
) -> None:
    """Print where the time of a design goes."""
    linearizer = Linearizer(model, [support.contact for support in point.supports])
    C, weights = linearizer(point.state, point.tau), weights_for(point.supports)
    parts = {
        'A, B and contact wrenches': partial(linearizer, point.state, point.tau),
        'J, M': lambda: C.geometry,
        'rank': lambda: C.dropped,
        'reduced pair, with these': lambda: reduce(C),
        'cost': partial(
            cost, weights, model, point.state, point.supports, point.wrenches, reduced
        ),
        'discrete form': partial(plant_of, reduced, price, PERIOD, 0),
        'Riccati equation, cold': partial(solve_dare, *here),
        'Riccati equation, warm': partial(solve_dare, *here, K0=K0),
        'impedance of what contacts forbid': partial(complement, reduced, 60.0),
        'equilibrium, before all that': partial(equilibrium, model, point.state, point.stands_on),
    }
    for part, seconds in interleaved_medians(parts, rounds=60).items():
        print(f'    {part:40} {1e6 * seconds:9.1f} us')


def design_by_scipy(reduced: ReducedLinearization, price: Cost) -> Array:
    """Return the gain of A, B and J that are there already, by SciPy."""
    C, M = reduced.full, reduced.M
    m = len(M)
    N = scipy.linalg.null_space(C.J)
    P, turn = scipy.linalg.block_diag(N, N), scipy.linalg.block_diag(*[reduced.N.T @ N] * 2)
    k, inputs = P.shape[1], C.B.shape[1]
    augmented = np.zeros((k + inputs, k + inputs))
    augmented[:k, :k], augmented[:k, k:] = P.T @ C.A @ P, P.T @ C.B
    held = scipy.linalg.expm(PERIOD * augmented)
    Q, S = turn.T @ price.Q @ turn, turn.T @ price.S
    K = by_scipy(Plant(held[:k, :k], held[:k, k:], Q, price.R, S))
    W = np.linalg.solve(N.T @ M @ N, N.T @ M)
    return np.hstack((K[:, : k // 2] @ W, K[:, k // 2 :] @ W)).reshape(inputs, 2 * m)


def by_scipy(here: Plant) -> Array:
    """Return the gain that SciPy finds."""
    X = scipy.linalg.solve_discrete_are(here.A, here.B, here.Q, here.R, s=here.S)
    BX = here.B.T @ X
    return np.asarray(np.linalg.solve(here.R + BX @ here.B, BX @ here.A + here.S.T))


if __name__ == '__main__':
    measure(60, detail=True)
