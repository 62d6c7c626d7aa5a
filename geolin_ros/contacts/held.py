# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The fast linearization of a robot that independent contacts hold against the world."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.contacts.constraints import Constraint
from geolin_ros.contacts.dynamics import RANK_TOLERANCE, ConstrainedDynamics
from geolin_ros.contacts.redundancy import Redundancy
from geolin_ros.contacts.result import ConstrainedLinearization
from geolin_ros.errors import GeolinError
from geolin_ros.kernels import contact_records, records
from geolin_ros.kernels.contact_linearization import linearize_in_contact
from geolin_ros.kernels.status import REDUNDANT
from geolin_ros.linearization import Linearization, Linearizer, Reference, read_only
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array
from geolin_ros.wrenches import Wrench


class RedundantContactsError(GeolinError):
    """The contacts depend on each other at this state: the general algorithm knows what to do."""


class ContactForces(NamedTuple):
    """Contact forces and their derivatives, see `ConstrainedLinearization`."""

    wrenches: Array
    by_state: Array
    by_tau: Array


class HeldLinearizer(Linearizer):
    """A `Linearizer` of a robot that is held; `RedundantContactsError` where it gives up.

    Parameters
    ----------
    model
        A robot that the fast kernel serves.
    constraints
        What holds it, no loops.

    Attributes
    ----------
    forces
        Of the last call, as read-only views that are valid until the next one.
    """

    def __init__(self, model: TreeModel, constraints: Sequence[Constraint]) -> None:
        self._constraints = constraints
        super().__init__(model)
        rows = sum(constraint.size for constraint in constraints)
        outputs = contact_records.views(self._full, model.n, rows)
        self._by_state, self._by_effort = outputs.by_state, outputs.by_effort
        own = self._by_state, self._by_effort
        if self._kept is not None:
            own = np.zeros((rows, self._kept[0].size)), np.zeros((rows, self._kept[1].size))
        self._own = own
        self.forces = ContactForces(read_only(outputs.forces), *map(read_only, own))

    def __call__(
        self,
        state: State,
        tau: ArrayLike,
        reference: Reference = 'moving',
        wrenches: Sequence[Wrench] = (),
    ) -> Linearization:
        """Linearize about a state, see `Linearizer`."""
        result = super().__call__(state, tau, reference, wrenches)
        if self._kept is not None:
            columns, inputs = self._kept
            np.take(self._by_state, columns, axis=1, out=self._own[0])
            np.take(self._by_effort, inputs, axis=1, out=self._own[1])
        return result

    def mobility_spread(self, weights: Array) -> float:
        """Return the smallest over the largest eigenvalue of J M^-1 J' of the last call.

        Rows of J times ``weights`` (rows,); 0 without rows. The kernel keeps the inverse of
        -J M^-1 J'.
        """
        if not weights.size:
            return 0.0
        inverse = np.linalg.eigvalsh(-self._inverse / np.outer(weights, weights))
        return float(inverse[0] / inverse[-1])

    def _make_kernel(self, packed: records.Packed) -> Callable[[Array, Array, Array, Array], int]:
        frames = [constraint.frames[0] for constraint in self._constraints]
        contacts = [constraint.contact for constraint in self._constraints]
        anchors = [np.eye(4) if c.anchor is None else c.anchor for c in self._constraints]
        sites, work = contact_records.pack_contacts(
            packed,
            np.array([frame.body for frame in frames], dtype=np.int64),
            np.array([constraint.size for constraint in self._constraints], dtype=np.int64),
            np.array([frame.placement for frame in frames]),
            np.array([(contact.stiffness, contact.damping) for contact in contacts]),
            np.array(anchors),
        )
        self._inverse = contact_records.inverse_of(sites, work)
        run = partial(linearize_in_contact, packed.ints, packed.floats, sites, work)

        def kernel(x: Array, inputs: Array, workspace: Array, out: Array) -> int:
            status: int = run(x, inputs, workspace, out)
            if status == REDUNDANT:
                raise RedundantContactsError('contacts depend on each other')
            return status

        return kernel

    def _make_output(self) -> tuple[Array, Array, Array, Array]:
        rows = sum(constraint.size for constraint in self._constraints)
        return contact_records.make_outputs(self.model.n, rows)[:4]


class HeldResult:
    """The result of a `HeldLinearizer`, and what it is about: contacts, state, efforts.

    What the kernel does not fill is computed when it is asked for, wherever contacts and robot
    are by then.

    Parameters
    ----------
    held
        The kernel.
    constraints, dynamics
        What it holds, and the general algorithm.
    by_matrices
        The general linearization, for what the kernel does not fill.
    """

    def __init__(
        self,
        held: HeldLinearizer,
        constraints: Sequence[Constraint],
        dynamics: ConstrainedDynamics,
        by_matrices: Callable[..., ConstrainedLinearization],
    ) -> None:
        self.held = held
        self.result = held.result = ConstrainedLinearization(
            held.result,
            tuple(constraint.contact for constraint in constraints),
            *held.forces,
            self._judge,
            lambda: self._general().geometry,
        )
        self.state, self.tau = held.model.neutral_state(), np.zeros(held.model.n)
        self.wrenches: Sequence[Wrench] = ()
        self.matrices: ConstrainedLinearization | None = None
        self.current = False  # whether the kernel ran last where the result is about
        self._constraints, self._by_matrices = constraints, by_matrices
        self._weights = dynamics.weights(constraints)

    def _judge(self) -> Redundancy:
        """Return the rank decision of the result, which counted all rows."""
        spread = self.held.mobility_spread(self._weights)
        if not self.current or (self._constraints and not spread > RANK_TOLERANCE):
            return self._general().dropped
        rows = self.result.contact_rows
        nothing = np.zeros((len(rows), 0))
        return Redundancy(rows, self.held.model.m, len(rows), spread, 0.0, nothing, 0.0)

    def _general(self) -> ConstrainedLinearization:
        """Return the general result at the same state."""
        if self.matrices is None:
            self.matrices = self._by_matrices(
                self._constraints, self.state, self.tau, 'moving', self.wrenches
            )
        return self.matrices
