# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Constrained dynamics from Pinocchio: its own, and dense ones of its M, h, Jacobians and drifts.

The dense ones take redundant rows too: forces of least norm by a pseudo-inverse. Orders, axes and
signs are ours: contact forces act on the robot, in axes of the contact frame. `TiedReference` has
the mass matrix of the reduced dynamics, whose condition light bodies do not make worse.
"""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

from geolin_ros.linearization.contacts import Contact
from geolin_ros.model.tree import TreeModel
from support.finite_difference import ad, derivative_by_vector
from support.pinocchio_oracle import PinocchioOracle

pin = pytest.importorskip('pinocchio')
LOCAL = pin.ReferenceFrame.LOCAL


class ConstrainedDerivatives(NamedTuple):
    """By [H; s; v; r] and tau."""

    nu_dot: np.ndarray
    lam: np.ndarray
    nu_dot_by_state: np.ndarray
    lam_by_state: np.ndarray
    nu_dot_by_tau: np.ndarray
    lam_by_tau: np.ndarray


class ConstrainedReference:
    """A robot that is held, by Pinocchio.

    Parameters
    ----------
    oracle
        A `PinocchioOracle` whose frames have the names of the links.
    contacts
        `Contact` and `Loop`, all active.
    """

    def __init__(self, oracle, contacts):
        self.oracle, self.contacts = oracle, contacts

    def frame(self, name, pose=None):
        """Return joint and placement of a frame of the robot."""
        model = self.oracle.pin_model
        assert model.existFrame(name), name
        frame = model.frames[model.getFrameId(name)]
        offset = pin.SE3.Identity() if pose is None else pin.SE3(np.asarray(pose))
        return frame.parentJoint, frame.placement * offset

    def ends(self, contact):
        """Return joint and placement of both frames, joint 0 is the world."""
        if isinstance(contact, Contact):
            first = self.frame(contact.frame, contact.placement)
            held = np.eye(4) if contact.reference is None else np.asarray(contact.reference)
            return first, (0, pin.SE3(held))
        return self.frame(contact.frame_a), self.frame(contact.frame_b, contact.reference)

    def derivatives(self, state, tau):
        """Return Pinocchio's constraint dynamics and its derivatives; rows must be independent."""
        oracle, model = self.oracle, self.oracle.pin_model
        models, sizes = [], []
        for contact in self.contacts:
            surface = contact.kind == 'surface'
            kind = pin.ContactType.CONTACT_6D if surface else pin.ContactType.CONTACT_3D
            (joint1, at1), (joint2, at2) = self.ends(contact)
            held = pin.RigidConstraintModel(kind, model, joint1, at1, joint2, at2, LOCAL)
            held.m_baumgarte_parameters.Kp = contact.kp
            held.m_baumgarte_parameters.Kd = contact.kd
            models.append(held)
            sizes.append(6 if surface else 3)
        datas, data = [held.createData() for held in models], model.createData()
        pin.initConstraintDynamics(model, data, models, datas)
        once = pin.ProximalSettings(1e-15, 0.0, 1)
        q, v, effort = oracle.q(state), oracle.velocity(state), oracle._effort(state, tau)
        pin.constraintDynamics(model, data, q, v, effort, models, datas, once)
        pin.computeConstraintDynamicsDerivatives(model, data, models, datas, once)
        order, base = oracle.order, oracle.base
        by_tau, lam_by_tau = (
            np.array(data.ddq_dtau)[order][:, order],
            np.array(data.dlambda_dtau)[:, order],
        )
        by_v = np.array(data.ddq_dv)[order][:, order] - by_tau * oracle.damping
        lam_by_v = np.array(data.dlambda_dv)[:, order] - lam_by_tau * oracle.damping
        return ConstrainedDerivatives(
            np.array(data.ddq)[order],
            np.array(data.lambda_c),
            np.hstack((np.array(data.ddq_dq)[order][:, order], by_v)),
            np.hstack((np.array(data.dlambda_dq)[:, order], lam_by_v)),
            by_tau[:, base:],
            lam_by_tau[:, base:],
        )

    def rows(self, state):
        """Return J and gamma of all contacts."""
        oracle = self.oracle
        model, data, still = oracle.pin_model, oracle.data, np.zeros(oracle.order.size)
        pin.computeJointJacobians(model, data, oracle.q(state))
        pin.forwardKinematics(model, data, oracle.q(state), oracle.velocity(state), still)
        Js, gammas = [np.zeros((0, oracle.model.m))], [np.zeros(0)]
        for contact in self.contacts:
            ends = [self._motion(joint, placement) for joint, placement in self.ends(contact)]
            J, gamma = ROWS[contact.kind](contact, *ends)
            Js.append(J[:, oracle.order])
            gammas.append(gamma)
        return np.vstack(Js), np.concatenate(gammas)

    def _motion(self, joint, placement):
        data = self.oracle.data
        H, V, a = data.oMi[joint] * placement, data.v[joint], data.a[joint]
        J = np.zeros((6, self.oracle.order.size))
        if joint:
            J = pin.getJointJacobian(self.oracle.pin_model, data, joint, LOCAL)
        return H, placement.actInv(V), placement.actInv(a), placement.inverse().action @ J

    def forward_dynamics(self, state, tau, length=1.0):
        """Return nu_dot and the forces of least norm, torques divided by ``length`` in it."""
        M = self.oracle.mass_matrix(state)
        free = -self.oracle.inverse_dynamics(state, np.zeros(self.oracle.model.m))
        free[self.oracle.base :] += tau
        J, gamma = self.rows(state)
        six = np.repeat((1.0, length), 3)
        weights = np.concatenate([six[: 6 if c.kind == 'surface' else 3] for c in self.contacts])
        J, gamma = J * weights[:, np.newaxis], gamma * weights
        Lam = J @ np.linalg.solve(M, J.T)
        lam = -np.linalg.pinv(Lam, rcond=1e-9, hermitian=True) @ (
            J @ np.linalg.solve(M, free) + gamma
        )
        return np.linalg.solve(M, free + J.T @ lam), weights * lam

    def flow(self, state, tau, duration, steps):
        """Return the state after ``duration``, efforts held, by steps of Munthe-Kaas' method."""

        def rate(theta):
            at = state.retract(theta)
            x = np.concatenate((at.v, at.r, self.forward_dynamics(at, tau)[0]))
            x[:6] += 0.5 * ad(theta[:6]) @ x[:6] + ad(theta[:6]) @ ad(theta[:6]) @ x[:6] / 12.0
            return x

        h, k = duration / steps, np.zeros(2 * self.oracle.model.m)
        for _ in range(steps):
            total = np.zeros_like(k)
            for node, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
                k = rate(node * h * k)
                total += weight * k
            state = state.retract(h / 6.0 * total)
        return state


class TiedReference:
    """Robots with mimic joints and contacts, of Pinocchio's M, h and their derivatives.

    Velocities nu = T nu_y of all joints, N a basis of those that leave the contacts alone:

        N' T' (M T nu_dot_y + h - S tau) = 0,     J T nu_dot_y + gamma = 0

    and the same for derivatives; those of J and gamma, which know no mass, are differences.

    Parameters
    ----------
    description
        The robot; links may be without mass where others carry their joint along.
    model
        Of it, exact mimics.
    contacts
        `Contact` and `Loop`, all active.
    """

    def __init__(self, description, model, contacts=()):
        joints = tuple(dataclasses.replace(joint, mimic=None) for joint in description.joints)
        free = dataclasses.replace(description, joints=joints)
        heavy = tuple(
            dataclasses.replace(link, inertia=link.inertia + np.eye(6)) for link in free.links
        )
        names = TreeModel.from_description(
            dataclasses.replace(free, links=heavy), base=model.base, gravity=model.gravity
        )
        self.model, self.names = model, names
        self.oracle = PinocchioOracle.from_description(free, names)
        self.rows = ConstrainedReference(self.oracle, contacts).rows
        self.G, self.s0 = np.zeros((names.n, model.n)), np.zeros(names.n)
        by_name = {joint.name: joint for joint in description.joints}
        for row, name in enumerate(names.joint_names):
            factor, offset, joint = 1.0, 0.0, by_name[name]
            while joint.mimic is not None:
                offset += factor * joint.mimic.offset
                factor, joint = factor * joint.mimic.multiplier, by_name[joint.mimic.joint]
            self.G[row, model.joint_names.index(joint.name)], self.s0[row] = factor, offset
        base = model.m - model.n
        self.T = np.zeros((base + names.n, model.m))
        self.T[:base, :base], self.T[base:, base:] = np.eye(base), self.G
        self.S = np.eye(model.m)[:, base:]

    def full(self, state):
        """Return the state of all joints."""
        found = self.names.neutral_state()
        found.H[:], found.v[:] = state.H, state.v
        found.s[:], found.r[:] = self.G @ state.s + self.s0, self.G @ state.r
        return found

    def linearization(self, state, tau):
        """Return A, B, nu_dot, forces, their derivative by state, the rank, and a condition.

        The latter is that of the mass matrix along the motions left, locked ones counting by how
        heavy they are, or, squared, of J.
        """
        oracle, T, S, m = self.oracle, self.T, self.S, self.model.m
        M = T.T @ oracle.mass_matrix(self.full(state)) @ T
        h = T.T @ oracle.inverse_dynamics(self.full(state), np.zeros(len(T)))
        J, gamma = self.rows(self.full(state))
        J = J @ T
        _, sizes, directions = np.linalg.svd(J)
        rank = int(np.sum(sizes > 1e-9 * np.max(sizes, initial=0.0)))
        N, J_inverse = directions[rank:].T, np.linalg.pinv(J, rcond=1e-9)
        inner = N.T @ M @ N

        def solve(force, c):
            asked = -J_inverse @ c
            return asked + N @ np.linalg.solve(inner, N.T @ (force - M @ asked))

        nu_dot = solve(S @ tau - h, gamma)
        lam = J_inverse.T @ (M @ nu_dot + h - S @ tau)

        def held(z):
            rows, bias = self.rows(self.full(state.retract(z)))
            return np.concatenate((rows @ T @ nu_dot + bias, T.T @ (rows.T @ lam)))

        change = np.zeros((m, 2 * m))
        if len(gamma):
            change = derivative_by_vector(held, np.zeros(2 * m), 4e-3)
        by_pose, by_twist = oracle.inverse_dynamics_derivatives(self.full(state), T @ nu_dot)
        D = np.hstack((T.T @ by_pose @ T, T.T @ by_twist @ T)) - change[len(gamma) :]
        A, B = np.eye(2 * m, k=m), np.zeros((2 * m, S.shape[1]))
        if oracle.base:
            A[:6, :6] = -pin.Motion(state.v[:3], state.v[3:]).action
        A[m:] = solve(-D, change[: len(gamma)])
        B[m:] = solve(S, np.zeros((len(gamma), S.shape[1])))
        by_state = J_inverse.T @ (M @ A[m:] + D)
        condition = np.linalg.norm(M, 2) / np.linalg.eigvalsh(inner)[0] if inner.size else 1.0
        condition = max(condition, (sizes[0] / sizes[rank - 1]) ** 2 if rank else 1.0)
        return A, B, nu_dot, lam, by_state, rank, condition


def _surface(contact, one, two):
    (H1, V1, a1, J1), (H2, V2, a2, J2) = one, two
    X = H1.actInv(H2)
    rate = V1 - X.act(V2)
    e = pin.log6(H2.actInv(H1)).vector
    gamma = (a1 - X.act(a2) + V1.cross(X.act(V2))).vector
    gamma += contact.kd * rate.vector + contact.kp * e
    return J1 - X.action @ J2, gamma


def _point(contact, one, two):
    (H1, V1, a1, J1), (H2, V2, a2, J2) = one, two
    R = H1.rotation.T @ H2.rotation
    first, second = (a.linear + np.cross(V.angular, V.linear) for V, a in ((V1, a1), (V2, a2)))
    e = H1.rotation.T @ (H1.translation - H2.translation)
    gamma = first - R @ second + contact.kd * (V1.linear - R @ V2.linear)
    return J1[:3] - R @ J2[:3], gamma + contact.kp * e


ROWS = {'point': _point, 'surface': _surface}
