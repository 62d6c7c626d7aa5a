# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Constrained dynamics from Pinocchio: its own, and dense ones of its M, h, Jacobians and drifts.

The dense ones take redundant rows too: forces of least norm by a pseudo-inverse. Orders, axes and
signs are ours: contact forces act on the robot, in axes of the contact frame.
"""

from typing import NamedTuple

import numpy as np
import pytest

from geolin_ros.linearization.contacts import Contact
from support.finite_difference import ad

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
