# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The linearization node without its kernel: the same inputs converted, the same bytes published.

Its inputs are messages that rclpy has deserialized. What it takes is the price of Python, rclpy
and DDS; what the node takes beyond is ours.
"""

import sys
from typing import Any

from geolin_ros.ros import robot_node
from geolin_ros.ros.linearizer import main
from geolin_ros.stream import linearization_stream


def without_kernel() -> None:
    """Let every answer after the first keep the matrices of the first."""
    linearize, first = linearization_stream.linearize, []

    def keep(point: Any, *arguments: Any) -> Any:
        if not first:
            first.append(linearize(point, *arguments))
        return first[0]._replace(point=point)

    linearization_stream.linearize = keep


if __name__ == '__main__':
    without_kernel()
    robot_node.VIEWS = {}  # nothing is read from bytes
    unchecked = '--ros-args', '-p', 'certificate.every:=0'  # the matrices that are kept are wrong
    sys.exit(main([*sys.argv[1:], *unchecked]))
