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
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from geolin_demos.demo.__main__ import published
from geolin_demos.demo.flight import Flight
from geolin_demos.demo.processes import run_on_graph
from geolin_ros.errors import ModelWarning
from geolin_ros.model.state import State
from geolin_ros.model.tree import STANDARD_GRAVITY, TreeModel
from geolin_ros.robots import locate
from geolin_ros.ros.programs import stop_on_signals
from geolin_ros.ros.topics import LATCHED, NEWEST
from geolin_ros.stream.message_fields import allocate, write_pose, write_stamp, write_twist
from geolin_ros.typing import Array

WORLD = 'odom'
PERIOD = 2_000_000  # of the samples [ns]
LATE = 5_000_000  # from here on samples are left out to catch up [ns]
FALLEN_BEHIND = 100_000_000  # from here on the clock is set anew [ns]


class StatePublisher:
    """Publishes odom, of a base that moves, and joint_states."""

    def __init__(self, node: Node, model: TreeModel) -> None:
        self._odometry = Odometry(child_frame_id=model.base_link)
        self._odometry.header.frame_id = WORLD
        self._joints = JointState(name=list(model.joint_names))
        fields = 'position', 'velocity', 'effort'
        self._arrays = [allocate(self._joints, field, model.n) for field in fields]
        self._publish_joints = node.create_publisher(
            JointState, 'joint_states', qos_profile_sensor_data
        ).publish
        self._publish_odometry: Callable[[Odometry], object] = lambda message: None
        if model.base == 'floating':
            self._publish_odometry = node.create_publisher(Odometry, 'odom', NEWEST).publish

    def publish(self, state: State, tau: Array, stamp: int) -> None:
        """Publish a state and the efforts (n,) at it [N m or N], stamped [ns]."""
        odometry, joints = self._odometry, self._joints
        for header in (odometry.header, joints.header):
            write_stamp(header.stamp, stamp)
        write_pose(odometry.pose.pose, state.H)
        write_twist(odometry.twist.twist, state.v)
        for array, values in zip(self._arrays, (state.s, state.r, tau), strict=True):
            array[:] = values
        self._publish_odometry(odometry)
        self._publish_joints(joints)


class FlyingRobot:
    """Publishes the states of a flight."""

    def __init__(self, node: Node, model: TreeModel, path: Path) -> None:
        self._publisher, self._flight = StatePublisher(node, model), Flight(model)
        self.advance = self._flight.advance
        self.advance(PERIOD * 1e-9)  # compiles: real time starts after it

    def publish(self, time_ns: int) -> None:
        """Publish the present state, stamped ``time_ns``."""
        self._publisher.publish(self._flight.state, self._flight.tau, time_ns)


def publish_description(node: Node, description: str) -> None:
    """Publish robot_description once, unless it is empty."""
    if description:
        publisher = node.create_publisher(String, 'robot_description', LATCHED)
        publisher.publish(String(data=description))


def run_robot(
    make_robot: Callable[[Node, TreeModel, Path], Any],
    program: str,
    default: str,
    arguments: list[str] | None = None,
) -> int:
    """Run a simulated robot until a signal ends it; return the exit status.

    Its description is published before ``make_robot`` returns what has ``advance(seconds)`` and
    ``publish(nanoseconds)``.
    """
    parser = argparse.ArgumentParser(prog=f'python -m geolin_demos.demo.{program}')
    parser.add_argument('--robot', default=default, help='URDF or MJCF path, or a robot by name')
    parser.add_argument('--base', choices=('floating', 'fixed'), help='of the root link')
    options = parser.parse_args(arguments)

    def run() -> int:
        path = locate(options.robot)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', ModelWarning)  # the node says the same
            model = TreeModel.from_file(path, gravity=STANDARD_GRAVITY, base=options.base)
        node = rclpy.create_node(f'demo_{program}', start_parameter_services=False)
        publish_description(node, published(path))
        in_real_time(make_robot(node, model, path), stop_on_signals())
        return 0

    return run_on_graph(program, run)


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


if __name__ == '__main__':
    sys.exit(run_robot(FlyingRobot, 'robot', 'quadruped'))
