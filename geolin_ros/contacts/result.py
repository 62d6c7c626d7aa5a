# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a linearization of a robot that is held consists of."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from geolin_ros.contacts.description import SIZES, Closure
from geolin_ros.contacts.dynamics import Solution
from geolin_ros.contacts.redundancy import Redundancy
from geolin_ros.labels import Label
from geolin_ros.linearization import Linearization
from geolin_ros.typing import Array


class Geometry(NamedTuple):
    """What the contacts admit at a state."""

    J: Array
    """(rows, m) stacked contact Jacobian, in axes of the contact frames."""
    velocity_by_state: Array
    """(rows, 2 m) derivative of J nu by z."""
    M: Array
    """(m, m) mass matrix."""


class ConstrainedLinearization(Linearization):
    """A linearization that obeys contacts; everything of `Linearization`, and contact forces.

    Attributes
    ----------
    contacts
        Those in force, in the order of their rows.
    wrenches : (rows,)
        On the robot, 3 (point) or 6 (surface) entries a contact, in axes of and about the contact
        frame [N, N m].
    wrench_by_state : (rows, 2 m)
        Their derivative by z.
    wrench_by_tau : (rows, n_u)
        Their derivative by the efforts of the actuated joints.
    """

    __slots__ = (
        '_dropped',
        '_geometry',
        'contacts',
        'wrench_by_state',
        'wrench_by_tau',
        'wrenches',
    )

    def __init__(
        self,
        free: Linearization,
        contacts: tuple[Closure, ...],
        wrenches: Array,
        wrench_by_state: Array,
        wrench_by_tau: Array,
        dropped: Callable[[], Redundancy],
        geometry: Callable[[], Geometry],
    ) -> None:
        super().__init__(
            free.A, free.B, free.nu_dot, free.drift, free.columns, free.inputs, free.reference
        )
        self.contacts, self.wrenches = contacts, wrenches
        self.wrench_by_state, self.wrench_by_tau = wrench_by_state, wrench_by_tau
        self._dropped, self._geometry = dropped, geometry

    @property
    def contact_rows(self) -> tuple[Label, ...]:
        """Name and unit of the force of each row."""
        return wrench_labels(self.contacts)

    @property
    def geometry(self) -> Geometry:
        """J, d(J nu)/dz and M at the state."""
        return self._geometry()

    @property
    def J(self) -> Array:
        """(rows, m) stacked contact Jacobian."""
        return self.geometry.J

    @property
    def rank(self) -> int:
        """Number of independent rows of J."""
        return self.dropped.rank

    @property
    def dropped(self) -> Redundancy:
        """How the rank was decided, which forces it leaves open, and what that means in words."""
        return self._dropped()

    def copy(self) -> 'ConstrainedLinearization':
        """Return a linearization with arrays of its own."""
        dropped, geometry = self.dropped, self.geometry
        return ConstrainedLinearization(
            super().copy(),
            self.contacts,
            self.wrenches.copy(),
            self.wrench_by_state.copy(),
            self.wrench_by_tau.copy(),
            lambda: dropped,
            lambda: geometry,
        )


def wrench_labels(contacts: Iterable[Closure]) -> tuple[Label, ...]:
    """Return name and unit of each entry of the contact forces."""
    entries = [('fx', 'N'), ('fy', 'N'), ('fz', 'N'), ('tx', 'N m'), ('ty', 'N m'), ('tz', 'N m')]
    return tuple(
        Label(f'{contact.name}.{entry}', unit)
        for contact in contacts
        for entry, unit in entries[: SIZES[contact.kind]]
    )


def judge(solution: Solution) -> Redundancy:
    """Return what the rank decision of a solution means."""
    decision, asked = solution.decision, float(np.linalg.norm(solution.bias))
    denied = float(np.linalg.norm(decision.dropped.T @ solution.bias))
    return Redundancy(
        rows=wrench_labels(constraint.contact for constraint in solution.constraints),
        velocities=solution.nu_dot.size,
        rank=decision.rank,
        smallest_kept=decision.smallest_kept,
        largest_dropped=decision.largest_dropped,
        dropped=solution.weights[:, np.newaxis] * decision.dropped,
        contradiction=denied / asked if asked > 0.0 else 0.0,
    )
