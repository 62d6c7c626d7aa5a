# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivative of the recursive inverse dynamics by any scalar p [Kim 2012, Table 5]."""

from collections.abc import Sequence

from geolin_papers.kim_2012.body import Body, mu
from geolin_papers.kim_2012.lie_group import ad


def inverse_dynamics_derivative(bodies: Sequence[Body]) -> None:
    """Fill dV, dV_dot, dF and dtau of every body but the ground; needs `inverse_dynamics`.

    Notes
    -----
    Line 4 carries wrenches with d Ad*_(T^-1) = -Ad*_(T^-1) ad*_dh: Eq. (88), which the print has
    of Ad*_T (errata K1).

    References
    ----------
    [Kim 2012, Table 5, Eqs. (87)-(89)]. Line 1, dh, is given.
    """
    for b in bodies[1:]:
        p = bodies[b.parent]
        b.dV = b.X @ p.dV - ad(b.dh) @ b.X @ p.V + b.dS @ b.q_dot + b.S @ b.dq_dot  # 2
        b.dV_dot = (
            b.X @ p.dV_dot
            - ad(b.dh) @ b.X @ p.V_dot
            + b.dS @ b.q_ddot
            + b.S @ b.dq_ddot
            + ad(b.dV) @ b.S @ b.q_dot
            + ad(b.V) @ (b.dS @ b.q_dot + b.S @ b.dq_dot)
            + b.dS_dot @ b.q_dot
            + b.S_dot @ b.dq_dot
        )  # 3
    for i in range(len(bodies) - 1, 0, -1):
        b = bodies[i]
        b.dF = (
            b.dinertia @ b.V_dot
            + b.inertia @ b.dV_dot
            - ad(b.dV).T @ b.inertia @ b.V
            - ad(b.V).T @ (b.dinertia @ b.V + b.inertia @ b.dV)
            - b.dF_ext
        )  # 4
        for k in mu(bodies, i):
            b.dF = b.dF + k.X.T @ (k.dF - ad(k.dh).T @ k.F)
        b.dtau = b.dS.T @ b.F + b.S.T @ b.dF  # 5
