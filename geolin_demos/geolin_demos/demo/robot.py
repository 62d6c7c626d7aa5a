# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo's robot: simulates a flight in real time and publishes what a real robot would."""

import sys
from array import array

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from geolin_demos.demo.flight import Flight
from geolin_demos.demo.robot_process import PERIOD, run_robot
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.geometry import write_pose, write_stamp, write_twist


class FlyingRobot:
    """Publishes joint_states at each sample of a flight, and odom if its base moves."""

    def __init__(self, node: Node, model: TreeModel) -> None:
        self._odometry_publisher = None
        if model.base == 'floating':
            self._odometry_publisher = node.create_publisher(
                Odometry, 'odom', qos_profile_sensor_data
            )
        self._joint_publisher = node.create_publisher(
            JointState, 'joint_states', qos_profile_sensor_data
        )
        self._odometry = Odometry(child_frame_id=model.base_link)
        self._odometry.header.frame_id = 'world'
        self._joints = JointState(name=list(model.joint_names))
        for field in ('position', 'velocity', 'effort'):
            setattr(self._joints, field, array('d', bytes(8 * model.n)))
        self._flight = Flight(model)
        self._flight.advance(PERIOD * 1e-9)  # compiles: real time starts after it

    def advance(self, duration: float) -> None:
        """Fly on [s]."""
        self._flight.advance(duration)

    def publish(self, time_ns: int) -> None:
        """Publish the present state, stamped ``time_ns``."""
        state, odometry, joints = self._flight.state, self._odometry, self._joints
        for header in (odometry.header, joints.header):
            write_stamp(header.stamp, time_ns)
        write_pose(odometry.pose.pose, state.H)
        write_twist(odometry.twist.twist, state.v)
        for values, field in (
            (state.s, joints.position),
            (state.r, joints.velocity),
            (self._flight.tau, joints.effort),
        ):
            np.frombuffer(field)[:] = values
        if self._odometry_publisher is not None:
            self._odometry_publisher.publish(odometry)
        self._joint_publisher.publish(joints)


def main(arguments: list[str] | None = None) -> int:
    """Run the robot until a signal ends it; return the exit status."""
    return run_robot(
        lambda node, model, path: FlyingRobot(node, model),
        'robot',
        'quadruped',
        arguments,
        may_be_fixed=True,
    )


if __name__ == '__main__':
    sys.exit(main())
