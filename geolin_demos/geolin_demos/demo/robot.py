# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo's robot: simulates a flight in real time and publishes what a real robot would."""

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import rclpy
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from geolin_demos.demo.descriptions import published
from geolin_demos.demo.flight import Flight
from geolin_ros.errors import GeolinError, ModelWarning
from geolin_ros.model.tree import STANDARD_GRAVITY, TreeModel
from geolin_ros.robots import locate
from geolin_ros.ros.qos import LATCHED
from geolin_ros.ros.signals import ignore_signals, stop_on_signals
from geolin_ros.stream.message_fields import allocate, write_pose, write_stamp, write_twist

INTERRUPTED = 130
PERIOD = 2_000_000  # of the samples [ns]
LATE = 5_000_000  # from here on samples are left out to catch up [ns]
FALLEN_BEHIND = 100_000_000  # from here on the clock is set anew [ns]


class FlyingRobot:
    """Publishes joint_states at each sample of a flight, and odom if its base moves."""

    def __init__(self, node: Node, model: TreeModel, path: Path) -> None:
        self._odometry = Odometry(child_frame_id=model.base_link)
        self._odometry.header.frame_id = 'world'
        self._joints = JointState(name=list(model.joint_names))
        fields = 'position', 'velocity', 'effort'
        self._arrays = [allocate(self._joints, field, model.n) for field in fields]
        sensor = qos_profile_sensor_data
        self._publishers = [
            (node.create_publisher(JointState, 'joint_states', sensor), self._joints)
        ]
        if model.base == 'floating':
            odometry = node.create_publisher(Odometry, 'odom', sensor), self._odometry
            self._publishers.insert(0, odometry)
        self._flight = Flight(model)
        self._flight.advance(PERIOD * 1e-9)  # compiles: real time starts after it

    def advance(self, duration: float) -> None:
        """Fly on [s]."""
        self._flight.advance(duration)

    def publish(self, time_ns: int) -> None:
        """Publish the present state, stamped ``time_ns``."""
        state, odometry = self._flight.state, self._odometry
        write_pose(odometry.pose.pose, state.H)
        write_twist(odometry.twist.twist, state.v)
        for array, values in zip(self._arrays, (state.s, state.r, self._flight.tau), strict=True):
            array[:] = values
        for publisher, message in self._publishers:
            write_stamp(message.header.stamp, time_ns)
            publisher.publish(message)


def run_robot(
    make_robot: Callable[[Node, TreeModel, Path], Any],
    program: str,
    default: str,
    arguments: list[str] | None = None,
) -> int:
    """Run a simulated robot until a signal ends it; return the exit status.

    Its description is published once, before ``make_robot`` returns what has ``advance(seconds)``
    and ``publish(nanoseconds)``.
    """
    parser = argparse.ArgumentParser(prog=f'python -m geolin_demos.demo.{program}')
    parser.add_argument('--robot', default=default, help='URDF or MJCF path, or a robot by name')
    parser.add_argument('--base', choices=('floating', 'fixed'), help='of the root link')
    options = parser.parse_args(arguments)
    try:
        path = locate(options.robot)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', ModelWarning)  # the node says the same
            model = TreeModel.from_file(path, gravity=STANDARD_GRAVITY, base=options.base)
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        node = rclpy.create_node(f'demo_{program}', start_parameter_services=False)
        if description := published(path):
            publisher = node.create_publisher(String, 'robot_description', LATCHED)
            publisher.publish(String(data=description))
        robot = make_robot(node, model, path)
        in_real_time(robot, stop_on_signals())
    except KeyboardInterrupt:  # while it compiles
        return INTERRUPTED
    except (GeolinError, OSError) as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    finally:
        ignore_signals()
        rclpy.try_shutdown()
    return 0


def in_real_time(robot: Any, stop: Event) -> None:
    """Compute each state ahead of its time, wait, and publish it, until ``stop`` is set.

    Stamps are a grid of `PERIOD` on the system clock. A sample may be late; where the processor
    was busy elsewhere for longer, samples are left out.
    """
    ahead, system = time.monotonic_ns(), time.time_ns()
    while not stop.is_set():
        behind = time.monotonic_ns() - ahead
        if behind > FALLEN_BEHIND:
            ahead, system, behind = ahead + behind, time.time_ns(), 0
        steps = 1 if behind < LATE else 1 + behind // PERIOD
        ahead, system = ahead + steps * PERIOD, system + steps * PERIOD
        robot.advance(steps * PERIOD * 1e-9)
        time.sleep(max(0, ahead - time.monotonic_ns()) * 1e-9)
        robot.publish(system)


def main(arguments: list[str] | None = None) -> int:
    """Run the robot until a signal ends it; return the exit status."""
    return run_robot(FlyingRobot, 'robot', 'quadruped', arguments)


if __name__ == '__main__':
    sys.exit(main())
