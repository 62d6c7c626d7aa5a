# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot on a floor, simulated by MuJoCo (extra ``mujoco``): states, efforts, pushes, sensors."""
