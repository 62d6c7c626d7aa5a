# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Vectors of several numbers: types, lanes, spatial vectors, products."""
