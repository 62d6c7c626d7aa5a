# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A reference goes with feet that have slid, and stays where feet stay."""

import numpy as np
import pytest
from geolin_control.anchoring import anchored
from support.standing import stance

from geolin_ros.control.posture import standing_posture
from geolin_ros.spatial import se3


@pytest.mark.parametrize('robot', ['quadruped', 'humanoid'])
@pytest.mark.parametrize('feet', [1, None])
def test_reference__goes_with_feet_that_all_slide(robot, feet):
    model, supports, reference = stance(robot)
    slide = se3.exp([0.03, -0.02, 0.0, 0.0, 0.0, 0.2])
    state = reference.copy()
    state.H[:] = slide @ reference.H
    frames = [support.frame for support in supports[:feet]]
    moved = anchored(model, reference, state, frames)
    np.testing.assert_allclose(moved.data, state.data, atol=1e-12)


def test_reference__stays_without_feet():
    model, _, reference = stance('quadruped')
    state = reference.copy()
    state.H[0, 3] += 0.1
    np.testing.assert_array_equal(anchored(model, reference, state, []).data, reference.data)


def test_reference__stays_while_the_feet_do():
    model, supports, reference = stance('humanoid')
    low = standing_posture(model, supports, start=reference, height=reference.H[2, 3] - 0.1)
    moved = anchored(model, reference, low, [support.frame for support in supports])
    np.testing.assert_allclose(moved.data, reference.data, atol=1e-8)
