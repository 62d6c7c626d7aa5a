# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From an MJCF file, by MuJoCo's own reader, to a description (extra ``mujoco``)."""

from geolin_ros.mjcf.reader import Reading, is_mjcf, read, read_shapes

__all__ = ['Reading', 'is_mjcf', 'read', 'read_shapes']
