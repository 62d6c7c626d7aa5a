# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The bodies of `geolin_papers.kim_2012` from a description, by dense references.

Six-vectors are [angular; linear]. A floating base is a joint of six between ground and body 1,
S = 1. Prescribed joints (the set u) are whole joints.
"""

import numpy as np

from geolin_papers.kim_2012 import Body, ground
from geolin_papers.kim_2012.lie_group import Ad, ad, inverse
from support.dense_reference import GROUPS, axis_twist, entries, group_axes, group_pose, in_link
from support.finite_difference import exp
from support.pinocchio_oracle import IN_A_ROW, split

SWAP = np.block([[np.zeros((3, 3)), np.eye(3)], [np.eye(3), np.zeros((3, 3))]])


class KimProblem:
    """The bodies of a robot without fixed joints, and results in its coordinates.

    Parameters
    ----------
    reference
        A `DenseReference`; its damping is no part of the paper.
    state, nu_dot, tau, wrenches
        As in the package; tau (m,) with the base wrench.
    """

    def __init__(self, reference, state, nu_dot, tau, wrenches=()):
        self.reference, self.state = reference, state
        model = reference.model
        self.base = model.m - model.n
        self.tau, self.nu_dot = tau, nu_dot
        moving = reference.moving_links(state)
        forces = {name: np.zeros(6) for name in moving}
        for wrench in wrenches:
            forces[wrench.link] += SWAP @ in_link(wrench, moving[wrench.link].H)
        self.bodies, self.joints, self.rows, self.links = [ground(model.gravity)], [None], [], []
        if self.base:
            self._add(model.base_link, None, 0, state.H, SWAP, np.arange(6), forces)
        number = {model.base_link: len(self.bodies) - 1}
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

    def _add(self, link, joint, parent, T, S, rows, forces):
        inertia = SWAP @ self.reference.links[link].inertia @ SWAP
        q_dot = np.concatenate((self.state.v[: self.base], self.state.r))[rows]
        S_dot = self.subspace_change(S, joint, q_dot)
        given = (forces[link], self.nu_dot[rows], self.tau[rows])
        self.bodies.append(Body(parent, T, S, S_dot, inertia, q_dot, *given))
        self.joints.append(joint)
        self.rows.append(rows)
        self.links.append(link)

    def moving(self):
        """Return body, joint, rows among [base; joints] and link of all but the ground."""
        return zip(self.bodies[1:], self.joints[1:], self.rows, self.links, strict=True)

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
        if joint.kind in GROUPS:
            return group_pose(joint, q), group_axes(joint)
        return exp(axis_twist(joint) * q[0]), axis_twist(joint)[:, np.newaxis]

    def subspace_change(self, S, joint, dq):
        """Return the sum over l of dS/dq_l dq_l: ad_{S_1} S_2 dq_2 in the first column."""
        change = np.zeros_like(S)
        if joint is not None and joint.kind in IN_A_ROW:
            change[:, 0] = ad(S[:, 0]) @ S[:, 1] * dq[1]
        return change

    def prescribe(self, free):
        """Put the joints all of whose velocities are not ``free`` (m,) into u."""
        for b, _, rows, _ in self.moving():
            assert len(set(free[rows])) == 1, 'the paper prescribes whole joints'
            b.in_u = not free[rows[0]]

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
        placed = {name.partition('/')[0]: z for name, z in variation.placements.items()}
        for b, joint, rows, link in self.moving():
            dq = displacement[rows]
            b.dh = b.S @ dq
            if joint is not None and joint.name in placed:
                E, _ = self.motion(joint)
                b.dh = b.dh + Ad(inverse(E)) @ SWAP @ placed[joint.name]
            b.dS = self.subspace_change(b.S, joint, dq)
            b.dq_dot, b.dq_ddot = velocity[rows], acceleration[rows]
            b.dtau = efforts[rows]
            b.dS_dot = self.subspace_change(b.S, joint, b.dq_dot)
            if joint is not None and joint.kind in IN_A_ROW:
                twice = ad(b.dS[:, 0]) @ b.S[:, 1]  # xi_2 is constant
                b.dS_dot[:, 0] += twice * b.q_dot[1]
            if link in variation.inertias:
                b.dinertia = SWAP @ variation.inertias[link] @ SWAP
        if variation.wrenches is not None:
            for wrench, change in zip(wrenches, variation.wrenches, strict=True):
                assert wrench.kind == 'body'
                body = self.bodies[1 + self.links.index(wrench.link)]
                body.dF_ext = body.dF_ext + SWAP @ change
        self.bodies[0] = ground(self.reference.model.gravity, given('gravity', 3))

    def collect(self, name):
        """Return an entry of every body, (m,) in the package's order."""
        out = np.zeros(self.reference.model.m)
        for b, _, rows, _ in self.moving():
            out[rows] = getattr(b, name)
        return out
