# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a robot that stands still publishes: ``ROBOT IMU_RATE JOINT_RATE`` [Hz], until SIGINT."""

import contextlib
import sys
import time

import numpy as np
import rclpy
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Imu, JointState

from geolin_ros import TreeModel, robots
from geolin_ros.stream.message_fields import write_stamp


def main() -> None:
    """Publish samples of IMU and joints when they are due, some at once if the machine is late."""
    name, imu_rate, joint_rate = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    model = TreeModel.from_urdf(robots.path(name))
    rclpy.init()
    node = rclpy.create_node('robot')
    samples, states = (
        node.create_publisher(kind, topic, qos_profile_sensor_data)
        for kind, topic in ((Imu, 'imu'), (JointState, 'joint_states'))
    )
    imu, joints = Imu(), JointState()
    imu.linear_acceleration.z = 9.81
    joints.name = list(model.joint_names)
    joints.position = joints.velocity = joints.effort = np.zeros(model.n).tolist()
    begun, k, every = time.time_ns(), 0, round(imu_rate / joint_rate)
    while True:
        due = begun + round(k / imu_rate * 1e9)
        if due > time.time_ns():
            time.sleep(2e-4)
            continue
        write_stamp(imu.header.stamp, due)
        samples.publish(imu)
        if k % every == 0:
            write_stamp(joints.header.stamp, due)
            states.publish(joints)
        k += 1


if __name__ == '__main__':
    with contextlib.suppress(KeyboardInterrupt):
        main()
