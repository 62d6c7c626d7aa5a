# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""ROS 2 nodes: parameters, subscriptions and publishers around the stream; no math."""

import os

# A node shares the cores with the rest of the robot, and its matrices are small: eigenvalues on
# all cores, once a second, would hold up the joint states. Works only before NumPy is loaded.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
