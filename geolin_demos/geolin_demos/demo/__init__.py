# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The main job in three processes over DDS: a robot, the node, and a consumer that checks it."""
