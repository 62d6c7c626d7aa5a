# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node says about itself once a second, and in warnings now and then."""

import math
import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from geolin_ros.stream.topic_stream import Cause, Counts

ANOTHER_CLOCK = 86400.0
"""No stamp of the same clock is so far away [s]."""


class ThrottledLog:
    """Says the first message of a kind at once, later ones at most every ``period`` seconds."""

    def __init__(self, say: Callable[[str], object], period: float = 5.0) -> None:
        self._say, self._period = say, period
        self._last: dict[Hashable, tuple[float, int]] = {}

    def __call__(self, kind: Hashable, message: str) -> None:
        """Say ``message``, or count it as suppressed."""
        now = time.monotonic()
        last, suppressed = self._last.get(kind, (-math.inf, 0))
        if now - last < self._period:
            self._last[kind] = last, suppressed + 1
            return
        self._last[kind] = now, 0
        self._say(f'{message} (and {suppressed} like it before)' if suppressed else message)


class Diagnostics:
    """Turns counts and latencies into a diagnostic_msgs/DiagnosticArray.

    ``latencies`` [s] collects one entry per answer, from entry of the joint-state callback to
    return of publish; ``ages`` [s] the distance of each joint state to what it is ``paired``
    with; ``answers`` says what those are.
    """

    def __init__(self, name: str, hardware_id: str, answers: str, paired: str) -> None:
        self._name, self._hardware_id = name, hardware_id
        self._answers, self._paired = answers, paired
        self.latencies: deque[float] = deque(maxlen=20_000)
        self.ages: deque[float] = deque(maxlen=20_000)
        self._before = (time.monotonic(), 0, 0, 0, 0)

    def report(
        self,
        clock_time: Any,
        stream: Any,
        counts: Counts,
        waits_for: str | None,
        errors: Sequence[str] = (),
        warnings: Sequence[str] = (),
    ) -> DiagnosticArray:
        """Return the message for the time since the last report; ``clock_time`` of the node.

        ``errors`` and ``warnings`` are sentences about the ``stream``, None without one.
        """
        now, last = time.monotonic(), self._before
        early = counts.drops[Cause.NO_MODEL]
        self._before = (now, counts.received, counts.answered, counts.dropped, early)
        elapsed = max(now - last[0], 1e-9)
        received, answered, dropped, early = (
            value - before for value, before in zip(self._before[1:], last[1:], strict=True)
        )
        p50, p99, longest = np.percentile(self.latencies or [0.0], (50, 99, 100))
        age, oldest = np.percentile(self.ages or [0.0], (50, 100))
        self.latencies.clear()
        self.ages.clear()
        values = {
            'joint states [1/s]': f'{received / elapsed:.1f}',
            f'{self._answers} [1/s]': f'{answered / elapsed:.1f}',
            'latency p50 [us]': f'{p50 * 1e6:.0f}',
            'latency p99 [us]': f'{p99 * 1e6:.0f}',
            'latency max [us]': f'{longest * 1e6:.0f}',
            f'joint state to {self._paired} p50 [ms]': f'{age * 1e3:.3f}',
            f'joint state to {self._paired} max [ms]': f'{oldest * 1e3:.3f}',
            'joint states': str(counts.received),
            self._answers: str(counts.answered),
            'left out by max_rate': str(counts.skipped),
            'merged into later ones': str(counts.parts),
            'dropped': str(counts.dropped),
        }
        for cause, count in counts.drops.items():
            values[f'dropped: {cause.value}'] = str(count)
        if stream is not None:
            for name, stamp in stream.newest_stamps.items():
                if stamp is not None:
                    values[f'age of the newest {name} [s]'] = _age(clock_time.nanoseconds, stamp)
            values |= stream.details
            model = stream.model
            values |= {
                'robot': model.name,
                'model hash': model.hash,
                'joint coordinates': str(model.n),
                'total mass [kg]': f'{model.total_mass:.3f}',
            }
        level = DiagnosticStatus.WARN
        if errors:
            level, words = DiagnosticStatus.ERROR, '; '.join(errors)
        elif waits_for is not None:
            words = f'waits for {waits_for}'
        elif received == 0:
            level, words = DiagnosticStatus.STALE, 'no joint states'
        elif answered == 0 and dropped > early:
            level = DiagnosticStatus.ERROR
            words = f'none of {received} joint states could be used'
        elif dropped:
            words = f'{dropped} of {received} joint states dropped'
        elif not answered and stream is not None and stream.waits_for:
            words = f'no {self._answers}: waits for {stream.waits_for}'
        elif warnings:
            words = '; '.join(warnings)
        else:
            level, words = DiagnosticStatus.OK, f'{answered} {self._answers}'
        values |= {f'warning {k}': sentence for k, sentence in enumerate(warnings, 1)}
        return self.message(clock_time, level, words, values)

    def message(
        self, clock_time: Any, level: bytes, words: str, values: Mapping[str, str]
    ) -> DiagnosticArray:
        """Return the message of a level, in ``words`` and ``values``."""
        status = DiagnosticStatus(
            name=self._name, hardware_id=self._hardware_id, level=level, message=words
        )
        status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = clock_time.to_msg()
        return message


def _age(now: int, stamp: int) -> str:
    """Return an age [s], or why it is none: stamps and times [ns] may be of different clocks."""
    if now == 0:
        return 'unknown: use_sim_time is set, but nothing came on /clock yet'
    age = (now - stamp) * 1e-9
    if abs(age) > ANOTHER_CLOCK:
        return f'{age:.3f}: stamps are of another clock; set use_sim_time as their publisher does'
    return f'{age:.3f}'
