# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The torque estimator beside a simulated humanoid whose torques are known."""
