# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint positions, velocities and efforts from sensor_msgs/JointState, whole or in parts."""

from typing import Any

import numpy as np

from geolin_ros.errors import UnsupportedJointError
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.inputs.serialized import Header, JointState, Stamp
from geolin_ros.stream.topic_stream import Cause, DroppedInput, nanoseconds, starts_anew
from geolin_ros.typing import Array

FIELDS = ('position', 'velocity', 'effort')


class JointInput:
    """Reads joint states in any order of names; the order is looked up once and remembered.

    Joints that the robot does not have are ignored. Raises `UnsupportedJointError` if it has a
    spherical, planar or inner floating joint: a joint state has one position for each velocity.
    """

    def __init__(self, model: TreeModel) -> None:
        if model.positions.groups:
            more = sorted(set(model.position_names) - set(model.joint_names))
            raise UnsupportedJointError(
                f'robot {model.name!r} has positions {", ".join(more)}, which no joint state '
                'holds, expected one position for each velocity; fix these joints or use the '
                'Python API'
            )
        self._model = model
        self._names: list[str] | None = None
        self._count = 0
        self._index = np.zeros(model.n, dtype=np.intp)

    def read(self, message: Any, field: str, out: Array, missing: Cause) -> None:
        """Write the entries of ``message.<field>`` for the model's joints into ``out`` (n,).

        Efforts become torques or forces by the model's ``effort_scale`` and ``effort_offset``.
        Raises `DroppedInput` if a joint or the whole field is missing, a joint named twice, a
        length wrong, or a number not finite.
        """
        if message.name != self._names:
            self._look_up(list(message.name))
        values = np.asarray(getattr(message, field), dtype=np.float64)
        if values.shape[0] != self._count:
            cause = Cause.LENGTH if values.size else missing
            raise _wrong_length(field, values.size, self._count, cause)
        values.take(self._index, out=out, mode='clip')  # all are inside; 'raise' would buffer
        if field == 'effort' and self._model.effort_scale:
            out *= self._model.effort_scale
            out -= self._model.effort_offset
        if not np.isfinite(out).all():
            c = int(np.flatnonzero(~np.isfinite(out))[0])
            raise DroppedInput(
                Cause.NOT_FINITE,
                f'joint {self._model.joint_names[c]!r} has {field} {out[c]}, expected a finite '
                'number; correct its driver',
            )

    def _look_up(self, names: list[str]) -> None:
        self._names = None
        position = {name: k for k, name in enumerate(names)}
        for c, name in enumerate(self._model.joint_names):
            if name not in position:
                raise DroppedInput(
                    Cause.MISSING_JOINT,
                    f'joint state has no joint {name!r} of robot {self._model.name!r}; it has '
                    f'{", ".join(map(repr, names[:8]))}; publish all {self._model.n} joints '
                    'together, or set joint_states_in_parts',
                )
            if len(position) < len(names) and names.count(name) > 1:
                raise _twice(name, names)
            self._index[c] = position[name]
        self._names, self._count = names, len(names)


def _twice(name: str, names: list[str]) -> DroppedInput:
    return DroppedInput(
        Cause.JOINT_TWICE,
        f'joint state names joint {name!r} {names.count(name)} times, expected once; correct its '
        'publisher',
    )


def _wrong_length(field: str, length: int, expected: int, cause: Cause) -> DroppedInput:
    fix = f'let the publisher fill {field}'
    if cause is Cause.MISSING_EFFORT:
        fix = (
            'let the publisher of joint_states (sensor_msgs/msg/JointState) fill effort, or set '
            'parameter torque_source to zero, topic or inverse_dynamics'
        )
    return DroppedInput(
        cause,
        f'joint state has {length} entries in {field}, expected {expected}, one a name; {fix}',
    )


class JointParts:
    """Keeps the newest numbers of each joint until all have come anew.

    A whole joint state has the stamp of its newest part; positions of older parts are carried
    there along their velocities. All parts are within ``max_skew`` [s] of it. Joints that the
    robot does not have are ignored.
    """

    def __init__(self, model: TreeModel, max_skew: float) -> None:
        self._model, self._max_skew = model, max_skew
        self._index = {name: c for c, name in enumerate(model.joint_names)}
        self.forget()

    def forget(self) -> None:
        """Start anew, after the clock was set back."""
        n = self._model.n
        self._values = {field: np.full(n, np.nan) for field in FIELDS}
        self._stamps = np.zeros(n, dtype=np.int64)
        self._is_fresh = np.zeros(n, dtype=np.bool_)
        self._first: int | None = None

    def merge(self, message: Any) -> Any | None:
        """Take a sensor_msgs/JointState; return a whole one, or None while parts are missing.

        Raises `DroppedInput` if an array has a wrong length, a joint is named twice, the stamp is
        not after the last one of these joints, or a joint has not come for longer than max_skew.
        """
        stamp = nanoseconds(message.header.stamp)
        entries = [k for k, name in enumerate(message.name) if name in self._index]
        joints = [self._index[message.name[k]] for k in entries]
        if not joints:
            return None
        if len(set(joints)) < len(joints):
            twice = max(joints, key=joints.count)
            raise _twice(self._model.joint_names[twice], list(message.name))
        last = int(self._stamps[joints].max())
        if starts_anew('joint state', stamp, last or None):
            if last:
                self.forget()
            self._first = stamp if self._first is None else self._first
        for field in FIELDS:
            values = np.asarray(getattr(message, field), dtype=np.float64)
            if values.size not in (0, len(message.name)):
                raise _wrong_length(field, values.size, len(message.name), Cause.LENGTH)
            self._values[field][joints] = values[entries] if values.size else np.nan
        self._stamps[joints], self._is_fresh[joints] = stamp, True
        newest = int(self._stamps.max())
        since = np.maximum(self._stamps, self._first or newest)
        c = int(np.argmin(since))
        waited = (newest - int(since[c])) * 1e-9
        if waited > self._max_skew:
            raise DroppedInput(
                Cause.MISSING_JOINT,
                f'joint {self._model.joint_names[c]!r} has not come for {waited:.4f} s, expected '
                f'it in some joint state within {self._max_skew:g} s; start its publisher or '
                'raise max_skew',
            )
        if not self._is_fresh.all() or newest - int(self._stamps.min()) > self._max_skew * 1e9:
            return None
        self._is_fresh[:] = False
        s, r, tau = (self._values[field] for field in FIELDS)
        late = (newest - self._stamps) * 1e-9
        return JointState(
            header=Header(Stamp(*divmod(newest, 1_000_000_000)), frame_id=''),
            name=list(self._model.joint_names),
            position=s + np.where(late > 0.0, r * late, 0.0),
            velocity=r[:0] if np.isnan(r).all() else r.copy(),  # none where no part had any
            effort=tau[:0] if np.isnan(tau).all() else tau.copy(),
        )
