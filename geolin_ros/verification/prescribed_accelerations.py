# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Accelerations, contact-constrained or free, from inverse dynamics and one dense matrix.

    K x = -r(0),   K = [M  -J'],   x = [nu_dot],   r(x) = [ID(nu_dot) - [0; tau] - J' lam]
                       [J   0 ]       [lam   ]          [J nu_dot + gamma               ]    (1)

[Featherstone 2008, chapter 8], with M of the composite bodies (CRBA), ID of recursive
Newton-Euler, J and gamma of `Kinematics` alone; `linearization.contacts` takes other
kernels, other axes and an elimination, which makes (1) a check of it. Where r belongs to another
state,

    x - K^-1 r(x)                                                                            (2)

is a step of Newton's method towards what holds there, with the same first derivative: r is zero
here, so that how K changes does not count.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.dynamics.functions import inverse_dynamics, mass_matrix
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.linearization.contacts.description import Closure, Contact, resolve
from geolin_ros.model.state import State
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.spatial import se3
from geolin_ros.typing import Array


class PrescribedAccelerations:
    """Solves (1) under wrenches and the contacts that are in force.

    Parameters
    ----------
    model
        The robot.
    contacts
        Constraints on it; those that are not active do not count.
    wrenches
        External ones.

    Raises
    ------
    UnknownNameError, ShapeError, NotFiniteError
        If a contact does not fit the robot.
    """

    def __init__(
        self, model: TreeModel, contacts: Sequence[Closure], wrenches: Sequence[Wrench] = ()
    ) -> None:
        self.model, self._wrenches = model, wrenches
        self._contacts = [_ActiveContact(model, contact) for contact in contacts if contact.active]
        self._newest: tuple[Array, tuple[Array, Array]] | None = None

    def at(self, state: State, tau: Array) -> 'Balance':
        """Return what holds at a state under efforts tau (n,).

        Raises
        ------
        numpy.linalg.LinAlgError
            If K is singular.
        """
        K = mass_matrix(self.model, state)
        if self._contacts:
            J, _ = self._rows(state)
            K = np.block([[K, -J.T], [J, np.zeros((len(J), len(J)))]])
        return Balance(self, state, tau, np.asarray(np.linalg.inv(K), dtype=np.float64))

    def conditions(self, state: State) -> tuple[float, float]:
        """Return the condition numbers of M and of J M^-1 J', which is 1 without contacts.

        With rows that depend on each other the latter is near 1 / eps: (1) has no unique forces.
        """
        M, redundancy = mass_matrix(self.model, state), 1.0
        if self._contacts:
            J, _ = self._rows(state)
            redundancy = float(np.linalg.cond(J @ np.linalg.solve(M, J.T)))
        return float(np.linalg.cond(M)), redundancy

    def residual(self, state: State, tau: Array, x: Array) -> Array:
        """Return r(x) of Eq. (1) at a state."""
        m = self.model.m
        r = inverse_dynamics(self.model, state, x[:m], self._wrenches)
        r[m - tau.size :] -= tau
        if not self._contacts:
            return r
        J, gamma = self._rows(state)
        return np.concatenate((r - J.T @ x[m:], J @ x[:m] + gamma))

    def _rows(self, state: State) -> tuple[Array, Array]:
        """Return J and gamma; efforts change neither, so the newest are kept."""
        if self._newest is not None and np.array_equal(self._newest[0], state.data):
            return self._newest[1]
        at = Kinematics(self.model, state)
        nu = at.velocity()
        J, gamma = zip(*(contact.rows(at, nu) for contact in self._contacts), strict=True)
        rows = np.concatenate(J), np.concatenate(gamma)
        self._newest = state.data.copy(), rows
        return rows


class Balance:
    """What holds at a state, and near it.

    Attributes
    ----------
    f : (2 m,)
        [v; r; nu_dot], of a fixed base [r; nu_dot].
    """

    def __init__(
        self, of: PrescribedAccelerations, state: State, tau: Array, inverse: Array
    ) -> None:
        self._of, self._inverse = of, inverse
        self._x = np.zeros(len(inverse))
        for _ in range(2):  # the second one mends the rounding of the first
            self._x = self._newton(state, tau)
        self.f = self.near(state, tau)

    def near(self, state: State, tau: Array) -> Array:
        """Return what agrees with f to first order at another state and efforts, Eq. (2)."""
        m = self._of.model.m
        return np.concatenate((state.data[-m:], self._newton(state, tau)[:m]))

    def _newton(self, state: State, tau: Array) -> Array:
        return self._x - self._inverse @ self._of.residual(state, tau, self._x)


class _End(NamedTuple):
    """A frame as it moves: pose, body twist, its rate at nu_dot = 0, body Jacobian."""

    H: Array
    v: Array
    a: Array
    J: Array


class _ActiveContact:
    """One contact in force."""

    def __init__(self, model: TreeModel, contact: Closure) -> None:
        self._contact = contact
        frames = [frame for frame in resolve(model, contact) if frame is not None]
        self._frames = [(f, se3.adjoint(se3.inverse(f.placement))) for f in frames]
        self._anchor = None
        if isinstance(contact, Contact) and contact.reference is not None:
            self._anchor = np.asarray(contact.reference, dtype=np.float64)

    def rows(self, at: Kinematics, nu: Array) -> tuple[Array, Array]:
        """Return J and gamma: of a point in world axes, of a surface in its own."""
        kp, kd = self._contact.stiffness, self._contact.damping
        one, *others = (_end(at, nu, *frame) for frame in self._frames)
        if self._contact.kind == 'point':
            (J, v, a), place = _of_origin(one), self._place(one, others)[:3, 3]
            for two in others:
                J, v, a = (p - q for p, q in zip((J, v, a), _of_origin(two), strict=True))
            return J, a + kd * v + kp * (one.H[:3, 3] - place)
        J, v, a = one.J, one.v, one.a
        for two in others:
            X = se3.adjoint(se3.relative(one.H, two.H))
            J, v = J - X @ two.J, v - X @ two.v
            a = a - X @ two.a + se3.cross(v) @ (X @ two.v)
        e = se3.log(se3.relative(self._place(one, others), one.H))
        return J, a + kd * v + kp * e

    def _place(self, one: _End, others: Sequence[_End]) -> Array:
        """Return the reference pose of the frame."""
        if others:
            return others[0].H
        return one.H if self._anchor is None else self._anchor


def _end(at: Kinematics, nu: Array, frame: Frame, X: Array) -> _End:
    i = frame.body
    return _End(at.H[i] @ frame.placement, X @ at.v[i], X @ (at.J_dot[i] @ nu), X @ at.J[i])


def _of_origin(end: _End) -> tuple[Array, Array, Array]:
    """Return J (3, m), velocity and acceleration of the origin, in world axes."""
    R, v, w = end.H[:3, :3], end.v[:3], end.v[3:]
    return R @ end.J[:3], R @ v, R @ (end.a[:3] + se3.cross3(w) @ v)
