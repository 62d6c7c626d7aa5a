# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A reference that goes with the feet: after a slip it is where the robot stands now.

A reference fixed in the world no longer fits feet that have slid: the feedback would pull the base
back over where they were, and slip after slip adds up until the robot falls. Moved along the
ground, by the rigid planar motion that brings its feet nearest to the robot's, it fits again. As
long as the contacts hold that motion is none, so that linear designs are what they were.
"""

from collections.abc import Iterable

import numpy as np

from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array

HEADING = np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
"""Two points of a frame, as columns: its origin, and one metre ahead."""


def anchored(model: TreeModel, reference: State, state: State, frames: Iterable[str]) -> State:
    """Return the reference, moved along the ground to the feet of a state.

    Least squares over the feet's places seen from above; of a single foot its heading too. Raises
    `UnknownNameError` if a foot is no link of the robot.

    Parameters
    ----------
    reference, state
        Where it should be, and where it is.
    frames
        The feet that carry it; without any the reference is not moved.
    """
    frames = list(frames)
    if not frames:
        return reference
    wanted, actual = Kinematics(model, reference), Kinematics(model, state)
    if len(frames) == 1:  # two points of the foot then say where it heads
        before, after = ((at.pose(frames[0])[:2] @ HEADING).T for at in (wanted, actual))
    else:
        before, after = (
            np.array([at.pose(frame)[:2, 3] for frame in frames]) for at in (wanted, actual)
        )
    centre, place = before.mean(axis=0), after.mean(axis=0)
    yaw = _turn(before - centre, after - place)
    T = np.eye(4)
    T[:2, :2] = [[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]
    T[:2, 3] = place - T[:2, :2] @ centre
    moved = reference.copy()
    moved.H[:] = T @ reference.H
    return moved


def _turn(before: Array, after: Array) -> float:
    """Return the angle [rad] that turns points (k, 2) about the origin nearest to others."""
    across = np.sum(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0])
    return float(np.arctan2(across, np.sum(before * after)))
