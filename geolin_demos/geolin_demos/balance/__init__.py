# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots balance in simulation: simulator, linearizer and feedback as processes over DDS."""
