# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The linearization node as it is, and a note of each message that it takes, in its order.

A program: each line of ``taken.txt``, beside the log, is a topic and the bytes of a message.
"""

import os
import sys
from pathlib import Path

from rclpy.serialization import serialize_message

from geolin_ros.ros.linearization_node import LinearizationNode
from geolin_ros.ros.robot_node import run
from geolin_ros.ros.serialized_input import VIEWS

NOTES = 'taken.txt'


class RecordedNode(LinearizationNode):
    """Writes down what it hears, and the ticks of its timer."""

    def __init__(self, **options):
        self._notes = (Path(os.environ['ROS_LOG_DIR']) / NOTES).open('w', buffering=1)
        super().__init__(**options)

    def take(self, topic, message):
        if topic == 'timer':
            self._notes.write('timer \n')
        super().take(topic, message)

    def _open(self, given):
        if given.kind not in VIEWS:
            take = self._noted(given.topic, given.take, serialize_message)
            given = given._replace(take=take)
        return super()._open(given)

    def _reading(self, given):
        return self._noted(given.topic, super()._reading(given), bytes)

    def _noted(self, topic, take, to_bytes):
        def noted(message):
            self._notes.write(f'{topic} {to_bytes(message).hex()}\n')
            take(message)

        return noted


if __name__ == '__main__':
    sys.exit(run(RecordedNode, 'recorded_node'))
