# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The one way into a stream: a message and its topic in, answers out."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from geolin_ros.stream.drops import Cause, DroppedInput

if TYPE_CHECKING:
    from geolin_ros.stream.inputs.state_input import StateInput

T = TypeVar('T')


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


def _raise(drop: DroppedInput) -> NoReturn:
    raise drop


class TopicStream(Generic[T]):
    """Hands each message to what takes its topic; node, replay and tests call `take` alone.

    ``on_drop`` is called with each input that cannot be used, after it is counted; by default it
    raises it.
    """

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.on_drop: Callable[[DroppedInput], object] = _raise
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
        if reader is None:
            return
        yield from self._answer(reader, message)
        while self._can_answer():
            yield from self._answer(self._next_answer)

    def _can_answer(self) -> bool:
        """Whether something that had to wait has all it needs."""
        return False

    def _next_answer(self) -> T | None:
        """Answer what has waited longest."""
        raise NotImplementedError

    def _answer(self, step: Callable[..., T | None], *message: Any) -> Iterator[T]:
        try:
            answer = step(*message)
        except DroppedInput as drop:
            self.counts.drops[drop.cause] += 1
            self.on_drop(drop)
            return
        if answer is not None:
            yield answer


class StateStream(TopicStream[T]):
    """A stream that answers about the state of base and joints."""

    _states: 'StateInput'

    @property
    def world_frame(self) -> str:
        """Frame that the base pose is seen from; of a fixed base it is the base link itself."""
        return self._states.world_frame

    @property
    def newest_stamps(self) -> dict[str, int | None]:
        """Stamps [ns] of the inputs taken last, None before the first."""
        return self._states.newest_stamps
