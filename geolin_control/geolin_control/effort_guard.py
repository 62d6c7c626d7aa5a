# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What stands between a feedback law and the motors: limits, ramps, and a way to fall back."""

import math
from dataclasses import dataclass

import numpy as np

from geolin_ros.errors import ConfigurationError
from geolin_ros.typing import Array


@dataclass(frozen=True)
class GuardSettings:
    """How efforts are guarded: the parameters of `lqr_node` of the same names [s].

    After a ``longest_gap`` between calls the ramp starts anew: stamps may jump, and a step back,
    or a longer one, counts as the step before it.
    """

    full_swing_time: float = 0.02
    ramp_time: float = 0.2
    damping_time: float = 0.05
    longest_gap: float = 0.02


@dataclass
class _Sent:
    """What the motors were given last, and when; guards that follow each other share it."""

    efforts: Array
    step: float
    time: float | None = None
    share: float = 0.0


class EffortGuard:
    """Clips, slows down and blends efforts, whatever it is asked for.

    All efforts that leave it lie within the limits (n_u,), positive [N m or N], and differ from
    the ones before by at most ``2 limit elapsed / full_swing_time``.
    """

    def __init__(self, limits: Array, settings: GuardSettings | None = None) -> None:
        self.settings = settings or GuardSettings()
        for name, value in vars(self.settings).items():
            if not 0.0 < value < math.inf:
                raise ConfigurationError(f'{name} is {value!r} s, expected a positive number')
        self.limits = np.array(limits, dtype=np.float64)
        self._sent = _Sent(np.zeros_like(self.limits), self.settings.longest_gap)

    @property
    def share(self) -> float:
        """How much of the efforts is feedback, 0 ... 1; the rest is damping."""
        return self._sent.share

    @property
    def has_begun(self) -> bool:
        """Whether it has given any efforts."""
        return self._sent.time is not None

    def begin(self, efforts: Array) -> None:
        """Start from efforts (n_u,) that the motors give already, instead of from zero."""
        self._sent.efforts = np.clip(efforts, -self.limits, self.limits)

    def resume(self, earlier: 'EffortGuard') -> None:
        """Go on where an earlier guard of the same motors is, from now on together with it."""
        self._sent = earlier._sent

    def feedback(self, time: float, wanted: Array, rates: Array) -> Array:
        """Return the efforts (n_u,) for a law that wants ``wanted`` at ``time`` [s].

        ``rates`` (n_u,) are those of the actuated joints, damped where efforts are not finite.
        """
        if not np.all(np.isfinite(wanted)):
            return self.damp(time, rates)
        elapsed = self._elapsed(time)
        share = min(1.0, self.share + elapsed / self.settings.ramp_time)
        self._sent.share = share
        wanted = np.clip(wanted, -self.limits, self.limits)
        return self._approach(share * wanted + (1.0 - share) * self._damping(rates), elapsed)

    def damp(self, time: float, rates: Array) -> Array:
        """Return the efforts that only slow the joints down; feedback is ramped in again later."""
        elapsed = self._elapsed(time)
        self._sent.share = 0.0
        return self._approach(self._damping(rates), elapsed)

    def release(self, time: float) -> Array:
        """Return efforts on their way to zero, where not even the rates are known."""
        return self.damp(time, np.zeros_like(self.limits))

    def _elapsed(self, time: float) -> float:
        """Return the time since the last call; the ramp starts anew after a gap."""
        sent = self._sent
        last, sent.time = sent.time, time
        if last is None:
            return 0.0
        if 0.0 <= time - last <= self.settings.longest_gap:
            sent.step = time - last
        else:
            sent.share = 0.0
        return sent.step

    def _damping(self, rates: Array) -> Array:
        fastest = 1.0 / self.settings.damping_time
        return -self.limits / fastest * np.clip(np.nan_to_num(rates), -fastest, fastest)

    def _approach(self, wanted: Array, elapsed: float) -> Array:
        step = 2.0 * self.limits * elapsed / self.settings.full_swing_time
        sent = self._sent
        change = np.clip(wanted - sent.efforts, -step, step)
        sent.efforts = np.clip(sent.efforts + change, -self.limits, self.limits)
        return sent.efforts.copy()
