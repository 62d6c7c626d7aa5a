# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the node says about itself once a second."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from geolin_ros.ros.statistics import Latencies
from geolin_ros.stream.drops import Cause
from geolin_ros.stream.topics import Counts

ANOTHER_CLOCK = 86400.0
"""No stamp of the same clock is so far away [s]."""


class Diagnostics:
    """Turns counts and latencies into a diagnostic_msgs/DiagnosticArray.

    ``latencies`` [s] collects one entry per answer, from entry of the joint-state callback to
    return of publish; ``ages`` [s] the distance of each joint state to what it is ``paired``
    with; ``answers`` says what those are.
    """

    def __init__(self, name: str, hardware_id: str, answers: str, paired: str) -> None:
        self._name, self._hardware_id = name, hardware_id
        self._answers, self._paired = answers, paired
        self.latencies, self.ages = Latencies(), Latencies()
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

        Of the ``stream``, None without one: its ``newest_stamps``, ``details``, ``waits_for``
        and ``model``;
        ``errors`` and ``warnings`` are sentences about it.
        """
        now, last = time.monotonic(), self._before
        early = counts.drops[Cause.NO_MODEL]
        self._before = (now, counts.received, counts.answered, counts.dropped, early)
        elapsed = max(now - last[0], 1e-9)
        received, answered, dropped, early = (
            value - before for value, before in zip(self._before[1:], last[1:], strict=True)
        )
        latency, distance = self.latencies.take(), self.ages.take()
        values = {
            'joint states [1/s]': f'{received / elapsed:.1f}',
            f'{self._answers} [1/s]': f'{answered / elapsed:.1f}',
            'latency p50 [us]': f'{latency["p50"] * 1e6:.0f}',
            'latency p99 [us]': f'{latency["p99"] * 1e6:.0f}',
            'latency max [us]': f'{latency["max"] * 1e6:.0f}',
            f'joint state to {self._paired} p50 [ms]': f'{distance["p50"] * 1e3:.3f}',
            f'joint state to {self._paired} max [ms]': f'{distance["max"] * 1e3:.3f}',
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
        level, words = _judgement(
            waits_for, received, answered, dropped, dropped == early, self._answers
        )
        if received and not answered and not dropped and stream is not None and stream.waits_for:
            level = DiagnosticStatus.WARN
            words = f'no {self._answers}: waits for {stream.waits_for}'
        if errors:
            level, words = DiagnosticStatus.ERROR, '; '.join(errors)
        elif warnings and level == DiagnosticStatus.OK:
            level, words = DiagnosticStatus.WARN, '; '.join(warnings)
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


def _judgement(
    waits_for: str | None, received: int, answered: int, dropped: int, is_early: bool, answers: str
) -> tuple[bytes, str]:
    """Return level and message for one interval; drops are early while there is no model."""
    if waits_for is not None:
        return DiagnosticStatus.WARN, f'waits for {waits_for}'
    if received == 0:
        return DiagnosticStatus.STALE, 'no joint states'
    if answered == 0 and dropped and not is_early:
        return DiagnosticStatus.ERROR, f'none of {received} joint states could be used'
    if dropped:
        return DiagnosticStatus.WARN, f'{dropped} of {received} joint states dropped'
    return DiagnosticStatus.OK, f'{answered} {answers}'
