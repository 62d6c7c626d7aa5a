# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The stream without its kernel: for those who linearize many operating points at once."""

from geolin_ros.stream.linearization_stream import Answer, LinearizationStream


class OperatingPoints(LinearizationStream):
    """Pairs and checks messages as the stream does; its answers hold where, not A and B."""

    def _fill(self, answer: Answer) -> None:
        """Leave the linearization to the caller."""
