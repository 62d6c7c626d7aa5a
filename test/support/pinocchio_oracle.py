# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pinocchio as referee: its model and state, our order of coordinates.

Its free flyer has the pose ^A H_0 with a quaternion (x, y, z, w), velocities are body twists
[linear; angular] and derivatives perturb on the right: the same as ours, no frame to convert.
What differs: joints are permuted by name, a continuous joint is stored as (cos, sin), results
that are symmetric fill the upper triangle only, and damping does not enter the dynamics.
"""

import dataclasses

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
        self.rates = [self._entry(name, model.joint_names) for name in model.joint_names]
        self.positions = [self._entry(name, model.position_names) for name in model.position_names]
        self.joints = [joint for joint, _ in self.rates]
        self.order = np.array(
            list(range(self.base)) + [joint.idx_v + k for joint, k in self.rates]
        )
        assert sorted(self.order) == list(range(pin_model.nv)), 'the models have the same joints'
        self.damping = np.array(pin_model.damping)[self.order]

    def _entry(self, name, names):
        """Return the joint of a coordinate, and which of its coordinates that is."""
        joint_name = name if self.pin_model.existJointName(name) else name.rsplit('/', 1)[0]
        joint = self.pin_model.joints[self.pin_model.getJointId(joint_name)]
        if joint_name == name:
            assert joint.nv == 1, f'Pinocchio reads joint {name!r} as {joint.shortname()}'
            return joint, 0
        own = [other for other in names if other.rsplit('/', 1)[0] == joint_name]
        return joint, own.index(name)

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
        for s, (joint, k) in zip(state.s, self.positions, strict=True):
            at = joint.idx_q
            if joint.nv == 1:
                q[at : at + joint.nq] = s if joint.nq == 1 else (np.cos(s), np.sin(s))
            else:
                q[at + k] = s
        return q

    def velocity(self, state):
        """Return the velocity in Pinocchio's order."""
        return self._to_pinocchio(self.nu(state))

    def nu(self, state):
        """Return the velocity in our order."""
        return np.concatenate((state.v[: self.base], state.r))

    def _to_pinocchio(self, ours):
        theirs = np.empty(self.order.size)
        theirs[self.order] = ours
        return theirs

    def _to_ours(self, matrix):
        return np.array(matrix)[np.ix_(self.order, self.order)]

    def _symmetric(self, matrix):
        upper = np.triu(matrix)
        return self._to_ours(upper + np.triu(upper, 1).T)

    def mass_matrix(self, state):
        """Return M (m, m) by CRBA."""
        return self._symmetric(pin.crba(self.pin_model, self.data, self.q(state)))

    def inverse_mass_matrix(self, state):
        """Return M^-1 (m, m) by computeMinverse."""
        return self._symmetric(pin.computeMinverse(self.pin_model, self.data, self.q(state)))

    def inverse_dynamics(self, state, nu_dot):
        """Return [base wrench; joint efforts] (m,) by RNEA, damping added."""
        tau = pin.rnea(self.pin_model, self.data, *self._motion(state, nu_dot))
        return tau[self.order] + self.damping * self.nu(state)

    def _motion(self, state, nu_dot):
        return self.q(state), self.velocity(state), self._to_pinocchio(nu_dot)

    def inverse_dynamics_derivatives(self, state, nu_dot):
        """Return d tau / d[H; s] and d tau / d[v; r], each (m, m), damping added."""
        by_q, by_v, _ = pin.computeRNEADerivatives(
            self.pin_model, self.data, *self._motion(state, nu_dot)
        )
        return self._to_ours(by_q), self._to_ours(by_v) + np.diag(self.damping)

    def forward_dynamics(self, state, tau):
        """Return nu_dot (m,) by ABA; damping acts as an effort -D r."""
        applied = self.q(state), self.velocity(state), self._effort(state, tau)
        return pin.aba(self.pin_model, self.data, *applied)[self.order]

    def _effort(self, state, tau):
        applied = np.concatenate((np.zeros(self.base), tau))
        return self._to_pinocchio(applied - self.damping * self.nu(state))

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
        M_inverse = self._symmetric(by_tau)
        A, B = np.zeros((2 * m, 2 * m)), np.zeros((2 * m, n))
        A[:m, m:] = np.eye(m)
        if self.base:
            A[:6, :6] = -pin.Motion(state.v[:3], state.v[3:]).action
        A[m:, :m] = self._to_ours(by_q)
        A[m:, m:] = self._to_ours(by_v) - M_inverse * self.damping
        B[m:] = M_inverse[:, self.base :]
        return A, B, nu_dot


def model_from_description(description, model):
    """Return a Pinocchio model of a description, joints depth-first as Pinocchio needs them."""
    built = pin.Model()
    links = {link.name: link for link in description.links}

    def attach(name, carrier, placement):
        built.addFrame(pin.Frame(name, carrier, placement, pin.FrameType.BODY))
        if np.any(links[name].inertia):
            built.appendBodyToJoint(carrier, physical_inertia(links[name]), placement)
        for joint in description.joints:
            if joint.parent != name:
                continue
            where = placement * pin.SE3(joint.placement)
            if joint.kind == 'fixed':
                attach(joint.child, carrier, where)
                continue
            turned = plane_frame(joint)
            moving = built.addJoint(carrier, pinocchio_joint(joint), where * turned, joint.name)
            damping, at = np.array(built.damping), built.joints[moving].idx_v
            damping[at : at + built.joints[moving].nv] = joint.damping
            built.damping = damping
            attach(joint.child, moving, turned.inverse())

    base = 0
    if model.base == 'floating':
        base = built.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), 'root_joint')
    attach(model.base_link, base, pin.SE3.Identity())
    return built


def plane_frame(joint):
    """Return the pose whose z is the normal of a planar joint; Pinocchio's moves in x and y."""
    if joint.kind != 'se2':
        return pin.SE3.Identity()
    return pin.SE3(np.column_stack(plane(joint)), np.zeros(3))


def plane(joint):
    """Return x, y and the unit normal of a planar joint."""
    normal = np.asarray(joint.axis, dtype=float) / np.linalg.norm(joint.axis)
    x = np.eye(3)[np.argmin(np.abs(normal))]
    x = x - normal * (normal @ x)
    x /= np.linalg.norm(x)
    return x, np.cross(normal, x), normal


IN_A_ROW = {'universal': 'revolute', 'cylindrical': 'prismatic'}


def split(joint):
    """Return the two joints that a universal or cylindrical one is."""
    second_axis = joint.second_axis if joint.kind == 'universal' else joint.axis
    return (
        dataclasses.replace(joint, kind='revolute'),
        dataclasses.replace(joint, kind=IN_A_ROW[joint.kind], axis=second_axis),
    )


def pinocchio_joint(joint):
    """Return the joint model of a joint."""
    several = {
        'spherical': pin.JointModelSpherical,
        'se2': pin.JointModelPlanar,
        'floating': pin.JointModelFreeFlyer,
    }
    if joint.kind in several:
        return several[joint.kind]()
    if joint.kind in IN_A_ROW:
        composite = pin.JointModelComposite()
        for one in split(joint):
            composite.addJoint(pinocchio_joint(one))
        return composite
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
