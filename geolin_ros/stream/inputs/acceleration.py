# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""nu_dot from what sensors say of twist and joint rates."""

import numpy as np

from geolin_ros.model.tree import Base
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.differentiation import Differentiator
from geolin_ros.typing import Array


class MeasuredAcceleration:
    """Rates of the body twist at odometries and of the joint rates at joint states.

    Parameters
    ----------
    base
        A fixed one has no rate.
    cutoff
        Of the filter [Hz]; see `Differentiator`.
    """

    def __init__(self, base: Base, cutoff: float) -> None:
        self._base, self._joints = Differentiator(cutoff), Differentiator(cutoff)
        self._parts = (self._base, self._joints) if base == 'floating' else (self._joints,)

    @property
    def delay(self) -> float:
        """How late nu_dot is [s]."""
        return max(part.delay for part in self._parts)

    def add_base(self, stamp: int, v: Array) -> None:
        """Take a body twist (6,) at ``stamp`` [ns]."""
        self._base.add(stamp, v)

    def add_joints(self, stamp: int, r: Array) -> None:
        """Take joint rates (n,) at ``stamp`` [ns]."""
        self._joints.add(stamp, r)

    def forget(self) -> None:
        """Start anew, after the clock was set back."""
        for part in self._parts:
            part.forget()

    def nu_dot(self) -> Array:
        """Return the newest nu_dot (m,).

        Raises `DroppedInput` if there are no two samples of each yet.
        """
        rates = [part.rate for part in self._parts if part.rate is not None]
        if len(rates) < len(self._parts):
            raise DroppedInput(
                Cause.NO_ACCELERATION,
                'no accelerations yet, expected two joint states and two odometries first',
            )
        return np.concatenate(rates)
