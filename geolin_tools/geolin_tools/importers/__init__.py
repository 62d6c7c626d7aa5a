# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Logs of other kinds than bags, read by a mapping of their columns and written as bags."""
