# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Dense dynamics and differences for joints of any kind, from nothing but matrices.

Universal and cylindrical joints are two joints in a row without a link between them; spherical,
planar and floating ones are poses, displaced by the matrix exponential. Joints may have rotors,
dampers, springs and smoothed friction, and mimic each other; contacts hold the robot by the dense
system of both.
"""

import dataclasses

import numpy as np
from scipy.spatial.transform import Rotation

from geolin_ros import Contact, State
from support.constrained_reference import ROWS, pin
from support.dense_reference import DenseReference, MovingLink, adjoint, axis_twist
from support.finite_difference import ad, derivative, exp

IN_A_ROW = {'universal': 'revolute', 'cylindrical': 'prismatic'}


class SeveralAxesReference(DenseReference):
    """Dense dynamics of a description with joints of any kind.

    Parameters
    ----------
    description, model
        See `DenseReference`.
    friction
        Whether Coulomb friction counts, smoothed.
    """

    def __init__(self, description, model, friction=False):
        self.model, self.friction = model, friction
        self.links = {link.name: link for link in description.links}
        self.joints = {joint.name: joint for joint in description.joints}
        self.followed = {joint.name: joint.mimic for joint in description.joints if joint.mimic}
        self.children = {name: [] for name in self.links}
        for joint in description.joints:
            self.children[joint.parent].append(joint)
        self.damping = np.zeros(model.n)
        for joint, c, ratio, _ in self._coordinates():
            self.damping[c] += ratio**2 * joint.damping

    def _coordinates(self):
        """Yield joint, c, k, b of each rate k r_c; the position of one axis is k s + b."""
        for joint in self.joints.values():
            if joint.name in self.followed:
                yield joint, *self._coordinate(joint.name)
            elif joint.kind != 'fixed':
                for c in entries(self.model.joint_names, joint):
                    yield joint, c, 1.0, 0.0

    def _mass_matrix(self, moving):
        M = super()._mass_matrix(moving)
        for joint, c, ratio, _ in self._coordinates():
            c += self.model.m - self.model.n
            M[c, c] += ratio**2 * joint.gear_ratio**2 * joint.rotor_inertia
        return M

    def _bias(self, state, moving, wrenches=()):
        h = super()._bias(state, moving, wrenches)
        for joint, c, ratio, offset in self._coordinates():
            force = 0.0
            if joint.stiffness:
                s = state.s[self.model.position_names.index(self.model.joint_names[c])]
                force = joint.stiffness * (ratio * s + offset - joint.rest)
            if joint.friction and self.friction:
                force += joint.friction * np.tanh(ratio * state.r[c] / joint.friction_speed)
            h[self.model.m - self.model.n + c] += ratio * force
        return h

    def hybrid(self, state, nu_dot, tau, free, wrenches=()):
        """Return accelerations and forces (m,): those of ``free`` (m,) follow from forces."""
        M, h = self.mass_matrix(state), self.bias(state, wrenches)
        tau = np.concatenate((np.zeros(h.size - tau.size), tau))
        solved = np.where(free, 0.0, nu_dot)
        solved[free] = np.linalg.solve(M[np.ix_(free, free)], (tau - h - M @ solved)[free])
        return np.concatenate((solved, np.where(free, tau, M @ solved + h)))

    def held(self, state, tau, wrenches, contacts):
        """Return nu_dot and forces of contacts, whose rows are independent, one behind another."""
        moving, m = self.moving_links(state), self.model.m
        M, h = self._mass_matrix(moving), self._bias(state, moving, wrenches)
        J, gamma = self.rows(moving, contacts)
        h[m - self.model.n :] -= tau
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

    def _behind(self, joint, parent, state):
        if joint.kind == 'fixed':
            return super()._behind(joint, parent, state)
        rates = entries(self.model.joint_names, joint)
        positions = state.s[entries(self.model.position_names, joint)]
        if joint.kind in IN_A_ROW:
            first, second = split(joint)
            at = self._moved(
                parent, joint.placement, axis_twist(first), positions[0], rates[:1], state
            )
            return self._moved(at, np.eye(4), axis_twist(second), positions[1], rates[1:], state)
        if joint.kind in ('spherical', 'se2', 'floating'):
            S = group_axes(joint)
            step = joint.placement @ group_pose(joint, positions)
            return self._stepped(parent, step, S, rates, state)
        S, (c, ratio, offset) = axis_twist(joint), self._coordinate(joint.name)
        s = state.s[self.model.position_names.index(self.model.joint_names[c])]
        step = joint.placement @ exp(S * (ratio * s + offset))
        return self._stepped(parent, step, ratio * S[:, np.newaxis], np.array([c]), state)

    def _moved(self, parent, placement, S, position, rates, state):
        step = placement @ exp(S * position)
        return self._stepped(parent, step, S[:, np.newaxis], rates, state)

    def _stepped(self, parent, step, S, rates, state):
        """Return what a joint with constant S (6, k) carries."""
        X = adjoint(np.linalg.inv(step))
        J = X @ parent.J
        J[:, self.model.m - self.model.n + rates] += S
        moving = S @ state.r[rates]
        bias = X @ parent.bias - ad(moving) @ X @ parent.twist
        return MovingLink(parent.H @ step, J, X @ parent.twist + moving, bias)


def entries(names, joint):
    """Return where the coordinates of a joint stand among ``names``."""
    found = [k for k, name in enumerate(names) if name.split('/')[0] == joint.name]
    return np.array(found, dtype=int)


def split(joint):
    """Return the two joints that a universal or cylindrical one is."""
    second_axis = joint.second_axis if joint.kind == 'universal' else joint.axis
    return (
        dataclasses.replace(joint, kind='revolute'),
        dataclasses.replace(joint, kind=IN_A_ROW[joint.kind], axis=second_axis),
    )


def plane(joint):
    """Return x, y and the unit normal of a planar joint."""
    normal = np.asarray(joint.axis, dtype=float) / np.linalg.norm(joint.axis)
    x = np.eye(3)[np.argmin(np.abs(normal))]
    x = x - normal * (normal @ x)
    x /= np.linalg.norm(x)
    return x, np.cross(normal, x), normal


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
    model, n = reference.model, reference.model.n
    if z.size == 2 * n:
        z = np.concatenate((np.zeros(6), z[:n], np.zeros(6), z[n:]))
    s, z_s = state.s.copy(), z[6 : 6 + n]
    for joint in reference.joints.values():
        if joint.kind == 'fixed':
            continue
        at, rates = entries(model.position_names, joint), entries(model.joint_names, joint)
        if joint.kind in ('spherical', 'se2', 'floating'):
            moved = group_pose(joint, s[at]) @ exp(group_axes(joint) @ z_s[rates])
            s[at] = group_positions(joint, moved)
        else:
            s[at] += z_s[rates]
    H = state.H @ exp(z[:6])
    return State(H, s, state.v + z[6 + n : 12 + n], state.r + z[12 + n :], state.positions)


def derivative_by_state(reference, function, state, step=2e-2):
    """Return the derivative of ``function(state)`` by [H; s; v; r], a column each."""
    columns = [
        derivative(lambda t, e=direction: function(retract(reference, state, t * e)), step)
        for direction in np.eye(2 * reference.model.m)
    ]
    return np.array(columns).T


def brackets(reference, state):
    """Return ad_f (m, m): of the base and of each joint whose displacements do not commute."""
    model = reference.model
    base, found = model.m - model.n, np.zeros((model.m, model.m))
    if base:
        found[:6, :6] = ad(state.v)
    for joint in reference.joints.values():
        if joint.kind in ('spherical', 'se2', 'floating'):
            S, rates = group_axes(joint), entries(model.joint_names, joint)
            found[np.ix_(base + rates, base + rates)] = S.T @ ad(S @ state.r[rates]) @ S
    return found
