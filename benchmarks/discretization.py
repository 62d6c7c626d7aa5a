# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`zoh` over 1 ms, against scipy.linalg.expm of the same matrix dt [[A, B, f], [0, 0, 0]].

At a quiet and at a violent state: rates of 0.1 and 20 rad/s. Reduced pairs of standing robots have
no f.
"""

from functools import partial

import numpy as np
from scipy.linalg import expm

from benchmarks.report import Row, compare
from benchmarks.riccati import CASES, plant, stand
from benchmarks.robots import paths, read
from geolin_ros import Linearizer
from geolin_ros.linearization.discretization import Rate, step_zoh, zero_order_hold

ROBOTS = ('go2', 'g1_29dof_rev_1_0', 'talos_reduced')  # calls far below a time slice
LARGE = 68  # states
LIMITS = {True: ('68 states or more', 0.2), False: ('fewer than 68 states', 0.4)}
STANDING = ('g1, 2 soles', 'humanoid, 1 sole')
DT = 1e-3
PEER = 'scipy.linalg.expm'


def measure(rounds: int) -> list[Row]:
    """Compare, and print by how much the results differ."""
    rows = []
    for path in paths(list(ROBOTS)):
        pair = read(path)
        if pair is None:
            continue
        for name, speed in (('quiet', 0.1), ('violent', 20.0)):
            rng = np.random.default_rng(1)
            (state, _), _ = pair.operating_point(rng)
            state.v[:], state.r[:] = (
                speed * rng.normal(size=6),
                speed * rng.normal(size=pair.model.n),
            )
            L = Linearizer(pair.model)(state, np.zeros(pair.model.n)).copy()
            k, n = L.B.shape
            rate = Rate(np.concatenate((state.v, state.r, L.nu_dot)), L.A, L.B)
            matrix = np.zeros((k + n + 1, k + n + 1))
            matrix[:k] = DT * np.column_stack((L.A, L.B, rate.f))
            found, expected = step_zoh(rate, DT), expm(matrix)[:k]
            error = np.abs(np.column_stack((found.Phi, found.Gamma)) - expected[:, :-1]).max()
            case, error = f'{pair.name}, {name}', error / np.abs(expected).max()
            print(f'{"":32} {case}, {k} states: differs from expm by {error:.1e}')
            size, limit = LIMITS[k >= LARGE]
            ours, theirs = partial(step_zoh, rate, DT), partial(expm, matrix)
            rows.append(compare(f'zoh of 1 ms, {size}', case, ours, PEER, theirs, rounds, limit))
    return rows + reduced_pairs(rounds)


def reduced_pairs(rounds: int) -> list[Row]:
    """Compare reduced pairs, and print by how much the results differ."""
    rows = []
    for name in STANDING:
        if not CASES[name][0].exists():
            continue
        model, _, point = stand(*CASES[name])
        _, reduced, _ = plant(model, point)
        k, n = reduced.B.shape
        matrix = np.zeros((k + n, k + n))
        matrix[:k] = DT * np.hstack((reduced.A, reduced.B))
        found, expected = np.hstack(zero_order_hold(reduced.A, reduced.B, DT)), expm(matrix)[:k]
        error = np.abs(found - expected).max() / np.abs(expected).max()
        print(f'{"":32} {name}, {k} states: differs from expm by {error:.1e}')
        ours = partial(zero_order_hold, reduced.A, reduced.B, DT)
        title, theirs = 'zoh of 1 ms, reduced pairs', partial(expm, matrix)
        rows.append(compare(title, name, ours, PEER, theirs, rounds, 0.2))
    return rows


if __name__ == '__main__':
    measure(100)
