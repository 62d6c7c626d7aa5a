# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Dense dynamics and differences for joints with several axes, from nothing but matrices.

Universal and cylindrical joints are two joints in a row without a link between them; spherical,
planar and floating ones are poses, displaced by the matrix exponential.
"""

import dataclasses

import numpy as np
from scipy.spatial.transform import Rotation

from geolin_ros import State
from support.dense_reference import DenseReference, MovingLink, adjoint, axis_twist
from support.finite_difference import ad, derivative, exp

IN_A_ROW = {'universal': 'revolute', 'cylindrical': 'prismatic'}


class SeveralAxesReference(DenseReference):
    """Dense dynamics of a description with joints of any kind."""

    def __init__(self, description, model):
        self.model = model
        self.links = {link.name: link for link in description.links}
        self.joints = {joint.name: joint for joint in description.joints}
        self.children = {name: [] for name in self.links}
        for joint in description.joints:
            self.children[joint.parent].append(joint)
        self.damping = np.array(
            [self.joints[name.split('/')[0]].damping for name in model.joint_names]
        )

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
        S = axis_twist(joint)
        return self._moved(parent, joint.placement, S, positions[0], rates, state)

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
    return np.array([k for k, name in enumerate(names) if name.split('/')[0] == joint.name])


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


def linearization(reference, state, tau, step=2e-2):
    """Return A of the moving reference by differences of the dense forward dynamics.

    A = D f - ad_f: the bracket of the base and of each joint whose displacements do not commute.
    """
    model = reference.model
    base = model.m - model.n

    def velocity(at):
        return np.concatenate((at.v[:base], at.r, reference.forward_dynamics(at, tau)))

    A = derivative_by_state(reference, velocity, state, step)
    if base:
        A[:6, :6] -= ad(state.v)
    for joint in reference.joints.values():
        if joint.kind in ('spherical', 'se2', 'floating'):
            S, rates = group_axes(joint), entries(model.joint_names, joint)
            A[np.ix_(base + rates, base + rates)] -= S.T @ ad(S @ state.r[rates]) @ S
    return A
