# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The one way into a stream; why an input was not answered, and the order of stamps."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, TypeVar

import numpy as np

from geolin_ros.errors import InputError

T = TypeVar('T')


class Cause(Enum):
    """What was wrong with an input; the values are the keys of the diagnostics."""

    NO_MODEL = 'no robot description yet'
    NO_ODOMETRY = 'no odometry yet'
    NO_EFFORT = 'no efforts yet'
    NO_ACCELERATION = 'no accelerations yet'
    NO_VELOCITY = 'no velocity of the base yet'
    NO_WRENCH = 'wrench missing or too old'
    NO_CONTACTS = 'no contacts yet, or foot forces too old'
    CONTACT = 'contact not understood'
    SKEW = 'odometry too far from the joint state'
    BACKWARDS = 'stamp not after the last one'
    MISSING_JOINT = 'joint missing'
    JOINT_TWICE = 'joint named twice'
    LENGTH = 'array of wrong length'
    MISSING_VELOCITY = 'joint velocities missing'
    MISSING_EFFORT = 'joint efforts missing'
    NOT_FINITE = 'NaN or inf'
    QUATERNION = 'quaternion not of unit length'
    FRAME = 'frame not on the base link'
    NO_IMU = 'IMU missing or too old'
    IMU_FRAME = 'IMU in another frame'
    IMU_PART = 'IMU without acceleration or angular velocity'
    WRENCH_FRAME = 'wrench in another frame'
    COVARIANCE = 'covariance not positive definite'
    UNSOLVABLE = 'variables not determined'
    SINGULAR = 'singular inertia'
    CONTACTS = 'contacts that are no supports'
    REFERENCE = 'reference not usable'


EARLY = frozenset(cause for cause in Cause if cause.name.startswith('NO_'))
"""What every start in the middle of things brings with it: nothing is wrong with these inputs."""


class DroppedInput(InputError):  # noqa: N818 - an event, not a failure
    """An input that is dropped, with its `Cause`; the stream goes on with the next one."""

    def __init__(self, cause: Cause, message: str) -> None:
        super().__init__(message)
        self.cause = cause


def check_finite(what: str, values: Any) -> None:
    """Raise `DroppedInput` if a number of ``what`` is not finite."""
    if not np.isfinite(values).all():
        raise DroppedInput(
            Cause.NOT_FINITE,
            f'{what} is {np.asarray(values).tolist()}, expected finite numbers; correct its '
            'publisher',
        )


def check_unit(what: str, length: float, tolerance: float) -> None:
    """Raise `DroppedInput` if a quaternion is not as long as one of a rotation."""
    if not abs(length - 1.0) <= tolerance:
        raise DroppedInput(
            Cause.QUATERNION,
            f'{what} has an orientation of length {length:g}, expected 1 within {tolerance:g}; '
            'send a unit quaternion (x, y, z, w)',
        )


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

    def lack(self, stamp: int, most: float, of: str = 'joint state') -> str:
        """Return why this counts for nothing at a stamp; empty if it is ``most`` [s] off."""
        if self.stamp is None:
            return f'no {self.what} yet'
        distance = (stamp - self.stamp) * 1e-9
        if abs(distance) <= most:
            return ''
        return (
            f'the newest {self.what} is {distance:+.4f} s away from the {of}, more than {most:g} s'
        )


@dataclass
class Counts:
    """What became of the joint states, since the start."""

    received: int = 0
    answered: int = 0
    skipped: int = 0
    """Left out on purpose, to keep to max_rate."""
    parts: int = 0
    """Parts that were merged into a later one."""
    drops: Counter[Cause] = field(default_factory=Counter)

    @property
    def dropped(self) -> int:
        """All drops, of any cause."""
        return sum(self.drops.values())


class TopicStream(Generic[T]):
    """Hands each message to what takes its topic; node, replay and tests call `take` alone.

    ``on_drop`` is called with each input that cannot be used, after it is counted; None: `take`
    raises it.
    """

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.on_drop: Callable[[DroppedInput], object] | None = None
        self._topics: Mapping[str, Callable[[Any], T | None]] = {}

    @property
    def waits_for(self) -> str:
        """What has to come before joint states are answered; empty if nothing has."""
        return ''

    def take(self, topic: str, message: Any) -> Iterator[T]:
        """Take a message and yield what it makes known: usually nothing or one answer.

        ``topic`` is the node's name for it; one that the settings do not name is passed over.
        ``message`` is anything with the fields of its ROS type.
        """
        reader = self._topics.get(topic)
        if reader is not None:
            yield from self._answer(reader, message)

    def _answer(self, step: Callable[..., T | None], *message: Any) -> Iterator[T]:
        try:
            answer = step(*message)
        except DroppedInput as drop:
            self.counts.drops[drop.cause] += 1
            if self.on_drop is None:
                raise
            self.on_drop(drop)
            return
        if answer is not None:
            yield answer
