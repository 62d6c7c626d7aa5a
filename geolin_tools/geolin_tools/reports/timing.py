# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rates, gaps and clock jumps of one topic."""

from array import array
from typing import Any

import numpy as np

from geolin_ros.stream.inputs.stamps import CLOCK_RESET

GAP = 2.5
"""A distance this many times the median is a gap: at least one message is missing."""
CLOCK_JUMP = 0.1
"""Stamps and recording times that move apart this much [s] at once: a clock was set."""


class Timing:
    """Collects the stamps of a topic, 16 bytes a message."""

    def __init__(self) -> None:
        self._stamps, self._times = array('q'), array('q')

    def add(self, stamp: int, time: int) -> None:
        """Note a message's stamp and the time at which it was recorded [ns]."""
        self._stamps.append(stamp)
        self._times.append(time)

    @property
    def mean_rate(self) -> float:
        """Messages a second from the first to the last; zero of fewer than two."""
        span = self._times[-1] - self._times[0] if len(self._times) > 1 else 0
        return (len(self._times) - 1) * 1e9 / span if span else 0.0

    def report(self) -> dict[str, Any]:
        """Return median rate [Hz], gaps, jumps and delays [s], and what is wrong in words."""
        stamps = np.frombuffer(self._stamps, dtype=np.int64)
        times = np.frombuffer(self._times, dtype=np.int64)
        if stamps.size < 2:
            return {'count': int(stamps.size), 'problems': []}
        steps, delays = np.diff(stamps), (times - stamps) * 1e-9
        forward = steps[steps > 0]
        median = float(np.median(forward)) if forward.size else 0.0
        gaps = steps > GAP * median
        jumps = np.abs(np.diff(delays)) > CLOCK_JUMP
        found: dict[str, Any] = {
            'count': int(stamps.size),
            'rate': 1e9 / median if median else 0.0,
            'jitter': float(np.percentile(np.abs(forward - median), 99) * 1e-9) if median else 0.0,
            'gaps': int(gaps.sum()),
            'longest_gap': float(steps.max() * 1e-9),
            'repeated_stamps': int((steps == 0).sum()),
            'backward_steps': int(((steps < 0) & (steps > -CLOCK_RESET)).sum()),
            'clock_resets': int((steps <= -CLOCK_RESET).sum()),
            'clock_jumps': int(jumps.sum()),
            'delay': float(np.median(delays)),
        }
        found['problems'] = [
            sentence.format(**found) for name, sentence in _SENTENCES.items() if found[name]
        ]
        return found


_SENTENCES = {
    'gaps': '{gaps} gaps, the longest {longest_gap:.3f} s: messages were lost',
    'repeated_stamps': '{repeated_stamps} stamps repeat the one before',
    'backward_steps': '{backward_steps} stamps go back',
    'clock_resets': '{clock_resets} times the clock starts anew',
    'clock_jumps': '{clock_jumps} times stamps and recording times move apart: a clock was set',
}
