# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo's consumer: listens to robot and node for a while and checks what it received."""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import rclpy
from nav_msgs.msg import Odometry
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from geolin_demos.demo.recording import Recording
from geolin_demos.demo.report import report
from geolin_msgs.msg import LinearizationSummary, LinearizedDynamics
from geolin_ros.errors import GeolinError
from geolin_ros.ros.executor import make_executor
from geolin_ros.ros.qos import LATCHED
from geolin_ros.ros.signals import ignore_signals, stop_on_signals

RELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
INTERRUPTED = 130
LAST_ANSWERS = 0.5  # to wait for after the measured time [s]
STEP = 5.0  # between signs of life [s]


class Consumer:
    """Subscribes to everything that robot and node say."""

    def __init__(
        self, node: Node, recording: Recording, linearizer: str, is_described: bool
    ) -> None:
        self._node = node
        self._recording = recording
        topics: list[tuple[str, Any, QoSProfile, Callable[[Any], None]]] = [
            ('odom', Odometry, qos_profile_sensor_data, recording.on_odometry),
            ('joint_states', JointState, qos_profile_sensor_data, recording.on_joint_state),
            (
                f'{linearizer}/linearization',
                LinearizedDynamics,
                RELIABLE,
                recording.on_linearization,
            ),
            (f'{linearizer}/summary', LinearizationSummary, RELIABLE, recording.on_summary),
        ]
        if is_described:
            topics.append(('robot_description', String, LATCHED, recording.on_description))
        self._topics = {
            topic.rpartition('/')[2]: node.create_subscription(kind, topic, callback, qos)
            for topic, kind, qos, callback in topics
        }

    def missing(self) -> list[str]:
        """Return a line for every topic on which nothing came, with what is known about it."""
        lines = []
        is_fixed = bool(self._recording.kept) and not self._recording.kept[0].floating_base
        for name, subscription in self._topics.items():
            if name == 'odom' and is_fixed:
                continue
            if self._recording.received(name) == 0:
                publishers = self._node.count_publishers(subscription.topic_name)
                state = 'no message, though there is a publisher' if publishers else 'no publisher'
                lines.append(f'{subscription.topic_name}: {state}')
        return lines


def listen(
    executor: Executor, consumer: Consumer, recording: Recording, patience: float, stop: Event
) -> None:
    """Spin until the measured time is over, ``patience`` [s] runs out before it, or ``stop``."""
    begin = sign_of_life = time.monotonic()
    started = False
    while not stop.is_set() and not recording.is_over:
        executor.spin_once(timeout_sec=0.1)
        if recording.start is not None and not started:
            started = True
            sign_of_life = time.monotonic()
            print(f'first linearization after {sign_of_life - begin:.1f} s; ', end='')
            print(f'listening for {recording.duration:g} s ...', flush=True)
        if time.monotonic() - sign_of_life < STEP:
            continue
        sign_of_life = time.monotonic()
        if started:
            print(f'  {recording.received("linearization")} linearizations ...', flush=True)
        elif sign_of_life - begin > patience:
            return
        else:
            topics = ', '.join(line.partition(':')[0] for line in consumer.missing())
            print(f'  {sign_of_life - begin:.0f} s, nothing yet on {topics}', flush=True)
    end = time.monotonic() + LAST_ANSWERS
    while not stop.is_set() and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)


def main(arguments: list[str] | None = None) -> int:
    """Listen and report; return 0 if every check passes, 1 if not, 130 if interrupted."""
    stop = stop_on_signals()
    options = parse(arguments)
    recording = Recording(options.duration)
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('demo_consumer', start_parameter_services=False)
    consumer = Consumer(node, recording, options.linearizer, options.robot is None)
    executor = make_executor()
    executor.add_node(node)
    print('wait for robot and node; a first start compiles for half a minute', flush=True)
    try:
        listen(executor, consumer, recording, options.patience, stop)
        missing = consumer.missing()
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown()
    if stop.is_set():
        ignore_signals()
        return INTERRUPTED
    description = options.robot or recording.description
    if missing or description is None:
        print('FAIL  expected messages that did not come', file=sys.stderr)
        print('\n'.join(f'      {line}' for line in missing), file=sys.stderr)
        return 1
    try:
        size = len(serialize_message(recording.kept[0]))
        return 0 if report(recording, description, size, options.output) else 1
    except (GeolinError, OSError) as error:
        print(f'FAIL  {error}', file=sys.stderr)
        return 1


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(
        prog='python -m geolin_demos.demo.consumer', description=__doc__
    )
    parser.add_argument('--duration', type=float, default=5.0, help='measured time [s]')
    parser.add_argument('--output', type=Path, default=Path('geolin_demo.png'), help='picture')
    parser.add_argument('--robot', type=Path, help='MJCF file, which no topic brings')
    parser.add_argument('--linearizer', default='/linearizer', help='name of the node')
    parser.add_argument(
        '--patience', type=float, default=120.0, help='time limit for the first linearization [s]'
    )
    return parser.parse_args(arguments)


if __name__ == '__main__':
    sys.exit(main())
