# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled code on arrays; none of these modules imports another: see `_jit` of geolin_ros."""
