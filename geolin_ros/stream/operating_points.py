# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The stream without its kernel: for those who linearize many operating points at once."""

from collections.abc import Sequence

from geolin_ros.stream.linearization_stream import Answer, LinearizationStream
from geolin_ros.typing import Array
from geolin_ros.wrenches import Wrench


class OperatingPoints(LinearizationStream):
    """Pairs and checks messages as the stream does; its answers hold where, not A and B.

    Attributes
    ----------
    forces
        Efforts (n,) and external wrenches under which the last answer is to be linearized.
    """

    forces: tuple[Array, Sequence[Wrench]]

    def _linearize_under(self, answer: Answer, tau: Array, wrenches: Sequence[Wrench]) -> None:
        """Leave the linearization to the caller."""
        self.forces = tau, wrenches
