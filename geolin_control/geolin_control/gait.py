# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains along a motion that repeats itself: a gait, from standing on.

    z_{k+1} = A_k z_k + B_k w_k about x_k, u_k;   u = u_k - (K_k + K_complement_k) z

The optimal gains of a periodic system repeat with it [Bittanti 1991]: the Riccati recursion goes
backwards over the period until it returns what it began with, and from there over the start. Of
what contacts forbid, only velocities are damped: where a foot has landed, it stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from geolin_ros.control.lqr import Gains
from geolin_ros.errors import NotStabilizableError
from geolin_ros.typing import Array

MOST_PERIODS = 100
"""Over which the gains have to become periodic."""
SAME = 1e-10
"""Relative change of the cost over a period of gains that are."""


class Step(NamedTuple):
    """A and B from one knot to the next, and what z and w cost there: z'Qz + 2 w'Sz + w'Rw."""

    A: Array
    B: Array
    Q: Array
    R: Array
    S: Array


@dataclass(frozen=True, eq=False)
class GaitGains:
    """Gains at knots one ``dt`` apart: a start from rest, then a period that repeats.

    Attributes
    ----------
    knots
        Each with the state to be in, which moves, and the supports in contact until the next.
    first
        Knots before the period.
    displacement : (4, 4)
        Where a period takes the robot: a turn about the vertical and a way along the ground.
    """

    model_hash: str
    knots: tuple[Gains, ...]
    first: int
    displacement: Array

    @property
    def period(self) -> float:
        """Time in which the gait repeats itself [s]."""
        return (len(self.knots) - self.first) * self.knots[0].dt

    def at(self, time: float, place: Array) -> Gains:
        """Return gains and state at a time [s] since the robot stood, before which it stands.

        ``place`` (4, 4) leads from the world in which the gait was planned to that of the robot.
        """
        dt = self.knots[0].dt
        passed = int(np.floor(max(time, 0.0) / dt + 1e-9))
        share = min(max(max(time, 0.0) / dt - passed, 0.0), 1.0)
        ends = []
        for number in (passed, passed + 1):
            repeats, k = divmod(max(number - self.first, 0), len(self.knots) - self.first)
            knot = self.knots[min(number, self.first) + k]
            state = knot.state.copy()
            state.H = place @ np.linalg.matrix_power(self.displacement, repeats) @ state.H
            ends.append(replace(knot, state=state))
        knot, after = ends
        state = knot.state.retract(share * knot.state.difference(after.state))
        return replace(knot, state=state)


def gains_along(steps: Sequence[Step], first: int) -> tuple[Array, float]:
    """Return K (N, n_u, n_x) of w = -K z, and how much of z is left over a period at most.

    The steps from number ``first`` on repeat for ever. Raises `NotStabilizableError` if the
    recursion does not settle.
    """
    P = steps[first].Q
    for _ in range(MOST_PERIODS):
        before, (P, K) = P, _backwards(P, steps[first:])
        if np.linalg.norm(P - before) <= SAME * np.linalg.norm(P):
            break
    else:
        raise NotStabilizableError(
            f'gains of a gait of {len(steps) - first} steps do not become periodic within '
            f'{MOST_PERIODS} periods, expected inputs that reach all motions that do not decay'
        )
    left = np.eye(len(P))
    for step, gain in zip(steps[first:], K, strict=True):
        left = (step.A - step.B @ gain) @ left
    _, start = _backwards(P, steps[:first])
    return np.array([*start, *K]), float(np.abs(np.linalg.eigvals(left)).max())


def _backwards(P: Array, steps: Sequence[Step]) -> tuple[Array, list[Array]]:
    """Return the cost before some steps, of the cost P after them, and their gains."""
    gains = list[Array]()
    for A, B, Q, R, S in reversed(steps):
        G = S + B.T @ P @ A
        K = np.asarray(np.linalg.solve(R + B.T @ P @ B, G), dtype=np.float64)
        P = Q + A.T @ P @ A - G.T @ K
        P = 0.5 * (P + P.T)
        gains.append(K)
    return P, gains[::-1]
