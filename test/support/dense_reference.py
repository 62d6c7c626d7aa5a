# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Textbook dynamics straight from a description: one Jacobian per link, dense matrices.

No body is merged, nothing is recursive but the link poses, and nothing is shared with the kernels
but the plain data of `Description` and `State`.
"""

from dataclasses import dataclass

import numpy as np

from support.finite_difference import ad, cross, exp


@dataclass
class MovingLink:
    """Pose H (4, 4), body Jacobian J (6, m), twist J nu and bias dJ/dt nu (6,) of one link."""

    H: np.ndarray
    J: np.ndarray
    twist: np.ndarray
    bias: np.ndarray


class DenseReference:
    """Inverse and forward dynamics of a description.

    Parameters
    ----------
    description
        The robot; revolute, continuous, prismatic, helical and fixed joints, some of which may
        mimic another.
    model
        The model under test: names the base link, the order of coordinates, base and gravity.
    """

    def __init__(self, description, model):
        self.model = model
        self.links = {link.name: link for link in description.links}
        self.children = {name: [] for name in self.links}
        for joint in description.joints:
            self.children[joint.parent].append(joint)
        self.followed = {
            joint.name: joint.mimic for joint in description.joints if joint.mimic is not None
        }
        self.damping = np.zeros(model.n)
        for joint in description.joints:
            if joint.damping and joint.kind != 'fixed':
                c, ratio, _ = self._coordinate(joint.name)
                self.damping[c] += ratio**2 * joint.damping

    def _coordinate(self, name):
        """Return c, k, b: the joint's position is k s_c + b."""
        if name in self.model.joint_names:
            return self.model.joint_names.index(name), 1.0, 0.0
        mimic = self.followed[name]
        c, ratio, offset = self._coordinate(mimic.joint)
        return c, mimic.multiplier * ratio, mimic.multiplier * offset + mimic.offset

    def moving_links(self, state):
        """Return a `MovingLink` for every link, by name."""
        m, n = self.model.m, self.model.n
        J = np.zeros((6, m))
        J[:, : m - n] = np.eye(6)[:, : m - n]
        base = MovingLink(state.H, J, state.v if m > n else np.zeros(6), np.zeros(6))
        found = {self.model.base_link: base}
        pending = [self.model.base_link]
        while pending:
            name = pending.pop()
            for joint in self.children[name]:
                found[joint.child] = self._behind(joint, found[name], state)
                pending.append(joint.child)
        return found

    def _behind(self, joint, parent, state):
        """Return the child link of a joint: pose, Jacobian and its rate, by the chain rule."""
        if joint.kind == 'fixed':
            X = adjoint(np.linalg.inv(joint.placement))
            return MovingLink(
                parent.H @ joint.placement, X @ parent.J, X @ parent.twist, X @ parent.bias
            )
        S, (c, ratio, offset) = axis_twist(joint), self._coordinate(joint.name)
        step = joint.placement @ exp(S * (ratio * state.s[c] + offset))
        X = adjoint(np.linalg.inv(step))
        J = X @ parent.J
        J[:, self.model.m - self.model.n + c] += ratio * S
        moving = S * ratio * state.r[c]
        twist = X @ parent.twist + moving
        # d/dt ^iX_p = -(moving x) ^iX_p
        bias = X @ parent.bias - ad(moving) @ X @ parent.twist
        return MovingLink(parent.H @ step, J, twist, bias)

    def mass_matrix(self, state):
        """Return M (m, m) = sum of J' M_link J."""
        return self._mass_matrix(self.moving_links(state))

    def _mass_matrix(self, moving):
        return sum(at.J.T @ self.links[name].inertia @ at.J for name, at in moving.items())

    def bias(self, state, wrenches=()):
        """Return h (m,): Coriolis, gravity and damping, less the wrenches, at nu_dot = 0."""
        return self._bias(state, self.moving_links(state), wrenches)

    def _bias(self, state, moving, wrenches=()):
        h = np.zeros(self.model.m)
        for name, at in moving.items():
            M = self.links[name].inertia
            upward = np.concatenate((-at.H[:3, :3].T @ self.model.gravity, np.zeros(3)))
            h += at.J.T @ (M @ (at.bias + upward) - ad(at.twist).T @ M @ at.twist)
        h[self.model.m - self.model.n :] += self.damping * state.r
        for wrench in wrenches:
            h -= moving[wrench.link].J.T @ in_link(wrench, moving[wrench.link].H)
        return h

    def inverse_dynamics(self, state, nu_dot, wrenches=()):
        """Return M nu_dot + h, base wrench first."""
        moving = self.moving_links(state)
        return self._mass_matrix(moving) @ nu_dot + self._bias(state, moving, wrenches)

    def forward_dynamics(self, state, tau, wrenches=()):
        """Return nu_dot (m,) for joint efforts ``tau`` (n,)."""
        moving = self.moving_links(state)
        applied = np.concatenate((np.zeros(self.model.m - self.model.n), tau))
        return np.linalg.solve(
            self._mass_matrix(moving), applied - self._bias(state, moving, wrenches)
        )

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
