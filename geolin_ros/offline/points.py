# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Linearizations about many operating points, in the form and representation of a stream."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.errors import NotFiniteError, SingularInertiaError
from geolin_ros.linearization.contacts.description import SIZES, Closure
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import Answer, fill
from geolin_ros.typing import Array, IntArray, ObjectArray


class Points(NamedTuple):
    """Where to linearize: T states with the forces in force there."""

    states: Array
    """(T, 22 + n_q + n) rows of `State.data`"""
    tau: Array
    """(T, n) [N m or N]"""
    wrenches: Array
    """(T, K, 6) [force; moment] of each slot, see `slots`"""
    contacts: ObjectArray
    """(T,) tuples of all contacts"""

    def part(self, rows: slice | IntArray) -> 'Points':
        """Return some of the points."""
        return Points(self.states[rows], self.tau[rows], self.wrenches[rows], self.contacts[rows])


def tuples(items: Sequence[tuple[Closure, ...]]) -> ObjectArray:
    """Return an array (T,) of tuples."""
    return np.fromiter(items, dtype=np.object_, count=len(items))


class Linearizations(NamedTuple):
    """T linearizations; NaN where the robot has none."""

    A: Array
    B: Array
    nu_dot: Array
    drift: Array
    loads: Array
    """(T, K) size of the force of each contact of `contact_names` [N]; NaN where it is not in
    force, or in discrete form"""


def contact_names(model: TreeModel, settings: StreamSettings) -> tuple[str, ...]:
    """Return the contacts that a run may know; those of a topic may be any link."""
    if settings.contacts.source == 'topic':
        return model.link_names
    return tuple(contact.name for contact in settings.contacts.contacts)


class PointBatches:
    """Linearizes points of one robot; the result is valid until the next call.

    Parameters
    ----------
    model, settings
        Of the stream that the points are from.
    most
        Most points of a call.
    """

    def __init__(self, model: TreeModel, settings: StreamSettings, most: int) -> None:
        self._model, self._settings = model, settings
        self.slots = [(topic.link, topic.kind) for topic in settings.wrench_topics]
        if settings.nu_dot != 'predicted' and model.base == 'floating':
            self.slots.append((model.base_link, 'body'))
        self._contacts = {name: c for c, name in enumerate(contact_names(model, settings))}
        self._loads = np.full((most, len(self._contacts)), np.nan)
        self._linearizer = Linearizer(model)
        self._held: tuple[Closure, ...] = ()
        k, n_u = 2 * model.m, len(model.actuated)
        self._room = [
            np.zeros(shape) for shape in ((most, k, k), (most, k, n_u), (most, model.m), (most, k))
        ]

    def __call__(self, points: Points) -> Linearizations:
        """Return A, B, nu_dot and drift of all points, bytes as those of the node."""
        count = len(points.states)
        A, B, nu_dot, drift, loads = (part[:count] for part in (*self._room, self._loads))
        found = Linearizations(A, B, nu_dot, drift, loads)
        found.loads[:] = np.nan
        answer = Answer()
        answer.state = self._model.neutral_state()
        for k in range(count):
            answer.state.data[:] = points.states[k]
            self._hold(points.contacts[k])
            wrenches = [
                Wrench(link, value[:3], value[3:], kind)
                for (link, kind), value in zip(self.slots, points.wrenches[k], strict=True)
            ]
            try:
                fill(answer, self._linearizer, self._settings, points.tau[k], wrenches)
            except (SingularInertiaError, NotFiniteError):
                for values in found:
                    values[k] = np.nan
            else:
                found.A[k], found.B[k] = answer.A, answer.B
                found.nu_dot[k], found.drift[k] = answer.nu_dot, answer.drift
                if answer.contact_wrenches is not None:
                    self._weigh(points.contacts[k], answer.contact_wrenches, found.loads[k])
        return found

    def _weigh(self, contacts: tuple[Closure, ...], wrenches: Array, loads: Array) -> None:
        """Write the sizes of the forces of contacts into ``loads`` (K,)."""
        row = 0
        for contact in contacts:
            if contact.active:
                if contact.name in self._contacts:
                    loads[self._contacts[contact.name]] = np.linalg.norm(wrenches[row : row + 3])
                row += SIZES[contact.kind]

    def _hold(self, contacts: tuple[Closure, ...]) -> None:
        if contacts is not self._held:
            self._linearizer.contacts = self._held = contacts
