# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Results that stay, in memory that is used again once nobody holds them.

CPython counts who refers to a result, to its arrays, and to the memory that all their views share.
Where each count is what it was when the result was made, nobody can see it any more.
"""

from sys import getrefcount as count
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.kernels.packing.layout import LANES
from geolin_ros.linearization.about import About
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.linearization.result import Linearization, read_only
from geolin_ros.linearization.workspace import Run, Workspace
from geolin_ros.model.labels import input_labels, state_labels
from geolin_ros.typing import Array

Ready = tuple[
    Linearization, Array, Array, Array, About, Array, tuple[Array, ...],
    memoryview, memoryview, memoryview, Run,
]  # fmt: skip
"""What a call needs of a room, a plain tuple, which Python takes apart fastest: the result, its A,
B and nu_dot, what it is about, the memory that all arrays share, those of contacts; memory of its
state and efforts, of the state, of the efforts, and the engine about them."""


class Room(NamedTuple):
    """Memory for one linearization."""

    ready: Ready
    arrays: tuple[Array, Array, Array]
    """State, efforts, and all results as the engine writes them."""


def references(ready: Ready) -> int:
    """Return how often a result and its arrays are referred to."""
    L, A, B, nu_dot, about, memory, forces, _, _, _, _ = ready
    uses = count(L) + count(A) + count(B) + count(nu_dot) + count(about) + count(memory)
    if forces:
        f, by_state, by_tau = forces
        uses += count(f) + count(by_state) + count(by_tau)
    return uses


class Results:
    """Rooms for one linearization after another, of one robot and its contacts.

    Attributes
    ----------
    next
        The room to look at first.
    unused
        The `references` to one that is free.
    """

    def __init__(self, workspace: Workspace) -> None:
        model, outputs = workspace.model, workspace.outputs()
        contacts: tuple[Closure, ...] = tuple(c.contact for c in workspace.constraints)
        self._workspace = workspace
        self._of: dict[str, Any] = {
            'drift': read_only(np.zeros(2 * model.m)),
            'columns': state_labels(model),
            'inputs': input_labels(model),
            'contacts': contacts,
        }
        self._blank, arrays = outputs.out, outputs[1:]
        ends = np.cumsum([array.size for array in arrays]).tolist()
        starts = (0, *ends[:-1])
        shapes = (array.shape for array in arrays)
        self._places = [
            (slice(start, end), shape)
            for start, end, shape in zip(starts, ends, shapes, strict=True)
        ]
        self.next = self._other = self._make()
        self.unused = references(self.next.ready)

    def free_room(self) -> Room:
        """Return room whose last result nobody holds: the next, or another.

        A loop that holds one result while it makes the next has two by turns.
        """
        if references(self.next.ready) == self.unused:
            return self.next
        if references(self._other.ready) != self.unused:
            self.next, self._other = self._other, self._make()
        return self._other

    def _make(self) -> Room:
        workspace, model = self._workspace, self._workspace.model
        memory = np.empty(self._blank.size + LANES)
        start = -memory.ctypes.data % 64 // 8  # of a cache line
        out = memory[start : start + self._blank.size]
        out[:] = self._blank
        seen = read_only(out)
        A, B, nu_dot, *forces = (seen[place].reshape(shape) for place, shape in self._places)
        size = 22 + model.n_s + model.n
        both = np.zeros(size + model.n)
        x, tau = both[:size], both[size:]
        about = About(
            *(model, workspace.constraints, workspace.length, x, tau), workspace=workspace
        )
        wrenches, by_state, by_tau = forces
        result = Linearization(
            *(A, B, nu_dot),
            wrenches=wrenches,
            wrench_by_state=by_state,
            wrench_by_tau=by_tau,
            about=about,
            **self._of,
        )
        here, of_x, of_tau = (memoryview(part) for part in (both, x, tau))  # type: ignore[arg-type]
        run = workspace.bind(x, tau, out)
        of_contacts = tuple(forces) if workspace.constraints else ()
        ready = result, A, B, nu_dot, about, memory, of_contacts, here, of_x, of_tau, run
        return Room(ready, (x, tau, out))
