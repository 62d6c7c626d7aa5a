# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The stream without its kernel: for those who linearize many operating points later."""

from typing import Any

from geolin_ros.stream.linearization_stream import LinearizationStream, OperatingPoint


class OperatingPoints(LinearizationStream):
    """Pairs and checks messages as the stream does; its answers are points, without A and B."""

    _newest_point: OperatingPoint

    def _at(self, point: OperatingPoint) -> Any:
        """Leave the linearization to the caller."""
        self._newest_point = point
        return point

    @property
    def newest(self) -> OperatingPoint:
        """The last answer, on its own memory."""
        point = self._newest_point
        return point._replace(
            state=point.state.copy(),
            tau=point.tau.copy(),
            efforts=point.efforts.copy(),
            wrenches=tuple(point.wrenches),
            external=tuple(point.external),
            base_wrench=point.base_wrench.copy(),
        )
