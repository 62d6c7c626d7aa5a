# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables 2 to 7 of [Kim 2012] as they stand there, corrected where docs/algorithms.md says so.

Six-vectors are [angular; linear], transforms 4 x 4, a joint's S, Sdot and their derivatives
matrices: nothing of the package's recursions. A floating base is a joint of six between ground
and body 0, S = 1. Prescribed joints (the set u) are whole joints.
"""

from dataclasses import dataclass, field

import numpy as np

from support.dense_reference import axis_twist, in_link
from support.finite_difference import cross, exp
from support.several_axes import IN_A_ROW, entries, group_axes, group_pose, split

SWAP = np.block([[np.zeros((3, 3)), np.eye(3)], [np.eye(3), np.zeros((3, 3))]])


def Ad(T):
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [cross(p) @ R, R]])


def ad(V):
    return np.block([[cross(V[:3]), np.zeros((3, 3))], [cross(V[3:]), cross(V[:3])]])


def inverse(T):
    return np.linalg.inv(T)


@dataclass
class Body:
    """Body i, the joint that moves it, and the derivatives by p of what the tables are given."""

    parent: int
    T: np.ndarray
    S: np.ndarray
    S_dot: np.ndarray
    inertia: np.ndarray
    F_ext: np.ndarray
    q_dot: np.ndarray
    q_ddot: np.ndarray
    tau: np.ndarray
    in_u: bool = False
    rows: np.ndarray = None
    """Where its rates stand among [base; joints]."""
    dh: np.ndarray = field(default_factory=lambda: np.zeros(6))
    dS: np.ndarray = 0.0
    dS_dot: np.ndarray = 0.0
    dinertia: np.ndarray = field(default_factory=lambda: np.zeros((6, 6)))
    dF_ext: np.ndarray = field(default_factory=lambda: np.zeros(6))
    dq_dot: np.ndarray = 0.0
    dq_ddot: np.ndarray = 0.0
    dtau: np.ndarray = 0.0


def table_2(bodies, V_dot_0):
    """Recursive inverse dynamics: fills V, V_dot, F, tau."""
    for b in bodies:
        V_p, V_dot_p = motion_of_parent(bodies, b, V_dot_0)
        X = Ad(inverse(b.T))
        b.V = X @ V_p + b.S @ b.q_dot
        b.V_dot = X @ V_dot_p + ad(b.V) @ b.S @ b.q_dot + b.S_dot @ b.q_dot + b.S @ b.q_ddot
    for i, b in reversed(list(enumerate(bodies))):
        b.F = b.inertia @ b.V_dot - ad(b.V).T @ b.inertia @ b.V - b.F_ext
        for k in children(bodies, i):
            b.F = b.F + Ad(inverse(k.T)).T @ k.F
        b.tau = b.S.T @ b.F


def table_4(bodies, V_dot_0):
    """Recursive hybrid dynamics (Table 3 with no body in u): fills q_ddot, tau and the rest."""
    for b in bodies:
        V_p, _ = motion_of_parent(bodies, b, V_dot_0)
        b.V = Ad(inverse(b.T)) @ V_p + b.S @ b.q_dot
        b.eta = ad(b.V) @ b.S @ b.q_dot + b.S_dot @ b.q_dot
    for i, b in reversed(list(enumerate(bodies))):
        b.I_hat = b.inertia
        b.B_hat = -ad(b.V).T @ b.inertia @ b.V - b.F_ext
        for k in children(bodies, i):
            X = Ad(inverse(k.T))
            b.I_hat = b.I_hat + X.T @ k.Pi @ X
            b.B_hat = b.B_hat + X.T @ k.beta
        if b.in_u:
            b.Pi = b.I_hat
            b.beta = b.B_hat + b.I_hat @ (b.eta + b.S @ b.q_ddot)
        else:
            b.Psi = np.linalg.inv(b.S.T @ b.I_hat @ b.S)
            b.Pi = b.I_hat - b.I_hat @ b.S @ b.Psi @ b.S.T @ b.I_hat
            b.rest = b.tau - b.S.T @ (b.I_hat @ b.eta + b.B_hat)
            b.beta = b.B_hat + b.I_hat @ (b.eta + b.S @ b.Psi @ b.rest)
    for b in bodies:
        _, V_dot_p = motion_of_parent(bodies, b, V_dot_0)
        X = Ad(inverse(b.T))
        if not b.in_u:
            b.q_ddot = b.Psi @ (b.tau - b.S.T @ b.I_hat @ (X @ V_dot_p + b.eta) - b.S.T @ b.B_hat)
        b.V_dot = X @ V_dot_p + b.S @ b.q_ddot + b.eta
        b.F = b.I_hat @ b.V_dot + b.B_hat
        if b.in_u:
            b.tau = b.S.T @ b.F


def table_5(bodies, dV_dot_0):
    """Derivative of the recursive inverse dynamics: fills dtau; needs `table_2`."""
    for b in bodies:
        vary_twist(bodies, b)
        _, V_dot_p = motion_of_parent(bodies, b, bodies[0].V_dot_0)
        _, dV_dot_p = variation_of_parent(bodies, b, dV_dot_0)
        X = Ad(inverse(b.T))
        b.dV_dot = (
            X @ dV_dot_p - ad(b.dh) @ X @ V_dot_p + b.dS @ b.q_ddot + b.S @ b.dq_ddot + vary_eta(b)
        )
    for i, b in reversed(list(enumerate(bodies))):
        b.dF = b.dinertia @ b.V_dot + b.inertia @ b.dV_dot - vary_momentum_rate(b) - b.dF_ext
        for k in children(bodies, i):
            b.dF = b.dF + Ad(inverse(k.T)).T @ (k.dF - ad(k.dh).T @ k.F)
        b.dtau = b.dS.T @ b.F + b.S.T @ b.dF


def table_7(bodies, dV_dot_0):
    """Derivative of the recursive hybrid dynamics (Table 6 with no body in u); needs `table_4`."""
    for b in bodies:
        vary_twist(bodies, b)
        b.deta = vary_eta(b)
    for i, b in reversed(list(enumerate(bodies))):
        b.dI_hat = b.dinertia
        b.dB_hat = -vary_momentum_rate(b) - b.dF_ext
        for k in children(bodies, i):
            X = Ad(inverse(k.T))
            turned = k.Pi @ ad(k.dh)
            b.dI_hat = b.dI_hat + X.T @ (k.dPi - turned - turned.T) @ X
            b.dB_hat = b.dB_hat + X.T @ (k.dbeta - ad(k.dh).T @ k.beta)
        if b.in_u:
            b.dPi = b.dI_hat
            b.dbeta = (
                b.dB_hat
                + b.dI_hat @ (b.eta + b.S @ b.q_ddot)
                + b.I_hat @ (b.deta + b.dS @ b.q_ddot + b.S @ b.dq_ddot)
            )
            continue
        Y = b.dS.T @ b.I_hat @ b.S
        b.dPsi = -b.Psi @ (b.S.T @ b.dI_hat @ b.S + Y + Y.T) @ b.Psi
        Y1 = b.dI_hat @ b.S @ b.Psi @ b.S.T @ b.I_hat
        Y2 = b.I_hat @ b.dS @ b.Psi @ b.S.T @ b.I_hat
        b.dPi = b.dI_hat - (b.I_hat @ b.S @ b.dPsi @ b.S.T @ b.I_hat + Y1 + Y1.T + Y2 + Y2.T)
        drest = (
            b.dtau
            - b.dS.T @ (b.I_hat @ b.eta + b.B_hat)
            - b.S.T @ (b.dI_hat @ b.eta + b.I_hat @ b.deta + b.dB_hat)
        )
        b.dbeta = (
            b.dB_hat
            + b.dI_hat @ (b.eta + b.S @ b.Psi @ b.rest)
            + b.I_hat @ (b.deta + (b.dS @ b.Psi + b.S @ b.dPsi) @ b.rest + b.S @ b.Psi @ drest)
        )
    for b in bodies:
        _, V_dot_p = motion_of_parent(bodies, b, bodies[0].V_dot_0)
        _, dV_dot_p = variation_of_parent(bodies, b, dV_dot_0)
        X = Ad(inverse(b.T))
        carried = X @ dV_dot_p - ad(b.dh) @ X @ V_dot_p
        if not b.in_u:
            w = X @ V_dot_p + b.eta
            b.dq_ddot = b.dPsi @ (b.tau - b.S.T @ b.I_hat @ w - b.S.T @ b.B_hat) + b.Psi @ (
                b.dtau
                - (b.dS.T @ b.I_hat + b.S.T @ b.dI_hat) @ w
                - b.S.T @ b.I_hat @ (carried + b.deta)
                - b.dS.T @ b.B_hat
                - b.S.T @ b.dB_hat
            )
        b.dV_dot = carried + b.dS @ b.q_ddot + b.S @ b.dq_ddot + b.deta
        b.dF = b.dI_hat @ b.V_dot + b.I_hat @ b.dV_dot + b.dB_hat
        if b.in_u:
            b.dtau = b.dS.T @ b.F + b.S.T @ b.dF


def vary_twist(bodies, b):
    V_p, _ = motion_of_parent(bodies, b, np.zeros(6))
    dV_p, _ = variation_of_parent(bodies, b, np.zeros(6))
    X = Ad(inverse(b.T))
    b.dV = X @ dV_p - ad(b.dh) @ X @ V_p + b.dS @ b.q_dot + b.S @ b.dq_dot


def vary_eta(b):
    return (
        ad(b.dV) @ b.S @ b.q_dot
        + ad(b.V) @ (b.dS @ b.q_dot + b.S @ b.dq_dot)
        + b.dS_dot @ b.q_dot
        + b.S_dot @ b.dq_dot
    )


def vary_momentum_rate(b):
    return ad(b.dV).T @ b.inertia @ b.V + ad(b.V).T @ (b.dinertia @ b.V + b.inertia @ b.dV)


def motion_of_parent(bodies, b, V_dot_0):
    if b.parent < 0:
        return np.zeros(6), V_dot_0
    return bodies[b.parent].V, getattr(bodies[b.parent], 'V_dot', None)


def variation_of_parent(bodies, b, dV_dot_0):
    if b.parent < 0:
        return np.zeros(6), dV_dot_0
    return bodies[b.parent].dV, getattr(bodies[b.parent], 'dV_dot', None)


def children(bodies, i):
    return [b for b in bodies if b.parent == i]


class KimProblem:
    """The bodies of a robot without fixed joints, and results in its coordinates.

    Parameters
    ----------
    reference
        A `SeveralAxesReference`; its damping is no part of the paper.
    state, nu_dot, tau, wrenches
        As in the package; tau (m,) with the base wrench.
    """

    def __init__(self, reference, state, nu_dot, tau, wrenches=()):
        self.reference, self.state = reference, state
        model = reference.model
        self.base = model.m - model.n
        self.V_dot_0 = np.concatenate((np.zeros(3), -model.gravity))  # K6
        moving = reference.moving_links(state)
        forces = {name: np.zeros(6) for name in moving}
        for wrench in wrenches:
            forces[wrench.link] += SWAP @ in_link(wrench, moving[wrench.link].H)
        self.bodies, self.joints, number = [], [], {}
        if self.base:
            self._add(model.base_link, None, -1, state.H, SWAP, np.arange(6), forces)
        number[model.base_link] = len(self.bodies) - 1
        pending = [model.base_link]
        while pending:
            name = pending.pop()
            for joint in reference.children[name]:
                rows = self.base + entries(model.joint_names, joint)
                E, S = self.motion(joint)
                T = joint.placement @ E
                self._add(joint.child, joint, number[name], T, SWAP @ S, rows, forces)
                number[joint.child] = len(self.bodies) - 1
                pending.append(joint.child)
        velocity = np.concatenate((state.v[: self.base], state.r))
        for b, joint in zip(self.bodies, self.joints, strict=True):
            b.q_dot, b.q_ddot, b.tau = velocity[b.rows], nu_dot[b.rows], tau[b.rows]
            b.S_dot = self.subspace_change(b, joint, b.q_dot)
        self.bodies[0].V_dot_0 = self.V_dot_0

    def _add(self, link, joint, parent, T, S, rows, forces):
        inertia = SWAP @ self.reference.links[link].inertia @ SWAP
        self.bodies.append(
            Body(parent, T, S, 0.0 * S, inertia, forces[link], None, None, None, rows=rows)
        )
        self.bodies[-1].link = link
        self.joints.append(joint)

    def motion(self, joint):
        """Return E and S (6, k), [linear; angular], of a joint at the state."""
        q = self.state.s[entries(self.reference.model.position_names, joint)]
        if joint.kind in IN_A_ROW:  # a product of exponentials: S_1 = Ad_{E_2^-1} xi_1
            first, second = split(joint)
            E = [
                exp(axis_twist(part) * angle)
                for part, angle in zip((first, second), q, strict=True)
            ]
            S_1 = SWAP @ Ad(inverse(E[1])) @ SWAP @ axis_twist(first)
            return E[0] @ E[1], np.column_stack((S_1, axis_twist(second)))
        if joint.kind in ('spherical', 'se2', 'floating'):
            return group_pose(joint, q), group_axes(joint)
        return exp(axis_twist(joint) * q[0]), axis_twist(joint)[:, np.newaxis]

    def subspace_change(self, b, joint, dq):
        """Return the sum over l of dS/dq_l dq_l: ad_{S_1} S_2 dq_2 in the first column."""
        change = np.zeros_like(b.S)
        if joint is not None and joint.kind in IN_A_ROW:
            change[:, 0] = ad(b.S[:, 0]) @ b.S[:, 1] * dq[1]
        return change

    def prescribe(self, free):
        """Put the joints all of whose velocities are not ``free`` (m,) into u."""
        for b in self.bodies:
            assert len(set(free[b.rows])) == 1, 'the paper prescribes whole joints'
            b.in_u = not free[b.rows[0]]

    def vary(self, variation, wrenches=()):
        """Set the derivatives of what the tables are given, by a `geolin_ros.Variation`."""
        n, base = self.reference.model.n, self.base

        def given(name, size):
            value = getattr(variation, name)
            return np.zeros(size) if value is None else value

        displacement = np.concatenate((given('pose', 6)[:base], given('positions', n)))
        velocity = np.concatenate((given('twist', 6)[:base], given('rates', n)))
        efforts = np.concatenate((np.zeros(base), given('efforts', n)))
        acceleration = given('acceleration', base + n)
        for b, joint in zip(self.bodies, self.joints, strict=True):
            dq = displacement[b.rows]
            b.dh = b.S @ dq
            if joint is not None and joint.name in variation.placements:
                E, _ = self.motion(joint)
                b.dh = b.dh + Ad(inverse(E)) @ SWAP @ variation.placements[joint.name]
            b.dS = self.subspace_change(b, joint, dq)
            b.dq_dot, b.dq_ddot = velocity[b.rows], acceleration[b.rows]
            b.dtau = efforts[b.rows]
            b.dS_dot = self.subspace_change(b, joint, b.dq_dot)
            if joint is not None and joint.kind in IN_A_ROW:
                twice = ad(b.dS[:, 0]) @ b.S[:, 1]  # xi_2 is constant
                b.dS_dot[:, 0] += twice * b.q_dot[1]
            if b.link in variation.inertias:
                b.dinertia = SWAP @ variation.inertias[b.link] @ SWAP
        if variation.wrenches is not None:
            for wrench, change in zip(wrenches, variation.wrenches, strict=True):
                assert wrench.kind == 'body'
                body = next(b for b in self.bodies if b.link == wrench.link)
                body.dF_ext = body.dF_ext + SWAP @ change
        self.dV_dot_0 = np.concatenate((np.zeros(3), -given('gravity', 3)))

    def collect(self, name):
        """Return an entry of every body, (m,) in the package's order."""
        out = np.zeros(self.reference.model.m)
        for b in self.bodies:
            out[b.rows] = getattr(b, name)
        return out
