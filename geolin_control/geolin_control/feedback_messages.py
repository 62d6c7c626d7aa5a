# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of a regulator, from and into messages."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from geolin_control.regulator import Measured, Reference, Source
from geolin_ros.control.lqr import Gains
from geolin_ros.errors import InputError
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.model.labels import state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.contacts import read_contact, write_contact
from geolin_ros.stream.message_fields import read_matrix, write_matrix, write_stamp
from geolin_ros.stream.outputs.messages import StateWriter
from geolin_ros.stream.outputs.reading import read_linearization, read_state
from geolin_ros.typing import Array

_SOURCES: dict[Source, int] = {'linearization': 1, 'model': 2, 'bank': 3}
_SOLVED = {'doubling': 1, 'scipy': 1, 'warm': 2, 'bank': 3}


def read_measured(message: Any, model: TreeModel) -> Measured:
    """Return what a geolin_msgs/LinearizedDynamics says about a robot that stands.

    Raises `GeolinError` if it is of another model, other frames or another form.
    """
    if message.model_hash != model.hash:
        raise InputError(
            f'linearization is of model {message.model_hash} ({message.model_name!r}), expected '
            f'{model.hash} ({model.name!r}); give both nodes the same description and parameters'
        )
    received = read_linearization(message)
    form = (received.form, received.reference, received.representation)
    if form != ('continuous', 'moving', 'body'):
        raise InputError(
            f'linearization is {", ".join(form)}, expected continuous, moving, body; set form, '
            'reference and representation of the linearizer'
        )
    contacts = message.contact_dynamics
    return Measured(
        received.state,
        received.tau.copy(),
        received.A.copy(),
        received.B.copy(),
        read_matrix(contacts.wrench_by_state).copy(),
        read_matrix(contacts.wrench_by_tau).copy(),
        tuple(read_contact(model, contact) for contact in contacts.contacts if contact.active),
    )  # fmt: skip


def read_reference(message: Any, model: TreeModel, posture: State | None) -> Reference:
    """Return what a geolin_msgs/ReferenceState asks for.

    Joints that it does not name keep the position they have in ``posture``. Raises `InputError` if
    sizes contradict each other, a number is not finite, a joint is not of the robot, or a joint is
    left out and there is no posture.
    """
    wanted, names = read_state(message.state), list(message.joint_names)
    given = np.array(message.joint_efforts, dtype=np.float64)
    if not wanted.s.size == wanted.r.size == len(names) or given.size not in (0, len(names)):
        raise InputError(
            f'reference has {wanted.s.size} positions, {wanted.r.size} rates and '
            f'{given.size} efforts for {len(names)} joints, expected one each'
        )
    state = model.neutral_state() if posture is None else posture.copy()
    state.H[:], state.v[:], state.r[:] = wanted.H, wanted.v, 0.0
    missing = set(model.joint_names) - set(names)
    if missing and posture is None:
        raise InputError(
            f'reference leaves out joints {sorted(missing)} of robot {model.name!r}, and where '
            'they are is not known yet; name all of them'
        )
    joints = [model.joint_index(name) for name in names]
    state.s[joints], state.r[joints] = wanted.s, wanted.r
    efforts = np.zeros(model.n)
    efforts[joints] = given if given.size else 0.0
    if not (np.isfinite(state.data).all() and np.isfinite(efforts).all()):
        raise InputError('reference holds NaN or inf, expected finite numbers')
    return Reference(state, efforts[model.actuated] if given.size else None)


def frames_in_force(message: Any) -> tuple[str, ...]:
    """Return the frames of a geolin_msgs/ContactStates that are active."""
    return tuple(contact.frame for contact in message.contacts if contact.active)


def write_gains(
    message: Any,
    make: Callable[[str], Any],
    model: TreeModel,
    contacts: Sequence[Closure],
    law: tuple[State, Array, Array, Array],
) -> None:
    """Write state, feedforward, K and K_complement of a law into a geolin_msgs/FeedbackGains.

    ``make`` returns an empty message of geolin_msgs by its name.
    """
    state, feedforward, K, K_complement = law
    message.model_hash = model.hash
    message.joint_names = list(model.joint_names)
    message.actuated_joints = list(model.actuated_joints)
    message.columns = [label.name for label in state_labels(model)]
    message.contacts = [make('ContactState') for _ in contacts]
    for entry, contact in zip(message.contacts, contacts, strict=True):
        write_contact(entry, contact, model)
    StateWriter(message.state, model.n).write(state)
    message.feedforward = feedforward.tolist()
    write_matrix(message.k, K)
    write_matrix(message.k_complement, K_complement)


def gains_message(
    make: Callable[[str], Any],
    model: TreeModel,
    gains: Gains,
    source: Source,
    stamp: int,
    frame: str,
    compute_time: float,
) -> Any:
    """Return a geolin_msgs/FeedbackGains.

    ``stamp`` [ns], ``compute_time`` [s]; ``frame`` is that of the world.
    """
    message = make('FeedbackGains')
    write_stamp(message.header.stamp, stamp)
    message.header.frame_id = frame
    contacts = [support.contact for support in gains.supports]
    law = gains.state, gains.feedforward, gains.K, gains.K_complement
    write_gains(message, make, model, contacts, law)
    message.dt, message.margin, message.compute_time = gains.dt, gains.margin, compute_time
    message.source = _SOURCES[source]
    message.solved = _SOLVED['bank' if gains.solution is None else gains.solution.method]
    return message


def read_gains(message: Any) -> tuple[State, Array, Array, tuple[str, ...]]:
    """Return operating point, feedforward, K with its complement, and columns of the message.

    Raises `InputError` if sizes contradict each other.
    """
    K, complement = read_matrix(message.k), read_matrix(message.k_complement)
    if not message.k_complement.rows:
        complement = np.zeros_like(K)
    shapes = {K.shape, complement.shape, (len(message.feedforward), len(message.columns))}
    if len(shapes) > 1:
        raise InputError(
            f'gains have k, k_complement, feedforward and columns of sizes {sorted(shapes)}, '
            'expected one; the message is incomplete'
        )
    feedforward = np.array(message.feedforward)
    return read_state(message.state), feedforward, K + complement, tuple(message.columns)
