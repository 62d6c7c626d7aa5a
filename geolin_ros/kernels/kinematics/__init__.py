# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the bodies of a tree of any joints are and how they move, in body frames."""
