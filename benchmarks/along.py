# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A, B, defect and contact forces of the 25 intervals of a gait, against a loop over Pinocchio.

The peer computes accelerations, contact forces and their derivatives of each node, then
scipy.linalg.expm of the matrix dt [[A, B, f], [0, 0, 0]], which it is given put together.
"""

from functools import partial

import numpy as np
from scipy.linalg import expm

from benchmarks.contacts import STANDING, pinocchio_call
from benchmarks.report import Row, compare
from benchmarks.robots import paths, read
from geolin_ros import Linearizer

ROBOTS = {'go2': (0.02, 12), 'g1_29dof_rev_1_0': (0.03, 14)}
"""Interval [s], intervals of a step."""
N, LIMIT = 25, 0.3
WHAT, PEER = 'A, B, defect and forces along 25 intervals', 'loop over Pinocchio and expm'


def measure(rounds: int) -> list[Row]:
    """Compare a trot, and steps from sole to sole."""
    rows = []
    for path in paths(list(ROBOTS)):
        pair = read(path)
        if pair is None:
            continue
        dt, step = ROBOTS[pair.name]
        model, contacts, rng = pair.model, STANDING[pair.name], np.random.default_rng(1)
        lin, nodes = Linearizer(model, contacts), []
        groups = contacts[:1] + contacts[3:], contacts[1:3]  # FL, RR and FR, RL; left and right
        for k in range(N + 1):
            (state, tau), theirs = pair.operating_point(rng)
            standing = groups[k // step % 2]
            L = lin(state, tau, contacts=standing)
            size, n_u = L.B.shape
            matrix = np.zeros((size + n_u + 1, size + n_u + 1))
            rate = np.concatenate((state.v, state.r, L.nu_dot))
            matrix[:size] = dt * np.column_stack((L.A, L.B, rate))
            call = pinocchio_call(pair, standing, *theirs)
            nodes.append((state.data.copy(), tau, [c.name for c in standing], call, matrix))
        states, tau, names, calls, matrices = zip(*nodes, strict=True)

        def peer(calls: tuple = calls, matrices: tuple = matrices) -> None:
            for call, matrix in zip(calls[:N], matrices[:N], strict=True):
                call()
                expm(matrix)

        given = np.array(states), np.array(tau[:N]), dt * np.arange(N + 1)
        ours = partial(lin.along, *given, contacts=names[:N], out=lin.along.room(N))
        rows.append(compare(WHAT, pair.name, ours, PEER, peer, rounds, LIMIT))
    return rows


if __name__ == '__main__':
    measure(100)
