# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows c = J nu_dot + gamma = 0 of contacts and loops, what they admit, and how that changes.

Frame 1 is the contact frame, frame 2 what it is in contact with; X = ^1X_2, R its rotation. The
world is a frame 2 at rest. All in axes of frame 1, V = (v; w) body twists of the frames, a the
rates of these numbers, a' = a_lin + w x v the classical acceleration, W = X V_2:

    surface   c = a_1 - X a_2 + V_1 x W + kd (V_1 - W) + kp e,   e = log(H_2^-1 H_1)         (1)
    point     c = a'_1 - R a'_2 + kd (v_1 - R v_2) + kp e,       e = R_1' (o_1 - o_2)        (2)
    force     f_1 = lam on link 1,  -X' lam on link 2   (point: -R' lam at the origin of 2)  (3)

[Featherstone 2008, chapter 8; Traversaro 2019, section 8]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from geolin_ros.kernels.packing import contact_layout, layout
from geolin_ros.kernels.packing.types import make_workspace
from geolin_ros.linearization.contacts.description import (
    SIZES,
    Closure,
    Contact,
    check,
    resolve,
    wrench_labels,
)
from geolin_ros.model.state import State
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

if TYPE_CHECKING:  # imported when it is first used
    from geolin_ros.dynamics.constraints import Constraints


class End(NamedTuple):
    """A frame of a constraint as it moves."""

    H: Array
    """(4, 4) in the world."""
    V: Array
    """(6,) body twist."""
    a: Array
    """(6,) its rate, gravity left out."""
    J: Array
    """(6, m) body Jacobian; [J, 0] is the derivative of its displacement by z."""
    dV: Array
    """(6, 2 m) derivative of V by z."""


class Rows(NamedTuple):
    """Rows of a constraint at a state."""

    J: Array
    """(rows, m)"""
    velocity_by_state: Array
    """(rows, 2 m) derivative of J nu by z."""
    c: Array
    """(rows,) c of Eq. (1) or (2) at nu_dot = 0."""


class Constraint:
    """One active contact or loop of a robot, checked."""

    def __init__(self, model: TreeModel, contact: Closure) -> None:
        check(contact)
        self.contact, self.size = contact, SIZES[contact.kind]
        self.frames = [frame for frame in resolve(model, contact) if frame is not None]
        self.anchor = None
        if isinstance(contact, Contact) and contact.reference is not None:
            what = f'contact {contact.name!r}: reference'
            self.anchor = se3.check_pose(contact.reference, what)

    def rows(self, motion: Motion) -> Rows:
        """Return Eq. (1) or (2) at nu_dot = 0; for constant y, d(X y) = ((X y) x) rel."""
        one, *others = (motion.end(frame) for frame in self.frames)
        if others:
            two = others[0]
        else:
            two = End(*(np.zeros_like(part) for part in one))
            two = two._replace(H=one.H if self.anchor is None else self.anchor)
        kp, kd, X = self.contact.kp, self.contact.kd, se3.adjoint(se3.relative(one.H, two.H))
        W, J = X @ two.V, one.J - X @ two.J
        rel = np.hstack((J, np.zeros_like(J)))
        change = one.dV - X @ two.dV - se3.cross(W) @ rel
        if self.size == 6:
            c = one.a - X @ two.a + se3.cross(one.V) @ W
            c += kd * (one.V - W) + kp * se3.log(se3.relative(two.H, one.H))
            return Rows(J, change, c)
        R = X[:3, :3]
        J, v = one.J[:3] - R @ two.J[:3], R @ two.V[:3]
        c = _classical(one) - R @ _classical(two) + kd * (one.V[:3] - v)
        c += kp * one.H[:3, :3].T @ (one.H[:3, 3] - two.H[:3, 3])
        return Rows(J, one.dV[:3] - R @ two.dV[:3] - se3.cross3(v) @ rel[3:], c)


class Motion:
    """A robot at a state, as the motion of its frames and how that changes."""

    def __init__(self, model: TreeModel, state: State) -> None:
        # few ask for it where the engine was elsewhere since
        from geolin_ros.kernels import kinematics

        tree, n = model.tree, model.n
        self._ws, self._first = make_workspace(tree), 6 + n - model.m
        self._J, self._dv, J_dot = np.zeros((3, len(model.body_names), 6 + n, 6))
        kinematics.move_bodies(tree, self._ws, state.data, np.zeros(3))
        kinematics.propagate_jacobians(tree, self._ws, self._J, J_dot)
        kinematics.differentiate_motion(tree, self._ws, self._dv)

    def end(self, at: Frame) -> End:
        """Return a frame of the robot as it moves."""
        ws, i, X = self._ws, at.body, se3.adjoint(se3.inverse(at.placement))
        H = np.eye(4)
        H[:3, :3], H[:3, 3] = ws.world_R[i], ws.world_o[i]
        H = H @ at.placement
        J, by_position = (X @ rows[i, self._first :].T for rows in (self._J, self._dv))
        return End(H, X @ ws.v[i], X @ ws.a[i], J, np.hstack((by_position, J)))


def _classical(end: End) -> Array:
    return end.a[:3] + se3.cross3(end.V[3:]) @ end.V[:3]


class Geometry(NamedTuple):
    """What the contacts admit at a state."""

    J: Array
    """(rows, m) stacked contact Jacobian, in axes of the contact frames."""
    velocity_by_state: Array
    """(rows, 2 m) derivative of J nu by z."""
    M: Array
    """(m, m) mass matrix."""


class RowsLeft:
    """Reads what `rows_at` returns of what the engine, which was last there, has left behind."""

    def __init__(
        self, model: TreeModel, packed: layout.Packed, contacts: contact_layout.Contacts
    ) -> None:
        n, mimics = int(packed.ints[layout.NB]) - 1, packed.mimics
        table = contact_layout.site_table(contacts)
        self.contacts, self._places = contacts, contact_layout.places_of(contacts, 6 + n)
        self._first, self._axes_are_coordinates = 6 + model.n - model.m, not packed.groups
        loops, self._D, self._T = table[:, contact_layout.LOOP], None, None
        if loops.any():
            self._D = contact_layout.differences(table[:, contact_layout.WIDTH], loops)
        if not np.array_equal(mimics.leaders, np.arange(1, n + 1)):  # other joints, or their order
            joints = layout.bodies_of(packed)[1:, layout.COORDINATE]
            self._T = np.zeros((6 + n, 6 + model.n))
            self._T[:6, :6] = np.eye(6)
            self._T[6 + np.arange(n), 6 + mimics.masters[joints]] = mimics.rule[0, joints]

    def tells(self, state: State) -> bool:
        """Whether `at` can: axes of group joints are no coordinates; loops must be at rest."""
        is_known = self._D is None or not state.data[16 + state.s.size :].any()
        return self._axes_are_coordinates and is_known

    def at(self, workspace: Array, state: State) -> tuple[Array, Array]:
        """Return J and the derivative of J nu by z at a state, with its own velocities."""
        sites = self.contacts.work[self._places]
        J = self._own(sites if self._D is None else self._D @ sites)
        change = np.hstack((np.zeros_like(J), J))
        nu = state.data[16 + state.s.size :]
        if nu.any():
            nu = nu if self._T is None else self._T @ nu
            turning = contact_layout.turning_of(self.contacts, workspace, sites, nu)
            change[:, : J.shape[1]] = self._own(turning)
        return J, change

    def _own(self, rows: Array) -> Array:
        """Return rows of the caller's velocities."""
        return (rows if self._T is None else rows @ self._T)[:, self._first :]


def rows_at(model: TreeModel, constraints: Sequence[Constraint], state: State) -> Rows:
    """Return the rows of all constraints at a state."""
    motion, m = Motion(model, state), model.m
    found = [Rows(np.zeros((0, m)), np.zeros((0, 2 * m)), np.zeros(0))]
    found += [constraint.rows(motion) for constraint in constraints]
    return Rows(*map(np.concatenate, zip(*found, strict=True)))


def constraints_of(model: TreeModel, state: State, contacts: Sequence[Closure]) -> Constraints:
    """Return the rows of contacts and loops in force, and their bias with its feedback.

    [Kim 2012, Eqs. (54), (55)].

    Returns
    -------
    Constraints
        3 or 6 rows a contact, in axes of the contact frame; multipliers are forces [N] and
        torques [N m] there.

    Raises as `Contact` and `kinematics.Kinematics` if a contact or the state does not fit.
    """
    from geolin_ros.dynamics.constraints import Constraints
    from geolin_ros.dynamics.kinematics import check_state

    check_state(model, state)
    active = [contact for contact in contacts if contact.active]
    found = rows_at(model, [Constraint(model, contact) for contact in active], state)
    return Constraints(found.J, found.c, tuple(label.name for label in wrench_labels(active)))
