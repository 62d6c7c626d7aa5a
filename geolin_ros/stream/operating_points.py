# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The stream without its kernel: for those who linearize many operating points later."""

from collections.abc import Sequence
from typing import NamedTuple

from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import Answer, LinearizationStream
from geolin_ros.typing import Array


class OperatingPoint(NamedTuple):
    """A joint state with all that belongs to it: where to linearize, and under which forces."""

    stamp: int
    """[ns] of the joint state"""
    odometry_stamp: int
    """[ns]; zero with a fixed base"""
    state: State
    tau: Array
    """(n,) efforts that were measured or asked for"""
    efforts: Array
    """(n,) efforts to linearize under"""
    wrenches: tuple[Wrench, ...]
    """External wrenches to linearize under"""
    contacts: tuple[Closure, ...]
    """All contacts; the same tuple as long as nothing changes"""


class OperatingPoints(LinearizationStream):
    """Pairs and checks messages as the stream does; its answers hold where, not A and B."""

    def __init__(self, model: TreeModel, settings: StreamSettings) -> None:
        super().__init__(model, settings)
        self._result.forces = self._result.tau, ()

    @property
    def newest(self) -> OperatingPoint:
        """The last answer, on its own memory."""
        answer, contacts = self._result, self._held
        efforts, wrenches = answer.forces
        return OperatingPoint(
            answer.stamp,
            answer.odometry_stamp,
            answer.state.copy(),
            answer.tau.copy(),
            efforts.copy(),
            tuple(wrenches),
            () if contacts is None else contacts.linearizer.contacts,
        )

    def _linearize_under(self, answer: Answer, tau: Array, wrenches: Sequence[Wrench]) -> None:
        """Leave the linearization to the caller."""
        answer.forces = tau, wrenches
