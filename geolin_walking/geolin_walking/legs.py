# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Legs that reach for their feet along a trajectory: positions and rates of all nodes at once."""

from collections.abc import Sequence

import numpy as np

from geolin_ros.control.support import Support
from geolin_ros.dynamics.points import Places, Points
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array

DAMPING = 1e-4
LARGEST_STEP = 0.5  # [rad]
ITERATIONS = 6
ENOUGH = 1e-5  # [m, rad]


class Legs:
    """The joints between the base and each foot.

    Parameters
    ----------
    model, supports
        The robot and its feet.
    """

    def __init__(self, model: TreeModel, supports: Sequence[Support]) -> None:
        self.model = model
        self.points = Points(model, [support.at(model) for support in supports])
        self._sizes = [support.rows for support in supports]
        state = model.random_state(np.random.default_rng(0))
        J = self.points([state]).J[0]
        self._joints = [np.flatnonzero(np.any(J[k, :, 6:], axis=0)) for k in range(len(supports))]
        self._s = slice(16, 16 + model.n)
        self._last: Array | None = None

    def bend(self, data: Array, p: Array, R: Array) -> Places:
        """Move the legs of states (N, ...) so that feet are at p (N, K, 3), soles along R.

        Legs start as they were after the last call.
        """
        last = self._last
        if last is not None:
            for joints in self._joints:
                data[:, 16 + joints] = last[:, joints]
        for _ in range(ITERATIONS):
            at = self.points(data)
            largest = 0.0
            for k, (joints, size) in enumerate(zip(self._joints, self._sizes, strict=True)):
                error = p[:, k] - at.p[:, k]
                if size == 6:
                    turned = R[:, k] @ at.R[:, k].transpose(0, 2, 1)
                    axes = 0.5 * (turned - turned.transpose(0, 2, 1))
                    turn = np.stack((axes[:, 2, 1], axes[:, 0, 2], axes[:, 1, 0]), axis=1)
                    error = np.hstack((error, turn))
                step = _reach(at.J[:, k, :size, 6:][..., joints], error)
                largest = max(largest, float(np.abs(error).max()))
                data[:, 16 + joints] += np.clip(step, -LARGEST_STEP, LARGEST_STEP)
            if largest < ENOUGH:
                break
        limits = self.model.limits
        self._last = data[:, self._s].copy()
        np.clip(data[:, self._s], limits.lower, limits.upper, out=data[:, self._s])
        return self.points(data)

    def move(self, data: Array, at: Places, v: Array) -> None:
        """Set the rates of the legs so that feet move with v (N, K, 6) in world axes."""
        base = data[:, 16 + self.model.n : 22 + self.model.n, None]
        for k, (joints, size) in enumerate(zip(self._joints, self._sizes, strict=True)):
            J = at.J[:, k, :size]
            missing = v[:, k, :size] - (J[..., :6] @ base)[..., 0]
            data[:, 22 + self.model.n + joints] = _reach(J[..., 6:][..., joints], missing)


def _reach(J: Array, error: Array) -> Array:
    """Return damped least squares J^+ e of all nodes."""
    J_t = J.transpose(0, 2, 1)
    M = J_t @ J + DAMPING * np.eye(J.shape[2])
    return np.asarray(np.linalg.solve(M, J_t @ error[..., None])[..., 0], dtype=np.float64)
