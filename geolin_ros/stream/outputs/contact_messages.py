# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Contacts into geolin_msgs/ContactDynamics; sizes follow the contacts in force."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.contact_answer import ContactAnswer, each_wrench
from geolin_ros.stream.inputs.contact_state import write_contact
from geolin_ros.stream.message_fields import (
    MatrixWriter,
    allocate,
    read_matrix,
    word_of,
    write_wrench,
)
from geolin_ros.typing import Array

SOURCES = {'parameter': 1, 'topic': 2, 'forces': 3, 'given': 4}


class ContactWriter:
    """Fills one geolin_msgs/ContactDynamics with the contacts of one answer after another.

    ``message`` is the writer's from now on; ``make_contact`` returns an empty ContactState.
    """

    def __init__(self, message: Any, model: TreeModel, make_contact: Callable[[], Any]) -> None:
        self.message = message
        self._model, self._make_contact = model, make_contact
        self._written: tuple[Closure, ...] | None = None
        self._wrenches = np.zeros(0)
        self._by_state = MatrixWriter(message.wrenches_by_state)
        self._by_effort = MatrixWriter(message.wrenches_by_effort)
        self._basis = MatrixWriter(message.admissible_basis)

    def write(self, answer: ContactAnswer) -> None:
        """Fill the message."""
        message = self.message
        message.source = SOURCES[answer.source]
        if answer.contacts is not self._written:
            message.contacts = [self._make_contact() for _ in answer.contacts]
            for state, contact in zip(message.contacts, answer.contacts, strict=True):
                write_contact(state, contact, self._model)
            self._written = answer.contacts
        wrenches = each_wrench(answer.contacts, answer.wrenches)
        for state, (_, wrench) in zip(message.contacts, wrenches, strict=True):
            write_wrench(state.wrench, wrench)
        message.rank = answer.redundancy.rank
        message.smallest_kept = answer.redundancy.smallest_kept
        message.largest_dropped = answer.redundancy.largest_dropped
        if answer.wrenches.shape != self._wrenches.shape:
            self._wrenches = allocate(message, 'wrenches', answer.wrenches.size)
        self._wrenches[:] = answer.wrenches
        self._by_state.write(answer.wrench_by_state)
        self._by_effort.write(answer.wrench_by_tau)
        if answer.basis is not None:
            self._basis.write(answer.basis)


@dataclass(frozen=True, eq=False)
class ReceivedContacts:
    """Contacts that a linearization obeys; matrices share the memory of the message.

    Attributes
    ----------
    source
        Where they come from, one of `SOURCES`.
    active
        Names of those in force, in the order of their rows: the frame, or frame=partner.
    wrenches : (rows,)
        On the robot, in axes of the contact frames [N, N m].
    wrench_by_state : (rows, 2 m)
    wrench_by_tau : (rows, n_u)
    rank
        Of their stacked Jacobian.
    basis : (2 m, k)
        P of the motions that they admit; empty if the publisher was not asked for it.
    """

    source: str
    active: tuple[str, ...]
    wrenches: Array
    wrench_by_state: Array
    wrench_by_tau: Array
    rank: int
    basis: Array


def read_contact_dynamics(message: Any) -> ReceivedContacts | None:
    """Return what a geolin_msgs/ContactDynamics says, None if no contacts are looked at.

    Raises `InputError` if the source is unknown, or a matrix has not as many entries as it says.
    """
    if not message.source and not message.contacts:
        return None
    names = (
        f'{c.frame}={c.partner_frame}' if c.partner_frame else c.frame
        for c in message.contacts
        if c.active
    )
    return ReceivedContacts(
        word_of('contact dynamics have source', message.source, SOURCES),
        tuple(names),
        np.asarray(message.wrenches, dtype=np.float64),
        read_matrix(message.wrenches_by_state),
        read_matrix(message.wrenches_by_effort),
        message.rank,
        read_matrix(message.admissible_basis),
    )
