# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that takes the bytes of IMU samples and joint states and does nothing with them."""

import contextlib

import rclpy
from sensor_msgs.msg import Imu, JointState

from geolin_ros.ros.running import init, spin
from geolin_ros.ros.topics import SENSOR_DATA

if __name__ == '__main__':
    init(None)
    node = rclpy.create_node('silent')
    for kind, topic in ((Imu, 'imu'), (JointState, 'joint_states')):
        node.create_subscription(kind, topic, lambda data: None, SENSOR_DATA, raw=True)
    with contextlib.suppress(KeyboardInterrupt):
        spin(node)
