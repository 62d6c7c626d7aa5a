# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pose, velocity and IMU biases of a floating base from its IMU, its joints and its contacts."""

from geolin_estimation.base_state.feet import Feet, FootForces
from geolin_estimation.base_state.filter import BaseEstimate, BaseFilter, Deviations

__all__ = ['BaseEstimate', 'BaseFilter', 'Deviations', 'Feet', 'FootForces']
