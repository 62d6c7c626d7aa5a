# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint states of a bag as arrays."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from geolin_ros.errors import RecordingError
from geolin_ros.estimation.identification import Signals
from geolin_ros.offline.source import Source
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.joint_input import JointInput
from geolin_ros.stream.inputs.stamps import nanoseconds
from geolin_ros.typing import Array

Watch = Callable[[Iterable[Any], int], Iterable[Any]]
FIELDS = ('position', 'velocity', 'effort')


def joint_signals(source: Source, watch: Watch = lambda items, total: items) -> Signals:
    """Return what the joint states of a bag hold for the joints of its robot.

    Times are the stamps. Rates and efforts are None if the first joint state has none.

    Raises
    ------
    RecordingError
        If there are no joint states, a joint of the robot is missing, or a number not finite.
    """
    recording, model = source.recording, source.model
    topic = recording.topic('joint_states')
    reader, name = JointInput(model), recording.name
    times: list[int] = []
    rows: dict[str, list[Array]] = {field: [] for field in FIELDS}
    messages = recording.messages(['joint_states'])
    for recorded in watch(messages, recording.counts[topic]):
        message = recorded.message
        for field in FIELDS:
            if times and not rows[field]:
                continue  # the first joint state had none
            if field != 'position' and not times and not len(getattr(message, field)):
                continue
            out = np.empty(model.n)
            try:
                reader.read(message, field, out, Cause.LENGTH)
            except DroppedInput as drop:
                raise RecordingError(f'{name}: joint state {len(times)}: {drop}') from None
            rows[field].append(out)
        times.append(nanoseconds(message.header.stamp))
    if not times:
        raise RecordingError(f'{name} has no message on {topic}, expected joint states')
    position, rate, effort = (np.array(rows[field]) if rows[field] else None for field in FIELDS)
    assert position is not None
    time = np.array([stamp - times[0] for stamp in times], dtype=np.float64) * 1e-9
    return Signals(name, time, position, rate, effort)
