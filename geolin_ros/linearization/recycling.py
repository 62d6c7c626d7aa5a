# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Results that stay, in memory that is used again once nobody holds them.

CPython counts who refers to a result, to its arrays, and to the memory that all their views share.
Where each count is what it was when the result was made, nobody can see it any more.
"""

from sys import getrefcount as count
from typing import Any

import numpy as np

from geolin_ros.linearization.about import About
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.linearization.result import Linearization, read_only
from geolin_ros.linearization.workspace import Run, Workspace
from geolin_ros.model.labels import input_labels, state_labels
from geolin_ros.typing import Array

Room = tuple[
    Linearization, Array, Array, Array, About, Array, tuple[Array, ...],
    memoryview, memoryview, memoryview, Run, tuple[Array, Array, Array],
]  # fmt: skip
"""Memory for one linearization, a plain tuple, which Python takes apart fastest: the result, its
A, B and nu_dot, what it is about, the memory that all arrays share, those of contacts; memory of
its state and efforts, of the state, of the efforts, and the engine about them; state, efforts and
results as the engine has them."""


def references(room: Room) -> int:
    """Return how often a result and its arrays are referred to."""
    L, A, B, nu_dot, about, memory, forces, _, _, _, _, _ = room
    uses = count(L) + count(A) + count(B) + count(nu_dot) + count(about) + count(memory)
    if forces:
        f, by_state, by_tau = forces
        uses += count(f) + count(by_state) + count(by_tau)
    return uses


class ContactSet:
    """Contacts, with what linearizes under them, and rooms for one result after another.

    ``next`` is to be looked at first, ``unused`` the number of `references` to a free one.
    """

    def __init__(self, contacts: tuple[Closure, ...], workspace: Workspace) -> None:
        self.contacts, self.workspace, self.unused = contacts, workspace, -1
        self.next: Room
        self._other: Room

    def free_room(self) -> Room:
        """Return room whose last result nobody holds: the next, or another.

        A loop that holds one result while it makes the next has two by turns.
        """
        if self.unused < 0:  # compiled when first used
            self.next = self._other = self._make()
            self.unused = references(self.next)
        if references(self.next) == self.unused:
            return self.next
        if references(self._other) != self.unused:
            self.next, self._other = self._other, self._make()
        return self._other

    def _make(self) -> Room:
        workspace, model = self.workspace, self.workspace.model
        out, *arrays = workspace.outputs()
        A, B, nu_dot, *forces = map(read_only, arrays)
        wrenches, by_state, by_tau = forces
        size = 22 + model.n_s + model.n
        here = np.zeros(size + model.n)
        x, tau = here[:size], here[size:]
        about = About(workspace, x, tau)
        result = Linearization(
            *(A, B, nu_dot, read_only(np.zeros(2 * model.m))),
            *(state_labels(model), input_labels(model)),
            *(wrenches, by_state, by_tau),
            about,
            tuple(constraint.contact for constraint in workspace.constraints),
        )
        memory: Any = out.base
        of_contacts = tuple(forces) if workspace.constraints else ()
        places: Any = tuple(map(memoryview, (here, x, tau)))  # type: ignore[arg-type]
        run = workspace.bind(x, tau, out)
        return result, A, B, nu_dot, about, memory, of_contacts, *places, run, (x, tau, out)
