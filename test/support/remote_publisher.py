# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint states and odometry from a process that can be killed.

As a script it publishes what it reads, ``name base64-of-CDR`` a line, and answers each line with
one of its own: what has been sent is known exactly, whenever it is killed.
"""

import base64
import os
import subprocess
import sys
from pathlib import Path

KINDS = 'joint_states', 'odom'


class RemotePublisher:
    """The process that publishes in a namespace; a context manager, killed at its end.

    ``environment`` is added to ours.
    """

    def __init__(self, namespace, environment):
        from support.processes import Program  # which the script does not find

        self._process = Program(
            [sys.executable, __file__, namespace],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).resolve().parents[2],
            env=os.environ | environment | {'PYTHONUNBUFFERED': '1'},
            lasts=True,
        )
        assert self._process.stdout.readline() == 'ready\n'

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def send(self, joints, base):
        """Publish odometry, then a joint state; return when that is done."""
        from rclpy.serialization import serialize_message

        for name, message in zip(KINDS, (joints, base), strict=True):
            text = base64.b64encode(serialize_message(message)).decode()
            self._process.stdin.write(f'{name} {text}\n')
        self._process.stdin.flush()
        for _ in KINDS:
            assert self._process.stdout.readline() == 'sent\n'


def main(namespace):
    """Publish what is read."""
    import rclpy
    from nav_msgs.msg import Odometry
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState

    rclpy.init()
    node = rclpy.create_node('remote', namespace=namespace, start_parameter_services=False)
    publishers = {
        name: node.create_publisher(kind, name, qos_profile_sensor_data)
        for name, kind in zip(KINDS, (JointState, Odometry), strict=True)
    }
    sys.stdout.write('ready\n')
    sys.stdout.flush()
    for line in sys.stdin:
        name, text = line.split()
        publishers[name].publish(base64.b64decode(text))
        sys.stdout.write('sent\n')
        sys.stdout.flush()


if __name__ == '__main__':
    main(sys.argv[1])
