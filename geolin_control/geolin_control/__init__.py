# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots kept standing by A and B: banks and files of gains, the law, its node."""
