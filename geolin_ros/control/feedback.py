# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The feedback law: what the motors should do, from where the robot is.

    u = u_ref - (K + K_complement) z - K_past du,   z = log(g_ref^-1 g)

with the reference that of the gains, or one that moves beside them, before limits and ramps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.control.lqr import Gains
from geolin_ros.dynamics.arguments import vector
from geolin_ros.model.state import State
from geolin_ros.typing import Array


class Feedback:
    """Feedback by ``gains``, of which others may be assigned; remembers the inputs it has sent."""

    def __init__(self, gains: Gains) -> None:
        self.gains = gains
        self._sent: list[Array] = []

    def efforts(
        self, state: State, reference: State | None = None, feedforward: ArrayLike | None = None
    ) -> Array:
        """Return the efforts (n_u,) of the actuated joints, neither clipped nor ramped.

        Raises `ShapeError` if a state or the feedforward has another size than the gains are for.

        Parameters
        ----------
        state
            Where the robot is.
        reference
            Where it should be, and how it should move; by default at the gains' operating point.
        feedforward : (n_u,)
            Efforts that this takes [N m or N]; by default those of the gains.
        """
        gains = self.gains
        wanted = gains.feedforward
        if feedforward is not None:
            wanted = vector('feedforward', feedforward, wanted.size, 'of the gains')
        z = (reference or gains.state).difference(state)
        u = wanted - (gains.K + gains.K_complement) @ z
        steps = gains.K_past.shape[1] // max(u.size, 1)
        if steps:
            latest = [sent - wanted for sent in self._sent[:steps]]
            latest += [np.zeros_like(wanted)] * (steps - len(latest))
            u = u - gains.K_past @ np.concatenate(latest)
        return u

    def sent(self, efforts: ArrayLike) -> None:
        """Remember what the motors were really sent this period, clipped and ramped."""
        now = np.array(efforts, dtype=np.float64)
        steps = self.gains.K_past.shape[1] // max(now.size, 1)
        self._sent = [now, *self._sent][:steps]
