# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo's robot: simulates a flight in real time and publishes what a real robot would."""

import argparse
import signal
import sys
import time
import warnings
from array import array
from threading import Event

import numpy as np
import rclpy
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from geolin_ros import se3
from geolin_ros.demo.flight import Flight
from geolin_ros.demo.locate import locate
from geolin_ros.errors import GeolinError, ModelWarning
from geolin_ros.model.tree import TreeModel

INTERRUPTED = 130
PERIOD = 2_000_000  # [ns]
LATE = 5_000_000  # from here on samples are left out to catch up [ns]
FALLEN_BEHIND = 100_000_000  # from here on the clock of the flight is set anew [ns]
LATCHED = QoSProfile(
    depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE
)


class Robot:
    """Publishes robot_description once, odom and joint_states at each sample of a flight."""

    def __init__(self, node: Node, model: TreeModel, description: str) -> None:
        self._description_publisher = node.create_publisher(String, 'robot_description', LATCHED)
        self._odometry_publisher = node.create_publisher(Odometry, 'odom', qos_profile_sensor_data)
        self._joint_publisher = node.create_publisher(
            JointState, 'joint_states', qos_profile_sensor_data
        )
        self._odometry = Odometry(child_frame_id=model.base_link)
        self._odometry.header.frame_id = 'world'
        self._joints = JointState(name=list(model.joint_names))
        for field in ('position', 'velocity', 'effort'):
            setattr(self._joints, field, array('d', bytes(8 * model.n)))
        self._description_publisher.publish(String(data=description))
        self._flight = Flight(model)
        self._flight.advance(PERIOD * 1e-9)  # compiles: real time starts after it

    def run(self, stop: Event) -> None:
        """Fly in real time until ``stop`` is set: each state is computed ahead of its time.

        Stamps are a grid on the system clock. A sample may be late; where the processor was
        busy elsewhere for longer, samples are left out.
        """
        ahead, system = time.monotonic_ns(), time.time_ns()
        while not stop.is_set():
            behind = time.monotonic_ns() - ahead
            if behind > FALLEN_BEHIND:
                ahead, system, behind = ahead + behind, time.time_ns(), 0
            steps = 1 if behind < LATE else 1 + behind // PERIOD
            ahead, system = ahead + steps * PERIOD, system + steps * PERIOD
            self._flight.advance(steps * PERIOD * 1e-9)
            time.sleep(max(0, ahead - time.monotonic_ns()) * 1e-9)
            self._publish(system)

    def _publish(self, time_ns: int) -> None:
        state, odometry, joints = self._flight.state, self._odometry, self._joints
        for header in (odometry.header, joints.header):
            header.stamp.sec, header.stamp.nanosec = divmod(time_ns, 1_000_000_000)
        place, turn = odometry.pose.pose.position, odometry.pose.pose.orientation
        place.x, place.y, place.z = state.H[:3, 3].tolist()
        turn.x, turn.y, turn.z, turn.w = se3.quaternion_from_rotation(state.H[:3, :3]).tolist()
        linear, angular = odometry.twist.twist.linear, odometry.twist.twist.angular
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = state.v.tolist()
        for values, field in (
            (state.s, joints.position),
            (state.r, joints.velocity),
            (self._flight.tau, joints.effort),
        ):
            np.frombuffer(field)[:] = values
        self._odometry_publisher.publish(odometry)
        self._joint_publisher.publish(joints)


def main(arguments: list[str] | None = None) -> int:
    """Run the robot until SIGINT or SIGTERM; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m geolin_ros.demo.robot', description=__doc__)
    parser.add_argument('--robot', default='quadruped', help='URDF path or bundled robot')
    options = parser.parse_args(arguments)
    try:
        path = locate(options.robot)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', ModelWarning)  # the node says the same
            model = TreeModel.from_urdf(path)
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        node = rclpy.create_node('demo_robot', start_parameter_services=False)
        robot = Robot(node, model, path.read_text())
        stop = Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        robot.run(stop)
    except KeyboardInterrupt:  # while it compiles
        return INTERRUPTED
    except (GeolinError, OSError) as error:
        print(f'robot: {error}', file=sys.stderr)
        return 1
    finally:
        rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
