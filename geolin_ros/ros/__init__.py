# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""ROS 2 nodes: parameters, subscriptions and publishers around the stream; no math."""
