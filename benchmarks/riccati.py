# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains of standing robots, cold and warm, beside SciPy: ``python -m benchmarks.riccati``.

The whole of a design too: linearization with contacts, reduction, discretization, cost, gains.
The limits are times, for gains are made while a robot runs. On a machine with other work times are
too long; the ratios hold, as contenders take turns.
"""

import warnings
from functools import partial
from pathlib import Path

import numpy as np
import scipy.linalg

from benchmarks.measure import interleaved_medians
from benchmarks.report import Row, compare
from benchmarks.robots import FOLDER
from geolin_ros import TreeModel, robots
from geolin_ros.control.equilibrium import Equilibrium, equilibrium
from geolin_ros.control.lqr import PERIOD, Plant, design, plant_of
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.riccati import solve_dare
from geolin_ros.control.support import Support
from geolin_ros.control.weights import cost, weights_for
from geolin_ros.linearization.contacts import reduce
from geolin_ros.linearization.linearizer import Linearizer
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


def plant(model: TreeModel, point: Equilibrium) -> tuple[Plant, Array]:
    """Return the discrete system with its cost, and the basis of its state."""
    linearizer = Linearizer(model, [support.contact for support in point.supports])
    reduced = reduce(linearizer(point.state, point.tau))
    weights = weights_for(point.supports)
    price = cost(weights, model, point.state, point.supports, point.wrenches, reduced)
    return plant_of(reduced, price, PERIOD, 0), reduced.P


def measure(rounds: int, detail: bool = False) -> list[Row]:
    """Compare robots that stand; with ``detail`` print what the whole of a design takes.

    Raises
    ------
    RuntimeError
        If a gain was not found the way that is to be measured.
    """
    rows = []
    for name, case in CASES.items():
        if not case[0].exists():
            continue
        model, above, point = stand(*case)
        here, P = plant(model, point)
        old = design(model, above)
        K0 = old.K @ P
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
        if detail:
            times = interleaved_medians(
                {
                    'design cold': partial(design, model, point),
                    'design warm': partial(design, model, point, previous=old),
                },
                rounds=60,
            )
            for part, time in times.items():
                print(f'    {part:40} {1e3 * time:9.2f} ms')
    return rows


def by_scipy(here: Plant) -> Array:
    """Return the gain that SciPy finds."""
    X = scipy.linalg.solve_discrete_are(here.A, here.B, here.Q, here.R, s=here.S)
    BX = here.B.T @ X
    return np.asarray(np.linalg.solve(here.R + BX @ here.B, BX @ here.A + here.S.T))


if __name__ == '__main__':
    measure(60, detail=True)
