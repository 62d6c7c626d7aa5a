# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Textbook dynamics straight from a description: one Jacobian per link, dense matrices.

No body is merged, nothing is recursive but the link poses, and nothing is shared with the kernels
but the plain data of `Description` and `State`: an independent referee where Pinocchio is not
installed.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from geolin_demos.demo.differences import Sizes, ad, cross, exp
from geolin_ros.description.elements import Description, Joint
from geolin_ros.errors import UnsupportedJointError
from geolin_ros.model.state import State
from geolin_ros.typing import Array


class Coordinates(Sizes, Protocol):
    """What the dynamics needs to know of a robot besides its description."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Order of s, r and tau."""

    @property
    def base_link(self) -> str:
        """Root link."""

    @property
    def gravity(self) -> Array:
        """(3,) world axes [m/s^2]."""


@dataclass
class MovingLink:
    """What the dynamics needs to know of one link at one state."""

    H: Array
    """(4, 4) pose in the world."""
    J: Array
    """(6, m) body Jacobian: twist = J nu."""
    twist: Array
    """(6,) J nu."""
    bias: Array
    """(6,) dJ/dt nu."""


class DenseDynamics:
    """Forward dynamics of a description.

    Raises `UnsupportedJointError` if a joint is of another kind.

    Parameters
    ----------
    description
        The robot; revolute, continuous, prismatic, helical and fixed joints, some of which may
        mimic another.
    model
        Order of coordinates, base link and gravity.
    """

    def __init__(self, description: Description, model: Coordinates) -> None:
        self.model = model
        self.links = {link.name: link for link in description.links}
        self.children: dict[str, list[Joint]] = {name: [] for name in self.links}
        for joint in description.joints:
            self.children[joint.parent].append(joint)
            if joint.kind in ('planar', 'floating') and joint.child != model.base_link:
                raise UnsupportedJointError(
                    f'joint {joint.name!r} is {joint.kind}, expected single-axis and fixed joints'
                )
        self.followed = {
            joint.name: joint.mimic for joint in description.joints if joint.mimic is not None
        }
        self.damping = np.zeros(model.n)
        for joint in description.joints:
            if joint.damping and joint.kind != 'fixed':
                c, ratio, _ = self._coordinate(joint.name)
                self.damping[c] += ratio**2 * joint.damping

    def _coordinate(self, name: str) -> tuple[int, float, float]:
        """Return c, k, b: the joint's position is k s_c + b."""
        if name in self.model.joint_names:
            return self.model.joint_names.index(name), 1.0, 0.0
        mimic = self.followed[name]
        c, ratio, offset = self._coordinate(mimic.joint)
        return c, mimic.multiplier * ratio, mimic.multiplier * offset + mimic.offset

    def moving_links(self, state: State) -> dict[str, MovingLink]:
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

    def _behind(self, joint: Joint, parent: MovingLink, state: State) -> MovingLink:
        """Return the child link of a joint: pose, Jacobian and its rate, by the chain rule."""
        if joint.kind == 'fixed':
            X = adjoint(inverse(joint.placement))
            return MovingLink(
                parent.H @ joint.placement, X @ parent.J, X @ parent.twist, X @ parent.bias
            )
        S, (c, ratio, offset) = axis_twist(joint), self._coordinate(joint.name)
        step = joint.placement @ exp(S * (ratio * state.s[c] + offset))
        X = adjoint(inverse(step))
        J = X @ parent.J
        J[:, self.model.m - self.model.n + c] += ratio * S
        moving = S * ratio * state.r[c]
        twist = X @ parent.twist + moving
        # d/dt ^iX_p = -(moving x) ^iX_p
        bias = X @ parent.bias - ad(moving) @ X @ parent.twist
        return MovingLink(parent.H @ step, J, twist, bias)

    def mass_matrix(self, state: State) -> Array:
        """Return M (m, m) = sum of J' M_link J."""
        return self._mass_matrix(self.moving_links(state))

    def _mass_matrix(self, moving: dict[str, MovingLink]) -> Array:
        M = np.zeros((self.model.m, self.model.m))
        for name, at in moving.items():
            M += at.J.T @ self.links[name].inertia @ at.J
        return M

    def bias(self, state: State) -> Array:
        """Return h (m,): Coriolis, gravity and damping at nu_dot = 0."""
        return self._bias(state, self.moving_links(state))

    def _bias(self, state: State, moving: dict[str, MovingLink]) -> Array:
        h = np.zeros(self.model.m)
        for name, at in moving.items():
            M = self.links[name].inertia
            upward = np.concatenate((-at.H[:3, :3].T @ self.model.gravity, np.zeros(3)))
            h += at.J.T @ (M @ (at.bias + upward) - ad(at.twist).T @ M @ at.twist)
        h[self.model.m - self.model.n :] += self.damping * state.r
        return h

    def forward_dynamics(self, state: State, tau: Array) -> Array:
        """Return nu_dot (m,) for joint efforts ``tau`` (n,)."""
        moving = self.moving_links(state)
        applied = np.concatenate((np.zeros(self.model.m - self.model.n), tau))
        nu_dot = np.linalg.solve(self._mass_matrix(moving), applied - self._bias(state, moving))
        return np.asarray(nu_dot, dtype=np.float64)


def inverse(H: Array) -> Array:
    """Return the pose of A in B from that of B in A."""
    return np.asarray(np.linalg.inv(H), dtype=np.float64)


def adjoint(H: Array) -> Array:
    """Return the 6x6 matrix that takes twists along the pose H, ^A X_B of ^A H_B."""
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = H[:3, :3]
    X[:3, 3:] = cross(H[:3, 3]) @ H[:3, :3]
    return X


def axis_twist(joint: Joint) -> Array:
    """Return the unit twist (u; w) of a single-axis joint, in the child link's frame."""
    axis = np.asarray(joint.axis, dtype=float) / np.linalg.norm(joint.axis)
    linear, angular = {
        'revolute': (0.0, 1.0),
        'continuous': (0.0, 1.0),
        'prismatic': (1.0, 0.0),
        'helical': (joint.pitch, 1.0),
    }[joint.kind]
    return np.concatenate((linear * axis, angular * axis))
