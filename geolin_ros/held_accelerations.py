# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Accelerations of a robot that is held, from frame kinematics and one dense system.

    [M  -J'] [nu_dot]   [f     ]
    [J   0 ] [lam   ] = [-gamma]                                                           (1)

[Featherstone 2008, chapter 8]. J and gamma come from `Kinematics` alone; `geolin_ros.contacts`
takes other kernels, other axes and an elimination, which makes (1) a check of it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros import se3
from geolin_ros.contacts.description import Closure, Contact, resolve
from geolin_ros.dynamics import mass_matrix
from geolin_ros.kinematics import Kinematics
from geolin_ros.model.state import State
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.typing import Array


class HeldAccelerations:
    """Solves (1) under the contacts that are in force.

    Parameters
    ----------
    model
        The robot.
    contacts
        What holds it; those that are not active do not.

    Raises
    ------
    UnknownNameError, ShapeError, NotFiniteError
        If a contact does not fit the robot.
    """

    def __init__(self, model: TreeModel, contacts: Sequence[Closure]) -> None:
        self._model = model
        self._held = [_Held(model, contact) for contact in contacts if contact.active]

    def __call__(self, state: State, forces: Array) -> Array:
        """Return nu_dot (m,) under forces f (m,), on base and joints."""
        M = mass_matrix(self._model, state)
        if not self._held:
            return np.asarray(np.linalg.solve(M, forces), dtype=np.float64)
        J, gamma = self._rows(state)
        m, size = forces.size, forces.size + len(gamma)
        system, given = np.zeros((size, size)), np.empty(size)
        system[:m, :m], system[:m, m:], system[m:, :m] = M, -J.T, J
        given[:m], given[m:] = forces, -gamma
        return np.asarray(np.linalg.solve(system, given)[:m], dtype=np.float64)

    def condition(self, state: State) -> float:
        """Return the condition number of J M^-1 J', 1 without contacts.

        With rows that depend on each other it is near 1 / eps: (1) has no unique forces then.
        """
        if not self._held:
            return 1.0
        J, _ = self._rows(state)
        return float(np.linalg.cond(J @ np.linalg.solve(mass_matrix(self._model, state), J.T)))

    def _rows(self, state: State) -> tuple[Array, Array]:
        at = Kinematics(self._model, state)
        nu = at.velocity()
        J, gamma = zip(*(held.rows(at, nu) for held in self._held), strict=True)
        return np.concatenate(J), np.concatenate(gamma)


class _End(NamedTuple):
    """A frame as it moves: pose, body twist, its rate at nu_dot = 0, body Jacobian."""

    H: Array
    v: Array
    a: Array
    J: Array


class _Held:
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
        H = one.H if self._anchor is None else self._anchor
        two = others[0] if others else _End(H, np.zeros(6), np.zeros(6), np.zeros_like(one.J))
        if self._contact.kind == 'point':
            J, v, a = (p - q for p, q in zip(_of_origin(one), _of_origin(two), strict=True))
            return J, a + kd * v + kp * (one.H[:3, 3] - two.H[:3, 3])
        X = se3.adjoint(se3.relative(one.H, two.H))
        v = one.v - X @ two.v
        a = one.a - X @ two.a + se3.cross(v) @ (X @ two.v)
        e = se3.log(se3.relative(two.H, one.H))
        return one.J - X @ two.J, a + kd * v + kp * e


def _end(at: Kinematics, nu: Array, frame: Frame, X: Array) -> _End:
    i = frame.body
    return _End(at.H[i] @ frame.placement, X @ at.v[i], X @ (at.J_dot[i] @ nu), X @ at.J[i])


def _of_origin(end: _End) -> tuple[Array, Array, Array]:
    """Return J (3, m), velocity and acceleration of the origin, in world axes."""
    R, v, w = end.H[:3, :3], end.v[:3], end.v[3:]
    return R @ end.J[:3], R @ v, R @ (end.a[:3] + se3.cross3(w) @ v)
