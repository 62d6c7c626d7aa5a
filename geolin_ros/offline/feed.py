# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded messages into a stream, as a node that had them in this order would."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from geolin_ros.offline.recording import Recorded
from geolin_ros.offline.source import Source
from geolin_ros.stream.drops import DroppedInput
from geolin_ros.stream.linearization_stream import Answer, LinearizationStream


class Feed:
    """Hands messages to a stream; the timer trigger of a node runs on the recording's clock.

    Parameters
    ----------
    source
        Where the messages are from.
    stream
        Where they go.
    on_drop
        Is told of each input that could not be used.
    """

    def __init__(
        self,
        source: Source,
        stream: LinearizationStream,
        on_drop: Callable[[DroppedInput], object] = lambda drop: None,
    ) -> None:
        self._stream, self._on_drop = stream, on_drop
        self._take: dict[str, Callable[[Any], Answer | None]] = {
            'odom': stream.on_odometry,
            'joint_efforts': stream.on_effort,
            'joint_states': stream.on_joint_state,
            'contact_states': stream.on_contact_states,
            **{
                wrench.topic: partial(stream.on_wrench, wrench.topic)
                for wrench in stream.settings.wrench_topics
            },
            **{
                foot.topic: partial(stream.on_foot_force, foot.topic)
                for foot in stream.settings.contacts.heard_feet
            },
        }
        self._period = 0
        if source.values['trigger'] == 'timer':
            self._period = round(1e9 / source.values['timer_rate'])
            self._take['joint_states'] = self._keep
        self._start: int | None = None
        self._ticks = 0
        self._newest: Any = None

    def answers(self, recorded: Recorded) -> Iterator[Answer]:
        """Take a message and yield what the stream answers, usually nothing or one."""
        if self._period:
            yield from self._tick(recorded.time)
        yield from self._ask(self._take[recorded.role], recorded.message)

    def _ask(self, method: Callable[[Any], Answer | None], message: Any) -> Iterator[Answer]:
        try:
            answer = method(message)
        except DroppedInput as drop:
            self._on_drop(drop)
            return
        if answer is not None:
            yield answer

    def _keep(self, message: Any) -> None:
        if self._newest is not None:
            self._stream.counts.received += 1
            self._stream.counts.skipped += 1
        self._newest = message

    def _tick(self, time: int) -> Iterator[Answer]:
        """Answer the newest joint state if the timer went off since the last message."""
        if self._start is None:
            self._start = time
        ticks = (time - self._start) // self._period
        if ticks > self._ticks and self._newest is not None:
            message, self._newest = self._newest, None
            yield from self._ask(self._stream.on_joint_state, message)
        self._ticks = ticks
