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
        """Where to linearize, and under what, at the last answer; on its own memory."""
        stamp, odometry_stamp, state, tau, efforts, wrenches, contacts, *_ = self._newest_point
        own = tau.copy()
        efforts = own if efforts is tau else efforts.copy()
        return OperatingPoint(
            *(stamp, odometry_stamp, state.copy(), own, efforts, tuple(wrenches), contacts)
        )
