# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A reference that goes with the feet: after a slip it is where the robot stands now.

A reference fixed in the world no longer fits feet that have slid: the feedback would pull the base
back over where they were, and slip after slip adds up until the robot falls. Moved along the
ground, by the rigid planar motion that brings its feet nearest to the robot's, it fits again. As
long as the contacts hold that motion is none, so that linear designs are what they were.
"""

from collections.abc import Sequence

import numpy as np

from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel


def anchored(model: TreeModel, reference: State, state: State, frames: Sequence[str]) -> State:
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
    ends = Kinematics(model, reference), Kinematics(model, state)
    poses = [[at.pose(frame) for frame in frames] for at in ends]
    if not poses[0]:
        return reference
    places = np.array([[H[:2, 3] for H in feet] for feet in poses])
    if len(places[0]) == 1:  # a second point, a metre ahead, says where it heads
        ahead = [feet[0][:2, 3] + feet[0][:2, 0] for feet in poses]
        places = np.stack((places[:, 0], ahead), axis=1)
    before, after = places - places.mean(axis=1, keepdims=True)
    across = np.sum(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0])
    yaw = np.arctan2(across, np.sum(before * after))
    T = np.eye(4)
    T[:2, :2] = [[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]
    centre, place = places.mean(axis=1)
    T[:2, 3] = place - T[:2, :2] @ centre
    moved = reference.copy()
    moved.H[:] = T @ reference.H
    return moved
