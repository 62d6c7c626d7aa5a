# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivative of the recursive forward dynamics by any scalar p [Kim 2012, Table 6]."""

from collections.abc import Sequence

from geolin_papers.kim_2012.body import Body, mu
from geolin_papers.kim_2012.lie_group import ad


def forward_dynamics_derivative(bodies: Sequence[Body]) -> None:
    """Fill dq_ddot, dV, dV_dot, dF of every body but the ground; needs `forward_dynamics`.

    Notes
    -----
    Lines 4 and 5 carry wrenches and inertias with Eq. (88) of Ad*_(T^-1) (errata K1); the inertias
    without an index in lines 7 and 8 are those of body i (errata K12).

    Differs from Table 6 line 10: dV_dot of the parent is moved by Ad_(T^-1), in print by Ad_T
    (errata K2). Given are dq/dp (in dh, dS) and dq_dot/dp too (errata K7).

    References
    ----------
    [Kim 2012, Table 6]. Line 1, dh, is given.
    """
    for b in bodies[1:]:
        p = bodies[b.parent]
        b.dV = b.X @ p.dV - ad(b.dh) @ b.X @ p.V + b.dS @ b.q_dot + b.S @ b.dq_dot  # 2
        b.deta = (
            ad(b.dV) @ b.S @ b.q_dot
            + ad(b.V) @ (b.dS @ b.q_dot + b.S @ b.dq_dot)
            + b.dS_dot @ b.q_dot
            + b.S_dot @ b.dq_dot
        )  # 3
    for i in range(len(bodies) - 1, 0, -1):
        b = bodies[i]
        b.dI_hat = b.dinertia  # 4
        b.dB_hat = (
            -ad(b.dV).T @ b.inertia @ b.V
            - ad(b.V).T @ (b.dinertia @ b.V + b.inertia @ b.dV)
            - b.dF_ext
        )  # 5
        for k in mu(bodies, i):
            turned = k.Pi @ ad(k.dh)
            b.dI_hat = b.dI_hat + k.X.T @ (k.dPi - turned - turned.T) @ k.X
            b.dB_hat = b.dB_hat + k.X.T @ (k.dbeta - ad(k.dh).T @ k.beta)
        turned = b.dS.T @ b.I_hat @ b.S
        b.dPsi = -b.Psi @ (b.S.T @ b.dI_hat @ b.S + turned + turned.T) @ b.Psi  # 6
        by_inertia = b.dI_hat @ b.S @ b.Psi @ b.S.T @ b.I_hat
        by_axes = b.I_hat @ b.dS @ b.Psi @ b.S.T @ b.I_hat
        b.dPi = b.dI_hat - (
            b.I_hat @ b.S @ b.dPsi @ b.S.T @ b.I_hat
            + by_inertia
            + by_inertia.T
            + by_axes
            + by_axes.T
        )  # 7
        missing = b.tau - b.S.T @ (b.I_hat @ b.eta + b.B_hat)
        dmissing = (
            b.dtau
            - b.dS.T @ (b.I_hat @ b.eta + b.B_hat)
            - b.S.T @ (b.dI_hat @ b.eta + b.I_hat @ b.deta + b.dB_hat)
        )
        b.dbeta = (
            b.dB_hat
            + b.dI_hat @ (b.eta + b.S @ b.Psi @ missing)
            + b.I_hat @ (b.deta + (b.dS @ b.Psi + b.S @ b.dPsi) @ missing + b.S @ b.Psi @ dmissing)
        )  # 8
    for b in bodies[1:]:
        p = bodies[b.parent]
        b.dq_ddot = b.dPsi @ (
            b.tau - b.S.T @ b.I_hat @ (b.X @ p.V_dot + b.eta) - b.S.T @ b.B_hat
        ) + b.Psi @ (
            b.dtau
            - (b.dS.T @ b.I_hat + b.S.T @ b.dI_hat) @ (b.X @ p.V_dot + b.eta)
            - b.S.T @ b.I_hat @ (b.X @ p.dV_dot - ad(b.dh) @ b.X @ p.V_dot + b.deta)
            - b.dS.T @ b.B_hat
            - b.S.T @ b.dB_hat
        )  # 9
        b.dV_dot = (
            b.X @ p.dV_dot - ad(b.dh) @ b.X @ p.V_dot + b.dS @ b.q_ddot + b.S @ b.dq_ddot + b.deta
        )  # 10, differs (errata K2)
        b.dF = b.dI_hat @ b.V_dot + b.I_hat @ b.dV_dot + b.dB_hat  # 11
