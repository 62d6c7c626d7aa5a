# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded messages into a stream, as a node that had them in this order would."""

from collections.abc import Callable, Iterator

from geolin_ros.offline.recording import Recorded
from geolin_ros.stream.drops import DroppedInput
from geolin_ros.stream.linearization_stream import Answer, LinearizationStream


class Feed:
    """Hands messages to a stream; the timer of a node ticks by the recording's clock.

    Parameters
    ----------
    stream
        Where the messages go.
    on_drop
        Is told of each input that could not be used.
    """

    def __init__(
        self,
        stream: LinearizationStream,
        on_drop: Callable[[DroppedInput], object] = lambda drop: None,
    ) -> None:
        self._stream = stream
        stream.on_drop = on_drop
        self._period = 0
        if stream.settings.trigger == 'timer':
            self._period = round(1e9 / stream.settings.timer_rate)
        self._start: int | None = None
        self._ticks = 0

    def answers(self, recorded: Recorded) -> Iterator[Answer]:
        """Take a message and yield what the stream answers."""
        if self._period and self._ticks_by(recorded.time):
            yield from self._stream.take('timer', None)
        yield from self._stream.take(recorded.role, recorded.message)

    def _ticks_by(self, time: int) -> bool:
        """Whether the timer went off since the last message."""
        if self._start is None:
            self._start = time
        earlier, self._ticks = self._ticks, (time - self._start) // self._period
        return self._ticks > earlier
