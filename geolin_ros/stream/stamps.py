# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""builtin_interfaces/Time as one integer."""

from typing import Any


def nanoseconds(stamp: Any) -> int:
    """Return a stamp as integer nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
