# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""builtin_interfaces/Time as one integer."""

from typing import Any


def nanoseconds(stamp: Any) -> int:
    """Return a stamp as integer nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


CLOCK_RESET = 1_000_000_000
"""A stamp this much earlier [ns] than the last one is a clock that was set back."""


def was_set_back(last: int, stamp: int) -> bool:
    """Whether ``stamp`` belongs to a clock that started anew since ``last``, as in a replay."""
    return last - stamp >= CLOCK_RESET
