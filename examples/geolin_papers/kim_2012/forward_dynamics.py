# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recursive forward dynamics [Kim 2012, Table 3]."""

from collections.abc import Sequence

from geolin_papers.kim_2012.body import Body, inv, mu
from geolin_papers.kim_2012.lie_group import ad


def forward_dynamics(bodies: Sequence[Body]) -> None:
    """Fill V, V_dot, F and q_ddot of every body but the ground, and what stands between.

    Notes
    -----
    Differs from Table 3 lines 4 and 5: the sums over children hold Ad*, the print Ad^-1 (errata
    K3).

    Differs from Table 3 line 10: V_dot of the parent is moved by Ad_(T^-1), in print by Ad_T
    (errata K2).

    References
    ----------
    [Kim 2012, Table 3, Eqs. (43)-(50)]. Line 1, T as a function of q, is given.
    """
    for b in bodies[1:]:
        p = bodies[b.parent]
        b.V = b.X @ p.V + b.S @ b.q_dot  # 2
        b.eta = ad(b.V) @ b.S @ b.q_dot + b.S_dot @ b.q_dot  # 3
    for i in range(len(bodies) - 1, 0, -1):
        b = bodies[i]
        b.I_hat = b.inertia  # 4, differs (errata K3)
        b.B_hat = -ad(b.V).T @ b.inertia @ b.V - b.F_ext  # 5, differs (errata K3)
        for k in mu(bodies, i):
            b.I_hat = b.I_hat + k.X.T @ k.Pi @ k.X
            b.B_hat = b.B_hat + k.X.T @ k.beta
        b.Psi = inv(b.S.T @ b.I_hat @ b.S)  # 6
        b.Pi = b.I_hat - b.I_hat @ b.S @ b.Psi @ b.S.T @ b.I_hat  # 7
        missing = b.tau - b.S.T @ (b.I_hat @ b.eta + b.B_hat)
        b.beta = b.B_hat + b.I_hat @ (b.eta + b.S @ b.Psi @ missing)  # 8
    for b in bodies[1:]:
        p = bodies[b.parent]
        b.q_ddot = b.Psi @ (
            b.tau - b.S.T @ b.I_hat @ (b.X @ p.V_dot + b.eta) - b.S.T @ b.B_hat
        )  # 9
        b.V_dot = b.X @ p.V_dot + b.S @ b.q_ddot + b.eta  # 10, differs (errata K2)
        b.F = b.I_hat @ b.V_dot + b.B_hat  # 11
