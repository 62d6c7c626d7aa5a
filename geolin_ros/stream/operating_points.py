# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The stream without its kernel: for those who linearize many operating points at once."""

from collections.abc import Sequence

from geolin_ros.errors import ConfigurationError
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.linearization_stream import Answer, Counts, LinearizationStream
from geolin_ros.stream.settings import StreamSettings
from geolin_ros.typing import Array
from geolin_ros.wrenches import Wrench


class OperatingPoints(LinearizationStream):
    """Pairs and checks messages as the stream does; its answers hold where, not A and B.

    Attributes
    ----------
    forces
        Efforts (n,) and external wrenches under which the last answer is to be linearized.
    """

    def __init__(
        self, model: TreeModel, settings: StreamSettings, counts: Counts | None = None
    ) -> None:
        super().__init__(model, settings, counts)
        self._answer.forces = self._answer.tau, ()

    @property
    def forces(self) -> tuple[Array, Sequence[Wrench]]:
        """Efforts and wrenches, see above.

        Raises
        ------
        ConfigurationError
            If contacts are expected.
        """
        if self.settings.contacts.are_expected:
            raise ConfigurationError(
                'contacts are expected, but many operating points at once are linearized without '
                'them; take out contacts, or linearize one by one'
            )
        return self._answer.forces

    def _linearize_under(self, answer: Answer, tau: Array, wrenches: Sequence[Wrench]) -> None:
        """Leave the linearization to the caller."""
        answer.forces = tau, wrenches
