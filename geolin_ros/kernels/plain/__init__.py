# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics in plain loops, beside the papers: one text for a number, a complex one, or eight."""
