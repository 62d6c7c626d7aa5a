# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From A and B to a robot that stands: postures, equilibria, gains, and the law that uses them."""
