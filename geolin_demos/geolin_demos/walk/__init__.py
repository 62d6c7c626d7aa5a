# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots that walk in MuJoCo, pushed: `geolin_walking` in one process with the simulator."""
