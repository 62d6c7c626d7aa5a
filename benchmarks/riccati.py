# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains of standing robots, cold and warm, beside SciPy: ``python -m benchmarks.riccati``.

The whole of a design too: linearization with contacts, reduction, discretization, cost, gains.
Times taken on a machine with other work are too long; the ratios hold, as contenders take turns.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.linalg

from benchmarks.measure import environment, interleaved_medians
from benchmarks.robots import FOLDER
from geolin_ros import TreeModel, robots
from geolin_ros.contacts import ConstrainedLinearizer, reduce
from geolin_ros.control.equilibrium import Equilibrium, equilibrium
from geolin_ros.control.lqr import PERIOD, Plant, design, plant_of
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.riccati import solve_dare
from geolin_ros.control.support import Support
from geolin_ros.control.weights import cost, weights_for
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
    linearizer = ConstrainedLinearizer(model, [support.contact for support in point.supports])
    reduced = reduce(linearizer(point.state, point.tau))
    weights = weights_for(point.supports)
    price = cost(weights, model, point.state, point.supports, point.wrenches, reduced)
    return plant_of(reduced, price, PERIOD, 0), reduced.P


def line(name: str) -> str:
    """Return the figures of a case."""
    model, above, point = stand(*CASES[name])
    here, P = plant(model, point)
    old = design(model, above)
    K0 = old.K @ P

    def by_scipy() -> Array:
        X = scipy.linalg.solve_discrete_are(here.A, here.B, here.Q, here.R, s=here.S)
        BX = here.B.T @ X
        return np.asarray(np.linalg.solve(here.R + BX @ here.B, BX @ here.A + here.S.T))

    ms = {
        kind: 1e3 * time
        for kind, time in interleaved_medians(
            {
                'scipy': by_scipy,
                'cold': lambda: solve_dare(*here),
                'warm': lambda: solve_dare(*here, K0=K0),
                'design': lambda: design(model, point),
                'design warm': lambda: design(model, point, previous=old),
            },
            rounds=60,
        ).items()
    }
    exact, cold, warm = by_scipy(), solve_dare(*here), solve_dare(*here, K0=K0)
    if (cold.method, warm.method) != ('doubling', 'warm'):
        raise RuntimeError(f'{name} was solved by {cold.method} and {warm.method}')
    errors = [np.linalg.norm(x.K - exact) / np.linalg.norm(exact) for x in (cold, warm)]
    return (
        f'{name:18} {len(cold.P):3d} {ms["scipy"]:8.2f} {ms["cold"]:8.2f} '
        f'{ms["scipy"] / ms["cold"]:6.1f} {ms["warm"]:8.2f} {ms["scipy"] / ms["warm"]:6.1f} '
        f'{ms["design"]:8.2f} {ms["design warm"]:8.2f}  {errors[0]:.0e}, {errors[1]:.0e}'
    )


def main() -> None:
    """Print a line a case."""
    print(*(f'{name} {value}' for name, value in environment().items()), sep=', ')
    print(
        f'{"robot":18} {"n":>3} {"scipy":>8} {"cold":>8} {"ratio":>6} {"warm":>8} {"ratio":>6} '
        f'{"design":>8} {"warm":>8}  [ms]; gain error: cold, warm'
    )
    for name in sys.argv[1:] or CASES:
        print(line(name))


if __name__ == '__main__':
    main()
