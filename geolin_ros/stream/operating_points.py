# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The stream without its kernel: for those who linearize many operating points at once."""

from collections.abc import Sequence

from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import Answer, LinearizationStream
from geolin_ros.typing import Array


class OperatingPoints(LinearizationStream):
    """Pairs and checks messages as the stream does; its answers hold where, not A and B.

    Attributes
    ----------
    forces
        Efforts (n,) and external wrenches under which the last answer is to be linearized.
    """

    def __init__(self, model: TreeModel, settings: StreamSettings) -> None:
        super().__init__(model, settings)
        self._result.forces = self._result.tau, ()

    @property
    def forces(self) -> tuple[Array, Sequence[Wrench]]:
        """Efforts and wrenches, see above."""
        return self._result.forces

    @property
    def contacts(self) -> tuple[Closure, ...]:
        """All contacts at the last answer; the same tuple as long as nothing changes."""
        return () if self._held is None else self._held.linearizer.contacts

    def _linearize_under(self, answer: Answer, tau: Array, wrenches: Sequence[Wrench]) -> None:
        """Leave the linearization to the caller."""
        answer.forces = tau, wrenches
