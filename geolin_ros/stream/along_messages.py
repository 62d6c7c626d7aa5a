# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""geolin_msgs/srv/LinearizeAlong from and into arrays, bit for bit."""

from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from geolin_ros.linearization.along import ARRAYS, LinearizedTrajectory
from geolin_ros.linearization.contacts.description import SIZES, Closure
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.inputs.contact_input import write_contact
from geolin_ros.stream.message_fields import write_matrix
from geolin_ros.typing import Array


def write_request(
    request: Any,
    make_contact: Callable[[], Any],
    model: TreeModel,
    contacts: Sequence[Closure],
    trajectory: tuple[Array, Array, Array, Sequence[tuple[str, ...]]],
) -> None:
    """Write states, efforts, times and contacts in force, as `Linearizer.along` takes them.

    ``request`` is an empty geolin_msgs/srv/LinearizeAlong_Request, ``make_contact`` returns an
    empty ContactState, ``contacts`` are all there are.
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


def write_trajectory(message: Any, plan: LinearizedTrajectory) -> None:
    """Fill a geolin_msgs/LinearizedTrajectory."""
    message.intervals, message.columns, message.inputs = plan.B.shape
    message.rows = plan.wrenches.shape[1]
    for name in ARRAYS:
        setattr(message, name.lower(), array('d', getattr(plan, name).tobytes()))


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
