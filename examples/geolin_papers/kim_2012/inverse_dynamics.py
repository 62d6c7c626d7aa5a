# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recursive inverse dynamics [Kim 2012, Table 2]."""

from collections.abc import Sequence

from geolin_papers.kim_2012.body import Body, mu
from geolin_papers.kim_2012.lie_group import ad


def inverse_dynamics(bodies: Sequence[Body]) -> None:
    """Fill V, V_dot, F and tau of every body but the ground ``bodies[0]``.

    References
    ----------
    [Kim 2012, Table 2, Eqs. (35)-(42)]. Line 1, T as a function of q, is given.
    """
    for b in bodies[1:]:
        p = bodies[b.parent]
        b.V = b.X @ p.V + b.S @ b.q_dot  # 2
        b.V_dot = b.X @ p.V_dot + ad(b.V) @ b.S @ b.q_dot + b.S_dot @ b.q_dot + b.S @ b.q_ddot  # 3
    for i in range(len(bodies) - 1, 0, -1):
        b = bodies[i]
        b.F = b.inertia @ b.V_dot - ad(b.V).T @ b.inertia @ b.V - b.F_ext  # 4
        for k in mu(bodies, i):
            b.F = b.F + k.X.T @ k.F
        b.tau = b.S.T @ b.F  # 5
