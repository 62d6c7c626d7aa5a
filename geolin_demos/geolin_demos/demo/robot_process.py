# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot as a process: reads its description, publishes in real time until SIGINT."""

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Protocol

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String

from geolin_demos.demo.descriptions import published
from geolin_ros.errors import ConfigurationError, GeolinError, ModelWarning
from geolin_ros.model.tree import STANDARD_GRAVITY, TreeModel
from geolin_ros.robots import locate
from geolin_ros.ros.qos import LATCHED
from geolin_ros.ros.signals import ignore_signals, stop_on_signals

INTERRUPTED = 130
PERIOD = 2_000_000  # of the samples [ns]
LATE = 5_000_000  # from here on samples are left out to catch up [ns]
FALLEN_BEHIND = 100_000_000  # from here on the clock is set anew [ns]


class Robot(Protocol):
    """What is simulated."""

    def advance(self, duration: float) -> None:
        """Go on for a while [s]."""

    def publish(self, time_ns: int) -> None:
        """Publish the present state, stamped ``time_ns``."""


def run_robot(
    make_robot: Callable[[Node, TreeModel, Path], Robot],
    program: str,
    default: str,
    arguments: list[str] | None = None,
    may_be_fixed: bool = False,
) -> int:
    """Run a robot until a signal ends it; return the exit status.

    Its description is published once, before ``make_robot`` is called.
    """
    parser = argparse.ArgumentParser(prog=f'python -m geolin_demos.demo.{program}')
    parser.add_argument('--robot', default=default, help='URDF or MJCF path, or a robot by name')
    if may_be_fixed:
        parser.add_argument('--base', choices=('floating', 'fixed'), help='of the root link')
    options = parser.parse_args(arguments)
    try:
        path = locate(options.robot)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', ModelWarning)  # the node says the same
            base = options.base if may_be_fixed else None
            model = TreeModel.from_file(path, gravity=STANDARD_GRAVITY, base=base)
        if model.base != 'floating' and not may_be_fixed:
            raise ConfigurationError(
                f'{path} has a fixed base, expected a floating one; add <freejoint/> to the '
                'first body of MJCF, or take out the link world of a URDF'
            )
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        node = rclpy.create_node(f'demo_{program}', start_parameter_services=False)
        if description := published(path):
            publisher = node.create_publisher(String, 'robot_description', LATCHED)
            publisher.publish(String(data=description))
        robot = make_robot(node, model, path)
        stop = stop_on_signals()
        in_real_time(PERIOD, robot, stop)
    except KeyboardInterrupt:  # while it compiles
        return INTERRUPTED
    except (GeolinError, OSError) as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    finally:
        ignore_signals()
        rclpy.try_shutdown()
    return 0


def in_real_time(period: int, robot: Robot, stop: Event) -> None:
    """Compute each state ahead of its time, wait, and publish it, until ``stop`` is set.

    Stamps are a grid on the system clock with this period [ns]. A sample may be late; where the
    processor was busy elsewhere for longer, samples are left out.
    """
    ahead, system = time.monotonic_ns(), time.time_ns()
    while not stop.is_set():
        behind = time.monotonic_ns() - ahead
        if behind > FALLEN_BEHIND:
            ahead, system, behind = ahead + behind, time.time_ns(), 0
        steps = 1 if behind < LATE else 1 + behind // period
        ahead, system = ahead + steps * period, system + steps * period
        robot.advance(steps * period * 1e-9)
        time.sleep(max(0, ahead - time.monotonic_ns()) * 1e-9)
        robot.publish(system)
