# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Textbook dynamics straight from a description, with wrenches, energies and inverse dynamics."""

import numpy as np
from geolin_demos.demo.dense_dynamics import DenseDynamics, MovingLink, adjoint, axis_twist

__all__ = ['DenseReference', 'MovingLink', 'adjoint', 'axis_twist', 'in_link']


class DenseReference(DenseDynamics):
    """Inverse and forward dynamics of a description.

    Parameters
    ----------
    description
        The robot; revolute, continuous, prismatic, helical and fixed joints.
    model
        The model under test: names the base link, the order of coordinates, base and gravity.
    """

    def bias(self, state, wrenches=()):
        """Return h (m,): Coriolis, gravity and damping, less the wrenches, at nu_dot = 0."""
        return self._bias(state, self.moving_links(state), wrenches)

    def _bias(self, state, moving, wrenches=()):
        h = super()._bias(state, moving)
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
