# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Textbook dynamics straight from a description: one Jacobian per link, dense matrices.

No body is merged, nothing is recursive but the link poses, and nothing is shared with the kernels
but the plain data of `Description` and `State`. Universal and cylindrical joints are two joints in
a row without a link between them; spherical, planar and floating ones are poses, displaced by the
matrix exponential. Contacts hold the robot by the dense system of both.
"""

import dataclasses

import numpy as np
from scipy.spatial.transform import Rotation

from geolin_ros import Contact, State
from support.constrained_reference import ROWS, pin
from support.finite_difference import ad, cross, exp
from support.pinocchio_oracle import IN_A_ROW, plane, split

GROUPS = ('spherical', 'se2', 'floating')


@dataclasses.dataclass
class MovingLink:
    """Pose H (4, 4), body Jacobian J (6, m), twist J nu and bias dJ/dt nu (6,) of one link."""

    H: np.ndarray
    J: np.ndarray
    twist: np.ndarray
    bias: np.ndarray


class DenseReference:
    """Dynamics of a description with joints of any kind.

    They may have rotors, dampers, springs and smoothed friction, and mimic each other.

    Parameters
    ----------
    description
        The robot.
    model
        The model under test: names the base link, the order of coordinates, base and gravity.
    friction
        Whether Coulomb friction counts, smoothed.
    """

    def __init__(self, description, model, friction=False):
        self.model, self.friction = model, friction
        self.links = {link.name: link for link in description.links}
        self.joints = {joint.name: joint for joint in description.joints}
        self.children = {name: [] for name in self.links}
        for joint in description.joints:
            self.children[joint.parent].append(joint)
        self.rates = {j.name: entries(model.joint_names, j) for j in description.joints}
        self.positions = {j.name: entries(model.position_names, j) for j in description.joints}
        self.coordinates = list(self._coordinates())
        self._moved = {}
        self.damping = np.zeros(model.n)
        for joint, c, ratio, _ in self.coordinates:
            self.damping[c] += ratio**2 * joint.damping

    def _coordinate(self, name):
        """Return c, k, b: the position of a joint with one axis is k s_c + b, its rate k r_c."""
        if name in self.model.joint_names:
            return self.model.joint_names.index(name), 1.0, 0.0
        mimic = self.joints[name].mimic
        c, ratio, offset = self._coordinate(mimic.joint)
        return c, mimic.multiplier * ratio, mimic.multiplier * offset + mimic.offset

    def _coordinates(self):
        """Yield joint, c, k, b for each of its rates."""
        for joint in self.joints.values():
            if joint.mimic and joint.name not in self.model.joint_names:
                yield joint, *self._coordinate(joint.name)
            elif joint.kind != 'fixed':
                for c in self.rates[joint.name]:
                    yield joint, c, 1.0, 0.0

    def moving_links(self, state):
        """Return a `MovingLink` for every link, by name; those of a few states are kept."""
        key = state.data.tobytes()
        if key not in self._moved:
            if len(self._moved) > 8:
                self._moved.clear()
            self._moved[key] = self._move(state)
        return self._moved[key]

    def _move(self, state):
        m, n = self.model.m, self.model.n
        J = np.zeros((6, m))
        J[:, : m - n] = np.eye(6)[:, : m - n]
        base = MovingLink(state.H, J, state.v if m > n else np.zeros(6), np.zeros(6))
        found = {self.model.base_link: base}
        pending = [self.model.base_link]
        while pending:
            name = pending.pop()
            for joint in self.children[name]:
                at = found[name]
                for step, S, rates in self._steps(joint, state):
                    at = self._stepped(at, step, S, rates, state)
                found[joint.child] = at
                pending.append(joint.child)
        return found

    def _steps(self, joint, state):
        """Yield pose, twists (6, k) of the rates, and which rates, from parent to child."""
        if joint.kind == 'fixed':
            yield joint.placement, np.zeros((6, 0)), np.zeros(0, dtype=int)
            return
        rates, positions = self.rates[joint.name], state.s[self.positions[joint.name]]
        if joint.kind in GROUPS:
            yield joint.placement @ group_pose(joint, positions), group_axes(joint), rates
        elif joint.kind in IN_A_ROW:
            placement = joint.placement
            for one, position, rate in zip(split(joint), positions, rates, strict=True):
                S = axis_twist(one)
                yield placement @ exp(S * position), S[:, np.newaxis], np.array([rate])
                placement = np.eye(4)
        else:
            S, (c, ratio, offset) = axis_twist(joint), self._coordinate(joint.name)
            s = state.s[self.model.position_names.index(self.model.joint_names[c])]
            step = joint.placement @ exp(S * (ratio * s + offset))
            yield step, ratio * S[:, np.newaxis], np.array([c])

    def _stepped(self, parent, step, S, rates, state):
        """Return what a joint with constant S (6, k) carries, by the chain rule."""
        X = adjoint(np.linalg.inv(step))
        J = X @ parent.J
        J[:, self.model.m - self.model.n + rates] += S
        moving = S @ state.r[rates]
        # d/dt ^iX_p = -(moving x) ^iX_p
        bias = X @ parent.bias - ad(moving) @ X @ parent.twist
        return MovingLink(parent.H @ step, J, X @ parent.twist + moving, bias)

    def mass_matrix(self, state):
        """Return M (m, m) = sum of J' M_link J, and rotors."""
        moving = self.moving_links(state)
        M = sum(at.J.T @ self.links[name].inertia @ at.J for name, at in moving.items())
        for joint, c, ratio, _ in self.coordinates:
            c += self.model.m - self.model.n
            M[c, c] += ratio**2 * joint.gear_ratio**2 * joint.rotor_inertia
        return M

    def bias(self, state, wrenches=()):
        """Return h (m,): all forces at nu_dot = 0, Coriolis to springs, less the wrenches."""
        moving = self.moving_links(state)
        h, joints = np.zeros(self.model.m), np.s_[self.model.m - self.model.n :]
        for name, at in moving.items():
            M = self.links[name].inertia
            upward = np.concatenate((-at.H[:3, :3].T @ self.model.gravity, np.zeros(3)))
            h += at.J.T @ (M @ (at.bias + upward) - ad(at.twist).T @ M @ at.twist)
        h[joints] += self.damping * state.r
        for joint, c, ratio, offset in self.coordinates:
            force = 0.0
            if joint.stiffness:
                s = state.s[self.model.position_names.index(self.model.joint_names[c])]
                force = joint.stiffness * (ratio * s + offset - joint.rest)
            if joint.friction and self.friction:
                force += joint.friction * np.tanh(ratio * state.r[c] / joint.friction_speed)
            h[joints][c] += ratio * force
        for wrench in wrenches:
            h -= moving[wrench.link].J.T @ in_link(wrench, moving[wrench.link].H)
        return h

    def inverse_dynamics(self, state, nu_dot, wrenches=()):
        """Return M nu_dot + h, base wrench first."""
        return self.mass_matrix(state) @ nu_dot + self.bias(state, wrenches)

    def forward_dynamics(self, state, tau, wrenches=()):
        """Return nu_dot (m,) for joint efforts ``tau`` (n,)."""
        return self.held(state, tau, wrenches, ())

    def hybrid(self, state, nu_dot, tau, free, wrenches=()):
        """Return accelerations and forces (m,): those of ``free`` (m,) follow from forces."""
        M, h = self.mass_matrix(state), self.bias(state, wrenches)
        tau = np.concatenate((np.zeros(h.size - tau.size), tau))
        solved = np.where(free, 0.0, nu_dot)
        solved[free] = np.linalg.solve(M[np.ix_(free, free)], (tau - h - M @ solved)[free])
        return np.concatenate((solved, np.where(free, tau, M @ solved + h)))

    def held(self, state, tau, wrenches, contacts):
        """Return nu_dot and forces of contacts, whose rows are independent, one behind another."""
        M, h = self.mass_matrix(state), self.bias(state, wrenches)
        J, gamma = self.rows(self.moving_links(state), contacts)
        h[self.model.m - self.model.n :] -= tau
        K = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
        return -np.linalg.solve(K, np.concatenate((h, gamma)))

    def rows(self, moving, contacts):
        """Return J and gamma of contacts and loops."""
        J, gamma = [np.zeros((0, self.model.m))], [np.zeros(0)]
        for contact in contacts:
            if isinstance(contact, Contact):
                ends = (contact.frame, contact.placement), (None, contact.reference)
            else:
                ends = (contact.frame_a, None), (contact.frame_b, contact.reference)
            rows, bias = ROWS[contact.kind](contact, *(self._end(moving, *end) for end in ends))
            J.append(rows)
            gamma.append(bias)
        return np.vstack(J), np.concatenate(gamma)

    def _end(self, moving, link, pose):
        """Return how a frame of a link, or of the world, moves, as Pinocchio's types."""
        pose = np.eye(4) if pose is None else np.asarray(pose)
        if link is None:
            none = pin.Motion.Zero()
            return pin.SE3(pose), none, none, np.zeros((6, self.model.m))
        at, X = moving[link], adjoint(np.linalg.inv(pose))
        return pin.SE3(at.H @ pose), pin.Motion(X @ at.twist), pin.Motion(X @ at.bias), X @ at.J

    def kinetic_energy(self, state):
        """Return the sum of v' M v / 2 over the links."""
        moving = self.moving_links(state)
        return sum(0.5 * at.twist @ self.links[k].inertia @ at.twist for k, at in moving.items())

    def potential_energy(self, state):
        """Return -g' (m o + R m c), summed over the links."""
        total = 0.0
        for name, at in self.moving_links(state).items():
            M = self.links[name].inertia
            first_moment = np.array([M[5, 1], M[3, 2], M[4, 0]])
            total -= self.model.gravity @ (M[0, 0] * at.H[:3, 3] + at.H[:3, :3] @ first_moment)
        return float(total)


def adjoint(H):
    """Return the 6x6 matrix that takes twists along the pose H, ^A X_B of ^A H_B."""
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = H[:3, :3]
    X[:3, 3:] = cross(H[:3, 3]) @ H[:3, :3]
    return X


def axis_twist(joint):
    """Return the unit twist (u; w) of a single-axis joint, in the child link's frame."""
    axis = np.asarray(joint.axis, dtype=float) / np.linalg.norm(joint.axis)
    linear, angular = {
        'revolute': (0.0, 1.0),
        'continuous': (0.0, 1.0),
        'prismatic': (1.0, 0.0),
        'helical': (joint.pitch, 1.0),
    }[joint.kind]
    return np.concatenate((linear * axis, angular * axis))


def in_link(wrench, H):
    """Return [force; moment] of a `Wrench` in the axes and about the origin of its link at H."""
    R, o = H[:3, :3], H[:3, 3]
    force, moment = np.asarray(wrench.force, float), np.asarray(wrench.moment, float)
    if wrench.kind == 'body':
        return np.concatenate((force, moment))
    arm = R @ np.asarray(wrench.point, float)  # from the link origin, in world axes
    if wrench.kind == 'world':
        arm = -o
    return np.concatenate((R.T @ force, R.T @ (moment + np.cross(arm, force))))


def entries(names, joint):
    """Return where the coordinates of a joint stand among ``names``."""
    found = [k for k, n in enumerate(names) if joint.name in (n, n.rsplit('/', 1)[0])]
    return np.array(found, dtype=int)


def group_axes(joint):
    """Return the twists (6, k) of the rates of a spherical, planar or floating joint."""
    if joint.kind == 'se2':
        x, y, normal = plane(joint)
        S = np.zeros((6, 3))
        S[:3, 0], S[:3, 1], S[3:, 2] = x, y, normal
        return S
    return np.eye(6)[:, 3:] if joint.kind == 'spherical' else np.eye(6)


def group_pose(joint, positions):
    """Return the pose of the child in the joint frame."""
    H = np.eye(4)
    if joint.kind == 'se2':
        x, y, normal = plane(joint)
        angle = np.arctan2(positions[3], positions[2])
        H[:3, :3] = Rotation.from_rotvec(angle * normal).as_matrix()
        H[:3, 3] = positions[0] * x + positions[1] * y
        return H
    H[:3, :3] = Rotation.from_quat(positions[-4:]).as_matrix()
    if joint.kind == 'floating':
        H[:3, 3] = positions[:3]
    return H


def group_positions(joint, H):
    """Return the positions of a pose; the inverse of `group_pose`."""
    if joint.kind == 'se2':
        x, y, normal = plane(joint)
        angle = Rotation.from_matrix(H[:3, :3]).as_rotvec() @ normal
        return np.array([x @ H[:3, 3], y @ H[:3, 3], np.cos(angle), np.sin(angle)])
    quaternion = Rotation.from_matrix(H[:3, :3]).as_quat()
    return quaternion if joint.kind == 'spherical' else np.concatenate((H[:3, 3], quaternion))


def retract(reference, state, z):
    """Return g exp(z), z = [H; s; v; r] (fixed base: [s; r])."""
    n = reference.model.n
    if z.size == 2 * n:
        z = np.concatenate((np.zeros(6), z[:n], np.zeros(6), z[n:]))
    H, s, z_s = state.H, state.s.copy(), z[6 : 6 + n]
    for joint in reference.joints.values() if z_s.any() else ():
        at, rates = reference.positions[joint.name], reference.rates[joint.name]
        if joint.kind in GROUPS:
            moved = group_pose(joint, s[at]) @ exp(group_axes(joint) @ z_s[rates])
            s[at] = group_positions(joint, moved)
        elif joint.kind != 'fixed':
            s[at] += z_s[rates]
    if z[:6].any():
        H = H @ exp(z[:6])
    return State(H, s, state.v + z[6 + n : 12 + n], state.r + z[12 + n :], state.positions)


def brackets(reference, state):
    """Return ad_f (m, m): of the base and of each joint whose displacements do not commute."""
    model = reference.model
    base, found = model.m - model.n, np.zeros((model.m, model.m))
    if base:
        found[:6, :6] = ad(state.v)
    for joint in reference.joints.values():
        if joint.kind in GROUPS:
            S, rates = group_axes(joint), reference.rates[joint.name]
            found[np.ix_(base + rates, base + rates)] = S.T @ ad(S @ state.r[rates]) @ S
    return found
