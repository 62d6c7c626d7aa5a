# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Latencies of the last second, and warnings that are logged once and then now and then."""

import time
from collections import deque
from collections.abc import Callable, Hashable


class Latencies:
    """Collects durations [s] and reports their percentiles since the last report."""

    def __init__(self, most: int = 20_000) -> None:
        self._values: deque[float] = deque(maxlen=most)

    def add(self, duration: float) -> None:
        """Note one duration."""
        self._values.append(duration)

    def take(self) -> dict[str, float]:
        """Return count, p50, p99 and max since the last call; zeros where there are none."""
        values = sorted(self._values)
        self._values.clear()
        if not values:
            return {'count': 0, 'p50': 0.0, 'p99': 0.0, 'max': 0.0}
        last = len(values) - 1
        return {
            'count': len(values),
            'p50': values[round(0.5 * last)],
            'p99': values[round(0.99 * last)],
            'max': values[-1],
        }


class ThrottledLog:
    """Says the first message of a kind at once, later ones at most every ``period`` seconds."""

    def __init__(self, say: Callable[[str], object], period: float = 5.0) -> None:
        self._say = say
        self._period = period
        self._last: dict[Hashable, float] = {}
        self._suppressed: dict[Hashable, int] = {}

    def __call__(self, kind: Hashable, message: str) -> None:
        """Say ``message``, or count it as suppressed."""
        now = time.monotonic()
        last = self._last.get(kind)
        if last is not None and now - last < self._period:
            self._suppressed[kind] = self._suppressed.get(kind, 0) + 1
            return
        suppressed = self._suppressed.pop(kind, 0)
        self._last[kind] = now
        self._say(f'{message} (and {suppressed} like it before)' if suppressed else message)
