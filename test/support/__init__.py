# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Referees and random robots that the tests share; nothing here imports a kernel."""
