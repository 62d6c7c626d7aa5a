# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Algorithms of papers as printed, misprints corrected: to read, to test and to benchmark."""
