# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses, twists and frames of rigid bodies; Lie groups."""
