# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""builtin_interfaces/Time as one integer, and the order of stamps."""

from typing import Any

from geolin_ros.stream.drops import Cause, DroppedInput


def nanoseconds(stamp: Any) -> int:
    """Return a stamp as integer nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


CLOCK_RESET = 1_000_000_000
"""A stamp this much earlier [ns] than the last one is a clock that was set back."""


def starts_anew(what: str, stamp: int, last: int | None) -> bool:
    """Whether ``stamp`` is the first one, or of a clock that was set back, as in a replay.

    Raises `DroppedInput` if it is neither, nor after the ``last`` one.
    """
    if last is None or last - stamp >= CLOCK_RESET:
        return True
    if stamp <= last:
        raise DroppedInput(
            Cause.BACKWARDS,
            f'{what} is stamped {(last - stamp) * 1e-9:.6f} s before the last one taken, '
            'expected a later stamp; check the clock and the order of the publisher',
        )
    return False


def absence(what: str, stamp: int, newest: int | None, most: float) -> str:
    """Return why the newest ``what`` does not count at a joint state; empty if it does.

    Stamps are in ns; ``most`` is the longest distance in time [s].
    """
    if newest is None:
        return f'no {what} yet'
    distance = (stamp - newest) * 1e-9
    if abs(distance) <= most:
        return ''
    return (
        f'the newest {what} is {distance:+.4f} s away from the joint state, more than {most:g} s'
    )
