# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What an answer says of the contacts it obeys."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from geolin_ros.linearization.contacts import Redundancy
from geolin_ros.linearization.contacts.description import SIZES, Closure
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.representation import TwistChange
from geolin_ros.linearization.result import Linearization
from geolin_ros.model.state import State
from geolin_ros.spatial.frames import Representation
from geolin_ros.typing import Array

if TYPE_CHECKING:
    from geolin_ros.linearization.reduction import Bases


class ContactAnswer(NamedTuple):
    """Contacts, their forces and what these depend on, in the representation of the answer."""

    source: str
    """Where the contacts come from, a `ContactSource` or ``'given'``."""
    contacts: tuple[Closure, ...]
    """Those in force and the others."""
    wrenches: Array
    """(rows,)"""
    wrench_by_state: Array
    """(rows, 2 m)"""
    wrench_by_tau: Array
    """(rows, n_u)"""
    redundancy: Redundancy
    basis: Array | None
    """(2 m, k) P, None if it was not asked for."""


def each_wrench(contacts: Iterable[Closure], wrenches: Array) -> Iterator[tuple[Closure, Array]]:
    """Yield each contact and its wrench (6,) of the stacked ones; zero where it has no rows."""
    row = 0
    for contact in contacts:
        wrench = np.zeros(6)
        if contact.active:
            size = SIZES[contact.kind]
            wrench[:size] = wrenches[row : row + size]
            row += size
        yield contact, wrench


class ContactReporter:
    """Makes the contact part of one answer after another; bases are continuous."""

    def __init__(self, linearizer: Linearizer, source: str, admissible_basis: bool) -> None:
        self._linearizer = linearizer
        self._source, self._asked = source, admissible_basis
        self._previous: Bases | None = None
        self._shown: Array | None = None

    def forget(self) -> None:
        """Begin with the next basis as if it were the first."""
        self._previous = self._shown = None

    def report(
        self, C: Linearization, state: State, representation: Representation
    ) -> ContactAnswer:
        """Return the contact part of the newest linearization, which is of the body twist."""
        by_state, basis = C.wrench_by_state, None
        turns = representation != 'body' and by_state.shape[1] != 2 * state.r.size
        change = TwistChange(state, representation) if turns else None
        if self._asked:
            from geolin_ros.linearization.reduction import admissible_bases, nearest_basis

            self._previous = admissible_bases(C, self._previous)
            basis = self._previous.P
            if change is not None:
                moved = change.from_body(basis)
                basis = nearest_basis(moved, moved if self._shown is None else self._shown)
            self._shown = basis
        if change is not None:
            by_state = change.on_columns(by_state)
        return ContactAnswer(
            self._source,
            self._linearizer.contacts,
            C.wrenches,
            by_state,
            C.wrench_by_tau,
            C.dropped,
            basis,
        )
