# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What streams of a robot's state have in common, whatever they answer."""

from typing import TypeVar

from geolin_ros.stream.inputs.state_input import StateInput
from geolin_ros.stream.topics import Counts, TopicStream

T = TypeVar('T')


class StateStream(TopicStream[T]):
    """A stream that answers about the state of base and joints."""

    def __init__(self, counts: Counts, states: StateInput) -> None:
        super().__init__(counts)
        self._states = states

    @property
    def world_frame(self) -> str:
        """Frame that the base pose is seen from; of a fixed base it is the base link itself."""
        return self._states.world_frame

    @property
    def newest_stamps(self) -> dict[str, int | None]:
        """Stamps [ns] of the inputs taken last, None before the first."""
        return self._states.newest_stamps
