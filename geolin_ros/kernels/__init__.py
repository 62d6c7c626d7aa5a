# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled recursions on plain arrays: numba, numpy and math only."""
