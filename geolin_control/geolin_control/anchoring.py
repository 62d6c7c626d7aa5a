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
    if not frames:
        return reference
    ends = Kinematics(model, reference), Kinematics(model, state)
    poses = np.array([[at.pose(frame) for frame in frames] for at in ends])
    places = poses[..., 0, 3] + 1j * poses[..., 1, 3]  # x + i y
    if len(frames) == 1:  # a second point, a metre ahead, says where it heads
        places = np.hstack((places, places + poses[..., 0, 0] + 1j * poses[..., 1, 0]))
    centre, place = places.mean(axis=1)
    turn = np.exp(1j * np.angle(np.vdot(places[0] - centre, places[1] - place)))
    way = place - turn * centre
    T = [[turn.real, -turn.imag, 0.0, way.real], [turn.imag, turn.real, 0.0, way.imag]]
    moved = reference.copy()
    moved.H[:2] = T @ reference.H
    return moved
