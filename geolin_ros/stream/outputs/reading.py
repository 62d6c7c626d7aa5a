# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A geolin_msgs/LinearizedDynamics as state, matrices and words: the inverse of the writers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geolin_ros.errors import InputError, unknown_name
from geolin_ros.model.state import State
from geolin_ros.stream.geometry import read_pose, twist_numbers
from geolin_ros.stream.inputs.stamps import nanoseconds
from geolin_ros.stream.message_memory import read_matrix
from geolin_ros.stream.outputs.messages import CODES
from geolin_ros.typing import Array

_METHODS = {'none': 1, **CODES['method']}


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
    sizes = _sizes(message)
    columns = tuple(_columns(message, sizes))
    inputs = tuple(_entries('tau', message.actuated_joints, sizes))
    nu_dot = np.asarray(message.nu_dot, dtype=np.float64)
    drift = np.asarray(message.drift, dtype=np.float64)
    shapes = (A.shape, B.shape, drift.shape, nu_dot.shape)
    k = len(columns)
    expected = ((k, k), (k, len(inputs)), (k,), (k // 2,))
    if shapes != expected:
        raise InputError(
            f'linearization of robot {message.model_name!r} has a, b, drift and nu_dot of shapes '
            f'{shapes}, expected {expected} for its joints; the message is incomplete'
        )
    form = _word('form', message.form, CODES['form'])
    g = message.gravity
    return ReceivedLinearization(
        stamp=nanoseconds(message.header.stamp),
        world_frame=message.header.frame_id,
        base_frame=message.base_frame,
        model_name=message.model_name,
        model_hash=message.model_hash,
        joint_names=tuple(message.joint_names),
        gravity=np.array([g.x, g.y, g.z]),
        state=read_state(message.state),
        tau=np.asarray(message.joint_efforts, dtype=np.float64),
        A=A,
        B=B,
        mass_matrix=read_matrix(message.mass_matrix),
        nu_dot=nu_dot,
        drift=drift,
        columns=columns,
        inputs=inputs,
        reference=_word('reference', message.reference, CODES['reference']),
        form=form,
        method=_word('method', message.method, _METHODS),
        dt=message.dt,
        representation=_word('representation', message.representation, CODES['representation']),
        next_state=read_state(message.next_state) if form == 'discrete' else None,
    )


def read_state(message: Any) -> State:
    """Return a geolin_msgs/RobotState as a `State`."""
    v, s, r = twist_numbers(message.base_twist), message.joint_positions, message.joint_rates
    return State(read_pose(message.base_pose), s, v, r)


def _columns(message: Any, sizes: dict[str, int]) -> Iterable[str]:
    """Yield the names of the entries of z, as in `geolin_ros.model.labels`."""
    if message.floating_base:
        yield from (f'H.{axis}' for axis in ('x', 'y', 'z', 'rx', 'ry', 'rz'))
    yield from _entries('s', message.joint_names, sizes)
    if message.floating_base:
        yield from (f'v.{axis}' for axis in ('x', 'y', 'z', 'wx', 'wy', 'wz'))
    yield from _entries('r', message.joint_names, sizes)


def _sizes(message: Any) -> dict[str, int]:
    """Return how many rates each joint has."""
    names, sizes = message.joint_names, message.joint_rate_sizes
    if len(sizes) not in (0, len(names)):
        raise InputError(
            f'linearization of robot {message.model_name!r} has {len(sizes)} joint_rate_sizes, '
            f'expected none or one for each of {len(names)} joints'
        )
    each = list(map(int, sizes)) if len(sizes) else [1] * len(names)
    if sum(each) > len(message.nu_dot):  # or names of entries would fill the memory
        raise InputError(
            f'linearization of robot {message.model_name!r} has {len(message.nu_dot)} entries in '
            f'nu_dot, expected at least {sum(each)} of its joints; the message is incomplete'
        )
    return dict(zip(names, each, strict=True))


def _entries(part: str, names: Sequence[str], sizes: dict[str, int]) -> Iterable[str]:
    """Yield one name for each entry of each joint."""
    for name in names:
        if name not in sizes:
            raise unknown_name('joint', name, sizes, 'the joint_names of the message')
        if sizes[name] == 1:
            yield f'{part}.{name}'
        else:
            yield from (f'{part}.{name}/{k}' for k in range(sizes[name]))


def _word(field: str, code: int, codes: dict[str, int]) -> str:
    for word, known in codes.items():
        if known == code:
            return word
    raise InputError(
        f'linearization has {field} = {code}, expected one of {sorted(codes.values())}; the '
        'publisher is newer than this reader, or left the field empty'
    )
