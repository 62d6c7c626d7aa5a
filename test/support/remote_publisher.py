# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint states and odometry from a process that can be killed."""

import multiprocessing
import os


class RemotePublisher:
    """The process that publishes in a namespace; a context manager, killed at its end.

    It says when it has published: what has been sent is known exactly, whenever it is killed.
    ``environment`` is added to ours.
    """

    def __init__(self, namespace, environment):
        spawn = multiprocessing.get_context('spawn')
        self._pipe, other = spawn.Pipe()
        given = other, namespace, environment
        self._process = spawn.Process(target=publish, args=given, daemon=True)
        self._process.start()
        other.close()
        assert self._pipe.recv() == 'ready'

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def send(self, joints, base):
        """Publish odometry, then a joint state; return when that is done."""
        from rclpy.serialization import serialize_message

        for name, message in (('odom', base), ('joint_states', joints)):
            self._pipe.send((name, serialize_message(message)))
            assert self._pipe.recv() == name


def publish(pipe, namespace, environment):
    """Publish what comes."""
    os.environ.update(environment)
    import rclpy
    from nav_msgs.msg import Odometry
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState

    rclpy.init()
    node = rclpy.create_node('remote', namespace=namespace, start_parameter_services=False)
    publishers = {
        name: node.create_publisher(kind, name, qos_profile_sensor_data)
        for name, kind in (('joint_states', JointState), ('odom', Odometry))
    }
    pipe.send('ready')
    while True:
        name, data = pipe.recv()
        publishers[name].publish(data)
        pipe.send(name)
