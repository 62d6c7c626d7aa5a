# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""geolin_msgs/srv/LinearizeAlong from and into arrays, bit for bit."""

from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from geolin_ros.errors import InputError
from geolin_ros.linearization.along import ARRAYS, LinearizedTrajectory
from geolin_ros.linearization.contacts.description import SIZES, Closure
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.inputs.contact_state import fields, read_contact, write_contact
from geolin_ros.stream.message_memory import read_matrix, write_matrix
from geolin_ros.typing import Array

MOST_NODES = 1000
"""Of one request."""


def write_request(
    request: Any,
    make_contact: Callable[[], Any],
    model: TreeModel,
    contacts: Sequence[Closure],
    trajectory: tuple[Array, Array, Array, Sequence[tuple[str, ...]]],
) -> None:
    """Write what `Linearizer.along` takes into an empty request.

    Parameters
    ----------
    request, make_contact
        A geolin_msgs/srv/LinearizeAlong_Request, and what returns an empty ContactState.
    model, contacts
        The robot, and all contacts there are.
    trajectory
        States, efforts, times and contacts in force.
    """
    states, efforts, times, in_force = trajectory
    request.model_hash = model.hash
    write_matrix(request.states, states)
    write_matrix(request.efforts, efforts)
    request.times = array('d', np.ascontiguousarray(times).tobytes())
    for contact in contacts:
        message = make_contact()
        write_contact(message, contact, model)
        request.contacts.append(message)
    request.in_force = [contact.name in names for names in in_force for contact in contacts]


class AlongAnswerer:
    """Answers requests by a linearizer that is kept as long as they name the same contacts."""

    def __init__(self, model: TreeModel) -> None:
        self._model = model
        self._of: object = None
        self._linearizer = Linearizer(model)
        self._room = self._linearizer.along.room(0)

    def __call__(self, request: Any, trajectory: Any) -> None:
        """Fill a geolin_msgs/LinearizedTrajectory.

        Raises `GeolinError` if sizes contradict each other, the robot is another, or as
        `Linearizer.along`.
        """
        model = self._model
        if request.model_hash not in ('', model.hash):
            raise InputError(
                f'request is about model {request.model_hash}, expected {model.hash} '
                f'({model.name!r}); give both nodes the same description and parameters'
            )
        states, efforts = read_matrix(request.states), read_matrix(request.efforts)
        count, feet = len(efforts), len(request.contacts)
        if len(states) > MOST_NODES or len(request.in_force) != count * feet:
            raise InputError(
                f'request has {len(states)} states and {len(request.in_force)} entries in '
                f'in_force, expected at most {MOST_NODES} and {count} x {feet}: each contact in '
                'each interval'
            )
        of = tuple(map(fields, request.contacts))
        if of != self._of:
            contacts = [read_contact(model, contact) for contact in request.contacts]
            self._of, self._linearizer = of, Linearizer(model, contacts)
            self._room = self._linearizer.along.room(count)
        along = self._linearizer.along
        if len(self._room) < count:
            self._room = along.room(count)
        names = [contact.name for contact in self._linearizer.contacts]
        flags = np.array(request.in_force, dtype=bool).reshape(count, feet)
        in_force = [
            tuple(name for name, on in zip(names, row, strict=True) if on) for row in flags
        ]
        plan = along(states, efforts, request.times, in_force, out=self._room)
        trajectory.intervals = count
        _, trajectory.columns, trajectory.inputs = plan.B.shape
        trajectory.rows = plan.wrenches.shape[1]
        for name in ARRAYS:
            setattr(trajectory, name.lower(), array('d', getattr(plan, name).tobytes()))


def read_trajectory(
    message: Any, contacts: Sequence[Closure], in_force: Sequence[tuple[str, ...]]
) -> LinearizedTrajectory:
    """Return a geolin_msgs/LinearizedTrajectory, whose memory it shares.

    ``contacts`` and ``in_force`` are those of the request.
    """
    N, k, n_u, rows = message.intervals, message.columns, message.inputs, message.rows
    shapes = (N, k, k), (N, k, n_u), (N, k), (N, k // 2), (N, rows), (N, rows, k), (N, rows, n_u)
    arrays: list[Any] = [
        np.asarray(getattr(message, name.lower())).reshape(shape)
        for name, shape in zip(ARRAYS, shapes, strict=True)
    ]
    ends = np.cumsum([0, *(SIZES[contact.kind] for contact in contacts)]).tolist()
    first = {contact.name: at for contact, at in zip(contacts, ends, strict=False)}
    return LinearizedTrajectory(
        **dict(zip(ARRAYS, arrays, strict=True)), in_force=tuple(in_force), first=first
    )
