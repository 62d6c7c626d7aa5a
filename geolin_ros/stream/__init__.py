# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages in, linearizations out, without a graph: a node and a replay drive the same code.

Messages are anything with the fields of their ROS type (rclpy's, rosbags', plain objects).
"""
