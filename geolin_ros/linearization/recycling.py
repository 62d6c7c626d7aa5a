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


class Room(NamedTuple):
    """Memory for one linearization."""

    result: Linearization
    A: Array
    B: Array
    nu_dot: Array
    about: About
    memory: Array
    """That all arrays of the result share."""
    forces: tuple[Array, ...]
    """Other arrays of the result; none in the air."""
    x: memoryview
    """Of the state that the result is about."""
    tau: memoryview
    """Of the efforts."""
    arrays: tuple[Array, Array, Array]
    """State, efforts, and all results as the engine writes them."""
    run: Run
    """The engine about these."""
    run_in_place: Run
    """The engine about the linearizer's own state and efforts."""


def references(room: Room) -> int:
    """Return how often a result and its arrays are referred to."""
    L, A, B, nu_dot, about, memory, forces, _, _, _, _, _ = room
    found = count(L) + count(A) + count(B) + count(nu_dot) + count(about) + count(memory)
    return found + sum(map(count, forces)) if forces else found


class Results:
    """Rooms for one linearization after another, of one robot and its contacts.

    Parameters
    ----------
    workspace
        The robot and its contacts.
    x, tau
        Memory of the linearizer's own state and efforts.

    Attributes
    ----------
    room
        The one used last, free if its `references` are ``unused``.
    """

    def __init__(self, workspace: Workspace, x: Array, tau: Array) -> None:
        model, outputs = workspace.model, workspace.outputs()
        contacts: tuple[Closure, ...] = tuple(c.contact for c in workspace.constraints)
        self._workspace, self._in_place = workspace, (x, tau)
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
        self.room = self._other = self._make()
        self.unused = references(self.room)

    def free_room(self) -> Room:
        """Return room whose last result nobody holds."""
        return self.room if references(self.room) == self.unused else self.another()

    def another(self) -> Room:
        """Return room where the last result is in use, as by a loop that makes the next one."""
        self.room, self._other = self._other, self.room
        if references(self.room) != self.unused:
            self.room = self._make()
        return self.room

    def _make(self) -> Room:
        workspace, model = self._workspace, self._workspace.model
        memory = np.empty(self._blank.size + LANES)
        start = -memory.ctypes.data % 64 // 8  # of a cache line
        out = memory[start : start + self._blank.size]
        out[:] = self._blank
        seen = read_only(out)
        A, B, nu_dot, *forces = (seen[place].reshape(shape) for place, shape in self._places)
        x, tau = np.zeros(22 + model.n_q + model.n), np.zeros(model.n)
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
        return Room(
            *(result, A, B, nu_dot, about, memory),
            tuple(forces) if workspace.constraints else (),
            memoryview(x),  # type: ignore[arg-type]
            memoryview(tau),  # type: ignore[arg-type]
            (x, tau, out),
            workspace.bind(x, tau, out),
            workspace.bind(*self._in_place, out),
        )
