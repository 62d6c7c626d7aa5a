# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded messages into a stream, as a node that had them in this order would."""

from collections.abc import Iterable, Iterator

from geolin_ros.offline.recording import Recorded
from geolin_ros.stream.linearization_stream import Answer, LinearizationStream


def feed(
    stream: LinearizationStream, messages: Iterable[Recorded]
) -> Iterator[tuple[Recorded, Answer]]:
    """Yield messages with what a stream answers; a node's timer goes by the recording's clock."""
    settings, start, ticks = stream.settings, None, 0
    period = round(1e9 / settings.timer_rate) if settings.trigger == 'timer' else 0
    for recorded in messages:
        if period:
            start = recorded.time if start is None else start
            earlier, ticks = ticks, (recorded.time - start) // period
            if ticks > earlier:
                yield from ((recorded, answer) for answer in stream.take('timer', None))
        yield from ((recorded, a) for a in stream.take(recorded.role, recorded.message))
