# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What contacts and loops admit at a state: their Jacobian, and how it changes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.kernels.packing import contact_layout, layout
from geolin_ros.linearization.contacts.constraints import Constraint, Motion
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array


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

    def at(self, workspace: Array, state: State) -> tuple[Array, Array] | None:
        """Return J and the derivative of J nu by z at a state, with its own velocities.

        None for joints of several turns, whose axes are no coordinates, and for loops that move.
        """
        moves = state.data[16 + state.s.size :].any()
        if not self._axes_are_coordinates or (self._D is not None and moves):
            return None
        J, by_position = self.contacts.work[self._places], None
        if moves:
            nu = np.concatenate((state.v, state.r))
            nu = nu if self._T is None else self._T @ nu
            by_position = self._own(contact_layout.turning_of(self.contacts, workspace, J, nu))
        J = self._own(J if self._D is None else self._D @ J)
        change = np.zeros((len(J), 2 * J.shape[1]))
        change[:, J.shape[1] :] = J
        if by_position is not None:
            change[:, : J.shape[1]] = by_position
        return J, change

    def _own(self, rows: Array) -> Array:
        """Return rows of the caller's velocities."""
        return (rows if self._T is None else rows @ self._T)[:, self._first :]


def rows_at(
    model: TreeModel, constraints: Sequence[Constraint], state: State
) -> tuple[Array, Array]:
    """Return J (rows, m), and the derivative (rows, 2 m) of J nu by z."""
    motion = Motion(model, state)
    found = [constraint.rows(motion) for constraint in constraints]
    empty = np.zeros((0, model.m)), np.zeros((0, 2 * model.m))
    J, changes = ([rows.J for rows in found], [rows.velocity_by_state for rows in found])
    return np.vstack((empty[0], *J)), np.vstack((empty[1], *changes))
