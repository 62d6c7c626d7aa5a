# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The linearization node as it is, and a note of each message that it takes, in its order.

A program: each line of ``taken.txt``, beside the log, is a topic and the bytes of a message. Once
the node knows somebody who listens to each of its answers, there is a file ``matched`` too.
"""

import os
import sys
from functools import partial
from pathlib import Path

from rclpy.serialization import serialize_message

from geolin_ros.ros.linearizer import LinearizerNode
from geolin_ros.ros.running import Program, run
from geolin_ros.ros.topics import name_of
from geolin_ros.stream.inputs.serialized import VIEWS

NOTES = 'taken.txt'
MATCHED = 'matched'
ANSWERS = 'linearization', 'forward_dynamics', 'summary'


class RecordedNode(LinearizerNode):
    """Writes down what it hears, and the ticks of its timer."""

    def __init__(self, **options):
        self._folder = Path(os.environ['ROS_LOG_DIR'])
        self._notes = (self._folder / NOTES).open('w', buffering=1)
        super().__init__(**options)
        self.create_timer(0.05, self._look_for_listeners)

    def _look_for_listeners(self):
        answers = [p for p in self.publishers if p.topic_name.rpartition('/')[2] in ANSWERS]
        if len(answers) == len(ANSWERS) and all(p.get_subscription_count() for p in answers):
            (self._folder / MATCHED).touch()

    def take(self, topic, message):
        if topic == 'timer':
            self._notes.write('timer \n')
        super().take(topic, message)

    def _open(self, given):
        if name_of(given.kind) not in VIEWS:
            take = given.take or partial(self.take, given.topic)
            given = given._replace(take=self._noted(given.topic, take, serialize_message))
        return super()._open(given)

    def _reading(self, given, take):
        return self._noted(given.topic, super()._reading(given, take), bytes)

    def _noted(self, topic, take, to_bytes):
        def noted(message):
            self._notes.write(f'{topic} {to_bytes(message).hex()}\n')
            take(message)

        return noted


if __name__ == '__main__':
    sys.exit(run(RecordedNode, Program('recorded_node', '', '', '')))
