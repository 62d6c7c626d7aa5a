# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics under m constraints on chains of n joints: the order O(n) + O(m^3) [Kim 2012].

Beside it the dense KKT system, mass matrix and bias force of ours included.
"""

import numpy as np

from benchmarks.measure import interleaved_medians
from geolin_ros import Description, Joint, Link, State, TreeModel, bias_force, mass_matrix
from geolin_ros.dynamics import constraints
from geolin_ros.dynamics.constraints import Constraints
from geolin_ros.typing import Array

JOINTS = (12, 24, 48, 96, 192)
ROWS = (3, 6, 12, 24, 48, 96)


def chain(joints: int) -> TreeModel:
    """Return a chain of rods on a fixed base, axes in turn."""
    links = [
        Link.from_mass(f'l{i}', 1.0, [0.0, 0.0, 0.05], 0.01 * np.eye(3)) for i in range(joints + 1)
    ]
    step = np.eye(4)
    step[2, 3] = 0.1
    axes = np.eye(3)
    hinges = [
        Joint(f'j{i}', 'revolute', f'l{i - 1}', f'l{i}', placement=step, axis=axes[i % 3])
        for i in range(1, joints + 1)
    ]
    return TreeModel.from_description(
        Description('chain', tuple(links), tuple(hinges)), base='fixed'
    )


def dense(model: TreeModel, state: State, rows: Constraints, tau: Array) -> Array:
    """Return nu_dot and -lambda of the KKT system."""
    M, h = mass_matrix(model, state), bias_force(model, state)
    k = len(rows.bias)
    K = np.block([[M, rows.A.T], [rows.A, np.zeros((k, k))]])
    return np.linalg.solve(K, np.concatenate((tau - h, -rows.bias)))


def measure(joints: int, count: int) -> tuple[float, float]:
    """Return microseconds of one forward dynamics, recursive and dense."""
    rng = np.random.default_rng(1)
    model = chain(joints)
    state = model.random_state(rng)
    rows = Constraints(rng.normal(size=(count, joints)), rng.normal(size=count))
    tau = rng.normal(size=joints)
    times = interleaved_medians(
        {
            'ours': lambda: constraints.forward_dynamics(model, state, tau, rows),
            'dense': lambda: dense(model, state, rows, tau),
        },
        rounds=40,
    )
    return 1e6 * times['ours'], 1e6 * times['dense']


def growth(sizes: tuple[int, ...], times: list[float]) -> str:
    """Return the order between the last two sizes as text."""
    return f'{np.log(times[-1] / times[-2]) / np.log(sizes[-1] / sizes[-2]):.1f}'


def main() -> None:
    """Print time over n at fixed m, and over m at fixed n."""
    for title, cases in (
        ('6 rows, n joints', [(n, 6) for n in JOINTS]),
        ('192 joints, m rows', [(192, m) for m in ROWS]),
    ):
        print(f'{title:20} {"ours us":>10} {"dense KKT us":>14}')
        ours, peer = [], []
        for joints, count in cases:
            first, second = measure(joints, count)
            ours.append(first)
            peer.append(second)
            print(f'n = {joints:3}, m = {count:3}    {first:10.0f} {second:14.0f}')
        sizes = JOINTS if cases[0][1] == cases[1][1] else ROWS
        print(f'order at the end     {growth(sizes, ours):>10} {growth(sizes, peer):>14}')


if __name__ == '__main__':
    main()
