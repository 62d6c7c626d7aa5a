# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""builtin_interfaces/Time as one integer, the order of stamps, and the newest message."""

from dataclasses import dataclass
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


@dataclass
class NewestMessage:
    """The newest message of a topic: its stamp [ns], None before the first, and what it says."""

    what: str
    stamp: int | None = None
    value: Any = None

    def next(self, message: Any) -> int:
        """Return the stamp of a message; raise `DroppedInput` if it is not after this one."""
        stamp = nanoseconds(message.header.stamp)
        starts_anew(self.what, stamp, self.stamp)
        return stamp

    def lack(self, stamp: int, most: float) -> str:
        """Return why this counts for nothing at a joint state; empty if it is ``most`` [s] off."""
        if self.stamp is None:
            return f'no {self.what} yet'
        distance = (stamp - self.stamp) * 1e-9
        if abs(distance) <= most:
            return ''
        return (
            f'the newest {self.what} is {distance:+.4f} s away from the joint state, more than '
            f'{most:g} s'
        )
