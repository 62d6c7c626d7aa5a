# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Legs that reach for their feet along a trajectory: positions and rates of all nodes at once."""

from collections.abc import Sequence

import numpy as np

from geolin_ros.control.support import Support
from geolin_ros.dynamics.kinematics import Places, Points
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array, IntArray

DAMPING = 1e-4
LARGEST_STEP = 0.5  # [rad]
ITERATIONS = 6
ENOUGH = 5e-5  # [m, rad]


class Legs:
    """The ``joints`` between the base and each foot, by number."""

    def __init__(self, model: TreeModel, supports: Sequence[Support]) -> None:
        self.model = model
        self.points = Points(model, [support.at(model) for support in supports])
        state = model.random_state(np.random.default_rng(0))
        J = self.points([state]).J[0]
        joints = [np.flatnonzero(np.any(leg[:, 6:], axis=0)) for leg in J]
        self.joints: list[IntArray] = joints
        alike: dict[tuple[int, int], list[int]] = {}
        for k, support in enumerate(supports):
            alike.setdefault((support.rows, len(joints[k])), []).append(k)
        self._legs = [
            (size, np.array(feet), np.array([joints[k] for k in feet]))
            for (size, _), feet in alike.items()
        ]
        self._s = slice(16, 16 + model.n)
        self._last: Array | None = None

    def bend(self, data: Array, p: Array, R: Array, passed: int = 0) -> Places:
        """Move the legs of states (N, ...) so that feet are at p (N, K, 3), soles along R.

        Legs start as they were after the last call, where so many nodes have passed since.
        """
        self._take_up(data, passed)
        limits = self.model.limits
        for _ in range(ITERATIONS):
            at, error = self._step(data, p, R)
            if error < ENOUGH:
                break
        else:
            at = self.points(data)
        self._last = data[:, self._s].copy()
        np.clip(data[:, self._s], limits.lower, limits.upper, out=data[:, self._s])
        return at if np.array_equal(self._last, data[:, self._s]) else self.points(data)

    def approach(self, data: Array, p: Array, R: Array, passed: int) -> None:
        """Move the legs nearly as `bend`, by one step."""
        self._take_up(data, passed)
        self._step(data, p, R)
        self._last = data[:, self._s].copy()

    def _take_up(self, data: Array, passed: int) -> None:
        if self._last is not None:
            nodes = np.minimum(np.arange(len(data)) + passed, len(data) - 1)
            for _, _, joints in self._legs:
                data[:, 16 + joints] = self._last[nodes][:, joints]

    def _step(self, data: Array, p: Array, R: Array) -> tuple[Places, float]:
        """Move the legs unless they are near enough; return where feet were, and how far off."""
        at, errors = self.points(data), []
        for size, feet, _ in self._legs:
            error = p[:, feet] - at.p[:, feet]
            if size == 6:
                turn = turn_between(at.R[:, feet], R[:, feet])
                error = np.concatenate((error, turn), axis=-1)
            errors.append(error)
        largest = max(float(np.abs(error).max()) for error in errors)
        if largest >= ENOUGH:
            for (size, feet, joints), error in zip(self._legs, errors, strict=True):
                step = _reach(_of_legs(at, size, feet, joints), error)
                data[:, 16 + joints] += np.clip(step, -LARGEST_STEP, LARGEST_STEP)
        return at, largest

    def move(self, data: Array, at: Places, v: Array) -> None:
        """Set the rates of the legs so that feet move with v (N, K, 6) in world axes."""
        base = data[:, None, 16 + self.model.n : 22 + self.model.n, None]
        for size, feet, joints in self._legs:
            missing = v[:, feet, :size] - (at.J[:, feet, :size, :6] @ base)[..., 0]
            data[:, 22 + self.model.n + joints] = _reach(_of_legs(at, size, feet, joints), missing)


def turn_between(first: Array, second: Array) -> Array:
    """Return the sine times the axis (..., 3) of the turn from axes to others (..., 3, 3)."""
    R = second @ first.swapaxes(-1, -2)
    skew = 0.5 * (R - R.swapaxes(-1, -2))
    return np.stack((skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]), axis=-1)


def _of_legs(at: Places, size: int, feet: IntArray, joints: IntArray) -> Array:
    """Return the Jacobians (N, legs, size, joints) of feet by the joints of their legs."""
    J = at.J[:, feet, :size, 6:]
    return np.take_along_axis(J, joints[None, :, None, :], axis=3)


def _reach(J: Array, error: Array) -> Array:
    """Return damped least squares J^+ e of all nodes and legs."""
    J_t = J.swapaxes(-1, -2)
    M = J_t @ J + DAMPING * np.eye(J.shape[-1])
    return np.asarray(np.linalg.solve(M, J_t @ error[..., None])[..., 0], dtype=np.float64)
