# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A geolin_msgs/LinearizedDynamics as state, matrices and words: the inverse of the writers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from geolin_ros.errors import InputError, unknown_name
from geolin_ros.model.state import State
from geolin_ros.stream.message_fields import read_matrix, read_pose, twist_numbers, word_of
from geolin_ros.stream.outputs.messages import CODES, METHOD_NONE, SOURCES
from geolin_ros.stream.topic_stream import nanoseconds
from geolin_ros.typing import Array

_CODES = CODES | {'method': {'none': METHOD_NONE, **CODES['method']}}


@dataclass(frozen=True, eq=False)
class ReceivedLinearization:
    """d/dt z, or z(t + dt), = A z + B du + drift about a state; see the message for units.

    Attributes
    ----------
    stamp
        Of the joint state that was used [ns].
    world_frame, base_frame
        The base pose is that of ``base_frame`` seen from ``world_frame``.
    state, tau : (n,)
        Where, and the efforts of all joints there; the base twist is the body twist.
    A : (2 m, 2 m)
    B : (2 m, n_u)
    mass_matrix : (m, m)
        Of the body twist and the joint rates; empty if the publisher was not asked for it.
    nu_dot : (m,)
        Rate of the body twist, then joint accelerations.
    drift : (2 m,)
    columns, inputs
        Names of the entries of z and du: columns of A and of B.
    method
        ``'none'`` in the continuous form; ``dt`` is zero and ``next_state`` None then.
    """

    stamp: int
    world_frame: str
    base_frame: str
    model_name: str
    model_hash: str
    joint_names: tuple[str, ...]
    gravity: Array
    state: State
    tau: Array
    A: Array
    B: Array
    mass_matrix: Array
    nu_dot: Array
    drift: Array
    columns: tuple[str, ...]
    inputs: tuple[str, ...]
    reference: str
    form: str
    method: str
    dt: float
    representation: str
    next_state: State | None


def read_linearization(message: Any) -> ReceivedLinearization:
    """Return what a geolin_msgs/LinearizedDynamics says; matrices share its memory.

    Raises
    ------
    InputError
        If sizes contradict each other, or an enumeration has an unknown value.
    UnknownNameError
        If an actuated joint is none of the joints.
    """
    A, B = read_matrix(message.a), read_matrix(message.b)
    nu_dot, drift, tau = (
        np.asarray(values, dtype=np.float64)
        for values in (message.nu_dot, message.drift, message.joint_efforts)
    )
    joints, actuated = tuple(message.joint_names), message.actuated_joints
    for name in actuated:
        if name not in joints:
            raise unknown_name('joint', name, joints, 'the joint_names of the message')
    positions, rates = (tuple(f'{part}.{joint}' for joint in joints) for part in 'sr')
    if message.floating_base:  # names as in geolin_ros.model.labels
        positions = (*(f'H.{axis}' for axis in ('x', 'y', 'z', 'rx', 'ry', 'rz')), *positions)
        rates = (*(f'v.{axis}' for axis in ('x', 'y', 'z', 'wx', 'wy', 'wz')), *rates)
    m, n_u = len(rates), len(actuated)
    shapes = (A.shape, B.shape, drift.shape, nu_dot.shape)
    expected = ((2 * m, 2 * m), (2 * m, n_u), (2 * m,), (m,))
    if shapes != expected:
        raise InputError(
            f'linearization of robot {message.model_name!r} has a, b, drift and nu_dot of shapes '
            f'{shapes}, expected {expected} for its joints, each with one rate; the message is '
            'incomplete, or of joints with more'
        )
    words = {
        field: word_of(f'linearization has {field}', getattr(message, field), codes)
        for field, codes in _CODES.items()
    }
    g = message.gravity
    return ReceivedLinearization(
        stamp=nanoseconds(message.header.stamp),
        world_frame=message.header.frame_id,
        joint_names=joints,
        gravity=np.array([g.x, g.y, g.z]),
        state=read_state(message.state),
        tau=tau,
        A=A,
        B=B,
        mass_matrix=read_matrix(message.mass_matrix),
        nu_dot=nu_dot,
        drift=drift,
        columns=positions + rates,
        inputs=tuple(f'tau.{name}' for name in actuated),
        next_state=read_state(message.next_state) if words['form'] == 'discrete' else None,
        base_frame=message.base_frame,
        model_name=message.model_name,
        model_hash=message.model_hash,
        dt=message.dt,
        **words,
    )


def read_state(message: Any) -> State:
    """Return a geolin_msgs/RobotState as a `State`."""
    v, s, r = twist_numbers(message.base_twist), message.joint_positions, message.joint_rates
    return State(read_pose(message.base_pose), s, v, r)


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
        read_matrix(message.wrench_by_state),
        read_matrix(message.wrench_by_tau),
        message.rank,
        read_matrix(message.admissible_basis),
    )
