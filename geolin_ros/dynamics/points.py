# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Places and Jacobians of a few frames at many states, in one call."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.dynamics.samples import States, state_rows
from geolin_ros.kernels.kinematics import place_points
from geolin_ros.kernels.packing.types import make_workspace
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.typing import Array


class Places(NamedTuple):
    """Where K frames are at N states, and how they move."""

    p: Array
    """(N, K, 3) origins in the world [m]."""
    R: Array
    """(N, K, 3, 3) axes in the world."""
    J: Array
    """(N, K, 6, m) from nu = (base twist; joint rates) to [linear; angular] in world axes."""


class Points:
    """Frames of a robot, placed at many states at a time.

    Parameters
    ----------
    model
        A robot with a floating base.
    frames
        Frames fixed to bodies of it, see `TreeModel.frame`.
    """

    def __init__(self, model: TreeModel, frames: Sequence[Frame]) -> None:
        self.model = model
        self._workspace = make_workspace(model.tree)
        self._bodies = np.array([frame.body for frame in frames], dtype=np.int64)
        self._places = np.array([frame.placement[:3, 3] for frame in frames])
        self._turns = np.array([frame.placement[:3, :3] for frame in frames])

    def __call__(self, states: States) -> Places:
        """Return where the frames are.

        Raises `ShapeError` or `NotFiniteError` if the states are not those of the robot.
        """
        data = state_rows(self.model, states)
        shape = len(data), len(self._bodies)
        p, R = np.empty((*shape, 3)), np.empty((*shape, 3, 3))
        J = np.empty((*shape, 6, 6 + self.model.n))
        place_points(self.model.tree, self._workspace, data, self._bodies, self._places, p, R, J)
        return Places(p, R @ self._turns, J)
