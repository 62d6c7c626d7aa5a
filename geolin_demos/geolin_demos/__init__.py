# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What shows geolin_ros at work: a checked demo, robots that balance in MuJoCo, an MPC."""
