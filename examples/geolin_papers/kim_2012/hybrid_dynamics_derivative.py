# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivative of the recursive hybrid dynamics by any scalar p [Kim 2012, Table 7]."""

from collections.abc import Sequence

from geolin_papers.kim_2012.body import Body, mu
from geolin_papers.kim_2012.lie_group import ad


def hybrid_dynamics_derivative(bodies: Sequence[Body]) -> None:
    """Fill dtau of joints in u, dq_ddot of the others, dV, dV_dot, dF; needs `hybrid_dynamics`.

    Notes
    -----
    Lines 4 and 5 carry wrenches and inertias with Eq. (88) of Ad*_(T^-1) (errata K1); the inertias
    without an index in lines 9 and 10 are those of body i (errata K12). Given are dq_ddot/dp of
    the joints in u, not in v (errata K7).

    References
    ----------
    [Kim 2012, Table 7]. Line 1, dh, is given.
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
        if b.in_u:
            b.dPi = b.dI_hat  # 6
            b.dbeta = (
                b.dB_hat
                + b.dI_hat @ (b.eta + b.S @ b.q_ddot)
                + b.I_hat @ (b.deta + b.dS @ b.q_ddot + b.S @ b.dq_ddot)
            )  # 7
            continue
        turned = b.dS.T @ b.I_hat @ b.S
        b.dPsi = -b.Psi @ (b.S.T @ b.dI_hat @ b.S + turned + turned.T) @ b.Psi  # 8
        by_inertia = b.dI_hat @ b.S @ b.Psi @ b.S.T @ b.I_hat
        by_axes = b.I_hat @ b.dS @ b.Psi @ b.S.T @ b.I_hat
        b.dPi = b.dI_hat - (
            b.I_hat @ b.S @ b.dPsi @ b.S.T @ b.I_hat
            + by_inertia
            + by_inertia.T
            + by_axes
            + by_axes.T
        )  # 9
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
        )  # 10
    for b in bodies[1:]:
        p = bodies[b.parent]
        if not b.in_u:
            b.dq_ddot = b.dPsi @ (
                b.tau - b.S.T @ b.I_hat @ (b.X @ p.V_dot + b.eta) - b.S.T @ b.B_hat
            ) + b.Psi @ (
                b.dtau
                - (b.dS.T @ b.I_hat + b.S.T @ b.dI_hat) @ (b.X @ p.V_dot + b.eta)
                - b.S.T @ b.I_hat @ (b.X @ p.dV_dot - ad(b.dh) @ b.X @ p.V_dot + b.deta)
                - b.dS.T @ b.B_hat
                - b.S.T @ b.dB_hat
            )  # 14
        b.dV_dot = (
            b.X @ p.dV_dot - ad(b.dh) @ b.X @ p.V_dot + b.dS @ b.q_ddot + b.S @ b.dq_ddot + b.deta
        )  # 11, 15
        b.dF = b.dI_hat @ b.V_dot + b.I_hat @ b.dV_dot + b.dB_hat  # 12, 16
        if b.in_u:
            b.dtau = b.dS.T @ b.F + b.S.T @ b.dF  # 13
