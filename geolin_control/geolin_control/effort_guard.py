# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What stands between a feedback law and the motors: limits, ramps, and a way to fall back."""

import math
from dataclasses import dataclass, fields

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


class EffortGuard:
    """Clips, slows down and blends efforts, whatever it is asked for.

    All efforts that leave it lie within the limits (n_u,), positive [N m or N], and differ from
    the ones before by at most ``2 limit elapsed / full_swing_time``. ``share`` is how much of
    them is feedback, 0 ... 1; the rest is damping.
    """

    def __init__(self, limits: Array, settings: GuardSettings | None = None) -> None:
        self.settings = settings or GuardSettings()
        for field in fields(GuardSettings):
            value = getattr(self.settings, field.name)
            if not 0.0 < value < math.inf:
                raise ConfigurationError(
                    f'{field.name} is {value!r} s, expected a positive number'
                )
        self.limits = np.array(limits, dtype=np.float64)
        self.share, self._efforts = 0.0, np.zeros_like(self.limits)
        self._time: float | None = None
        self._step = self.settings.longest_gap

    @property
    def has_begun(self) -> bool:
        """Whether it has given any efforts."""
        return self._time is not None

    def begin(self, efforts: Array) -> None:
        """Start from efforts (n_u,) that the motors give already, instead of from zero."""
        self._efforts = np.clip(efforts, -self.limits, self.limits)

    def feedback(self, time: float, wanted: Array, rates: Array) -> Array:
        """Return the efforts (n_u,) for a law that wants ``wanted`` at ``time`` [s].

        ``rates`` (n_u,) are those of the actuated joints, damped where efforts are not finite.
        """
        if not np.isfinite(wanted).all():
            return self.damp(time, rates)
        elapsed = self._elapsed(time)
        share = self.share = min(1.0, self.share + elapsed / self.settings.ramp_time)
        wanted = np.clip(wanted, -self.limits, self.limits)
        return self._approach(share * wanted + (1.0 - share) * self._damping(rates), elapsed)

    def damp(self, time: float, rates: Array) -> Array:
        """Return the efforts that only slow the joints down; feedback is ramped in again later."""
        elapsed = self._elapsed(time)
        self.share = 0.0
        return self._approach(self._damping(rates), elapsed)

    def release(self, time: float) -> Array:
        """Return efforts on their way to zero, where not even the rates are known."""
        return self.damp(time, np.zeros_like(self.limits))

    def _elapsed(self, time: float) -> float:
        """Return the time since the last call; the ramp starts anew after a gap."""
        last, self._time = self._time, time
        if last is None:
            return 0.0
        if 0.0 <= time - last <= self.settings.longest_gap:
            self._step = time - last
        else:
            self.share = 0.0
        return self._step

    def _damping(self, rates: Array) -> Array:
        fastest = 1.0 / self.settings.damping_time
        return -self.limits / fastest * np.clip(np.nan_to_num(rates), -fastest, fastest)

    def _approach(self, wanted: Array, elapsed: float) -> Array:
        step = 2.0 * self.limits * elapsed / self.settings.full_swing_time
        change = np.clip(wanted - self._efforts, -step, step)
        self._efforts = np.clip(self._efforts + change, -self.limits, self.limits)
        return self._efforts.copy()
