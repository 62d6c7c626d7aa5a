# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pinocchio as referee: its model and state, our order of coordinates.

Its free flyer has the pose ^A H_0 with a quaternion (x, y, z, w), velocities are body twists
[linear; angular] and derivatives perturb on the right: the same as ours, no frame to convert.
What differs: joints are permuted by name, a continuous joint is stored as (cos, sin), results
that are symmetric fill the upper triangle only, and damping does not enter the dynamics.
"""

import numpy as np
import pytest

from support.close import assert_close

pin = pytest.importorskip('pinocchio')


class PinocchioOracle:
    """Dynamics by Pinocchio in the coordinates of a `TreeModel`.

    Parameters
    ----------
    pin_model
        From `read_urdf`, `from_description` or elsewhere; a floating base is its first joint.
    model
        The model under test: gives names, order, base and gravity, no numbers.
    """

    def __init__(self, pin_model, model):
        pin_model.gravity.linear = np.array(model.gravity)
        self.pin_model, self.model = pin_model, model
        self.data = pin_model.createData()
        self.base = model.m - model.n
        self.joints = [pin_model.joints[pin_model.getJointId(name)] for name in model.joint_names]
        for name, joint in zip(model.joint_names, self.joints, strict=True):
            assert joint.nv == 1, f'Pinocchio reads joint {name!r} as {joint.shortname()}'
        self.order = np.array(list(range(self.base)) + [joint.idx_v for joint in self.joints])
        assert sorted(self.order) == list(range(pin_model.nv)), 'the models have the same joints'
        self.damping = np.array(pin_model.damping)[self.order[self.base :]]

    @classmethod
    def read_urdf(cls, path, model):
        """Let Pinocchio's own parser read the URDF."""
        root = (pin.JointModelFreeFlyer(),) if model.base == 'floating' else ()
        return cls(pin.buildModelFromUrdf(str(path), *root), model)

    @classmethod
    def from_description(cls, description, model):
        """Build the model joint by joint; inertias must be physical."""
        return cls(model_from_description(description, model), model)

    def q(self, state):
        """Return the configuration; fails if ``state.H`` holds no rotation."""
        q = pin.neutral(self.pin_model)
        if self.model.base == 'floating':
            q[:7] = pin.SE3ToXYZQUAT(pin.SE3(state.H[:3, :3], state.H[:3, 3]))
        for s, joint in zip(state.s, self.joints, strict=True):
            at = joint.idx_q
            q[at : at + joint.nq] = s if joint.nq == 1 else (np.cos(s), np.sin(s))
        return q

    def velocity(self, state):
        """Return the velocity in Pinocchio's order."""
        return self._to_pinocchio(np.concatenate((state.v[: self.base], state.r)))

    def _to_pinocchio(self, ours):
        theirs = np.empty(self.order.size)
        theirs[self.order] = ours
        return theirs

    def _to_ours(self, matrix):
        return np.array(matrix)[np.ix_(self.order, self.order)]

    def _damping_torque(self, state):
        return np.concatenate((np.zeros(self.base), self.damping * state.r))

    def mass_matrix(self, state):
        """Return M (m, m) by CRBA."""
        upper = np.triu(pin.crba(self.pin_model, self.data, self.q(state)))
        return self._to_ours(upper + np.triu(upper, 1).T)

    def inverse_mass_matrix(self, state):
        """Return M^-1 (m, m) by computeMinverse."""
        upper = np.triu(pin.computeMinverse(self.pin_model, self.data, self.q(state)))
        return self._to_ours(upper + np.triu(upper, 1).T)

    def inverse_dynamics(self, state, nu_dot):
        """Return [base wrench; joint efforts] (m,) by RNEA, damping added."""
        tau = pin.rnea(
            self.pin_model,
            self.data,
            self.q(state),
            self.velocity(state),
            self._to_pinocchio(nu_dot),
        )
        return tau[self.order] + self._damping_torque(state)

    def inverse_dynamics_derivatives(self, state, nu_dot):
        """Return d tau / d[H; s] and d tau / d[v; r], each (m, m), damping added."""
        dtau_dq, dtau_dv, _ = pin.computeRNEADerivatives(
            self.pin_model,
            self.data,
            self.q(state),
            self.velocity(state),
            self._to_pinocchio(nu_dot),
        )
        dtau_dv = self._to_ours(dtau_dv)
        dtau_dv += np.diag(self._damping_torque_rate())
        return self._to_ours(dtau_dq), dtau_dv

    def _damping_torque_rate(self):
        return np.concatenate((np.zeros(self.base), self.damping))

    def forward_dynamics(self, state, tau):
        """Return nu_dot (m,) by ABA; damping acts as an effort -D r."""
        nu_dot = pin.aba(
            self.pin_model,
            self.data,
            self.q(state),
            self.velocity(state),
            self._effort(state, tau),
        )
        return nu_dot[self.order]

    def _effort(self, state, tau):
        applied = np.concatenate((np.zeros(self.base), tau))
        return self._to_pinocchio(applied - self._damping_torque(state))

    def linearization(self, state, tau):
        """Return A and B of the moving reference and nu_dot, by computeABADerivatives.

        Its kinematic rows [-(v x), 0, 1, 0] and [0, 0, 0, 1] are added here.
        """
        m, n = self.model.m, self.model.n
        q, effort = self.q(state), self._effort(state, tau)
        by_q, by_v, by_tau = pin.computeABADerivatives(
            self.pin_model, self.data, q, self.velocity(state), effort
        )
        nu_dot = np.array(self.data.ddq)[self.order]
        upper = np.triu(by_tau)
        M_inverse = self._to_ours(upper + np.triu(upper, 1).T)
        A, B = np.zeros((2 * m, 2 * m)), np.zeros((2 * m, n))
        A[:m, m:] = np.eye(m)
        if self.base:
            A[:6, :6] = -pin.Motion(state.v[:3], state.v[3:]).action
        A[m:, :m] = self._to_ours(by_q)
        A[m:, m:] = self._to_ours(by_v) - M_inverse * self._damping_torque_rate()
        B[m:] = M_inverse[:, self.base :]
        return A, B, nu_dot


def model_from_description(description, model):
    """Return a Pinocchio model of a description, joints depth-first as Pinocchio needs them."""
    built = pin.Model()
    links = {link.name: link for link in description.links}

    def attach(name, carrier, placement):
        if np.any(links[name].inertia):
            built.appendBodyToJoint(carrier, physical_inertia(links[name]), placement)
        for joint in description.joints:
            if joint.parent != name:
                continue
            where = placement * pin.SE3(joint.placement)
            if joint.kind == 'fixed':
                attach(joint.child, carrier, where)
                continue
            moving = built.addJoint(carrier, pinocchio_joint(joint), where, joint.name)
            damping = np.array(built.damping)
            damping[built.joints[moving].idx_v] = joint.damping
            built.damping = damping
            attach(joint.child, moving, pin.SE3.Identity())

    base = 0
    if model.base == 'floating':
        base = built.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), 'root_joint')
    attach(model.base_link, base, pin.SE3.Identity())
    return built


def pinocchio_joint(joint):
    """Return the joint model of a single-axis joint."""
    axis = np.asarray(joint.axis, dtype=float) / np.linalg.norm(joint.axis)
    if joint.kind == 'prismatic':
        return pin.JointModelPrismaticUnaligned(axis)
    if joint.kind == 'helical':
        return pin.JointModelHelicalUnaligned(axis, joint.pitch)
    return pin.JointModelRevoluteUnaligned(axis)


def physical_inertia(link):
    """Return Pinocchio's inertia of a link; fails if no rigid body has such a 6x6 matrix."""
    M = link.inertia
    mass = M[0, 0]
    com = np.array([M[5, 1], M[3, 2], M[4, 0]]) / mass
    c = pin.skew(com)
    inertia = pin.Inertia(mass, com, M[3:, 3:] + mass * c @ c)
    assert_close(inertia.matrix(), M, 1e-12, f'inertia of {link.name}')
    return inertia
