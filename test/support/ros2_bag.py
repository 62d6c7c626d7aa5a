# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A `ros2` whose `bag record` and `bag play` do what rosbag2's do, for where that cannot be had.

Real nodes, with rosbag2's names, services and order of events, and real bags, by `rosbags`: the
recorder subscribes when /clock is there and a topic is published; the player publishes /clock
also while it is paused. All other commands go to the real `ros2`.

GEOLIN_TEST_RECORDER, GEOLIN_TEST_PLAYER: what becomes of one of them, ``late`` or ``dies``.
"""

import argparse
import importlib
import os
import signal
import sys
import time
from pathlib import Path
from threading import Event

import rclpy
import yaml
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rosbags.rosbag2 import Reader, Writer
from rosgraph_msgs.msg import Clock

from geolin_ros.offline.message_types import known_types

LATE = 4.0
"""How late a late one is [s]: longer than all others take where kernels are compiled."""
SECOND = 1_000_000_000


def install(folder):
    """Make this program the `ros2` of a folder for PATH."""
    program = folder / 'ros2'
    here = Path(__file__).resolve().parents[1]
    program.write_text(
        f'#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(here)!r})\n'
        'from support.ros2_bag import main\nsys.exit(main())\n'
    )
    program.chmod(0o755)


def record(options, stop):
    """Write what comes on topics into a bag, until SIGINT."""
    clock_is_simulated = Parameter('use_sim_time', value=True)
    node = rclpy.create_node('rosbag2_recorder', parameter_overrides=[clock_is_simulated])
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    store, subscribed = known_types(), set()
    with Writer(options.output, version=9) as bag:
        while not stop.is_set():
            executor.spin_once(timeout_sec=0.1)
            if node.get_clock().now().nanoseconds == 0:
                continue
            for topic in set(options.topics) - subscribed:
                ends = node.get_publishers_info_by_topic(topic)
                if not ends:
                    continue
                subscribed.add(topic)
                kind = ends[0].topic_type
                connection = bag.add_connection(topic, kind, typestore=store)

                def write(data, connection=connection):
                    bag.write(connection, node.get_clock().now().nanoseconds, data)

                profile = _qos(options, topic)
                node.create_subscription(_type(kind), topic, write, profile, raw=True)


def play(options, stop):
    """Publish the messages of a bag as they came, once it is told to."""
    from rosbag2_interfaces.srv import Pause, Resume

    with Reader(options.bag) as bag:
        node = rclpy.create_node('rosbag2_player')
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        publishers = {
            connection.topic: node.create_publisher(
                _type(connection.msgtype), connection.topic, _qos(options, connection.topic)
            )
            for connection in bag.connections
        }
        clock, now = node.create_publisher(Clock, '/clock', 10), bag.start_time

        def tell_time():
            message = Clock()
            message.clock.sec, message.clock.nanosec = divmod(now, SECOND)
            clock.publish(message)

        node.create_timer(1.0 / options.clock, tell_time)
        runs = Event()

        def resume(request, response):
            runs.set()
            return response

        def pause(request, response):
            runs.clear()
            sys.stdout.write('the player pauses\n')
            sys.stdout.flush()
            return response

        node.create_service(Resume, f'{node.get_name()}/resume', resume)
        node.create_service(Pause, f'{node.get_name()}/pause', pause)
        for connection, stamp, data in bag.messages():
            executor.spin_once(timeout_sec=0.0)
            if not runs.is_set():
                while not (runs.is_set() or stop.is_set()):
                    executor.spin_once(timeout_sec=0.1)
                begin = time.monotonic() - (stamp - bag.start_time) / SECOND / options.rate
            due = begin + (stamp - bag.start_time) / SECOND / options.rate
            while not stop.is_set() and (left := due - time.monotonic()) > 0.0:
                executor.spin_once(timeout_sec=left)
            now = stamp
            publishers[connection.topic].publish(bytes(data))
        for publisher in publishers.values():
            publisher.wait_for_all_acked()


def _type(kind):
    package, _, name = kind.partition('/msg/')
    return getattr(importlib.import_module(f'{package}.msg'), name)


def _qos(options, topic):
    """Return the profile that the file of overrides gives a topic, or that of rosbag2."""
    profiles = yaml.safe_load(options.qos_profile_overrides_path.read_text())
    if topic not in profiles:
        return QoSProfile(depth=10)
    given = profiles[topic]
    return QoSProfile(
        depth=given['depth'],
        history=HistoryPolicy.get_from_short_key(given['history']),
        reliability=ReliabilityPolicy.get_from_short_key(given['reliability']),
        durability=DurabilityPolicy.get_from_short_key(given['durability']),
    )


def parse(arguments):
    """Return the options, of those of rosbag2 that launch files use."""
    parser = argparse.ArgumentParser(prog='ros2 bag')
    verbs = parser.add_subparsers(dest='verb', required=True)
    recorder = verbs.add_parser('record')
    recorder.add_argument('--use-sim-time', action='store_true', required=True)
    recorder.add_argument('--output', type=Path, required=True)
    recorder.add_argument('--topics', nargs='+', required=True)
    recorder.add_argument('--max-cache-size', type=int, required=True)
    player = verbs.add_parser('play')
    player.add_argument('bag', type=Path)
    player.add_argument('--clock', type=float, nargs='?', const=40.0, required=True)
    player.add_argument('--start-paused', action='store_true', required=True)
    player.add_argument('--rate', type=float, default=1.0)
    player.add_argument('--disable-keyboard-controls', action='store_true', required=True)
    for verb in (recorder, player):
        verb.add_argument('--qos-profile-overrides-path', type=Path, required=True)
    return parser.parse_args(arguments)


def main():
    """Run a command; return its exit status."""
    if sys.argv[1:2] != ['bag']:
        from ros2cli.cli import main as real

        return real()
    options = parse(sys.argv[2:])
    role = {'record': 'RECORDER', 'play': 'PLAYER'}[options.verb]
    fate = os.environ.get(f'GEOLIN_TEST_{role}')
    if fate == 'late':
        time.sleep(LATE)
    if fate == 'dies':
        sys.stderr.write('no space left on device\n')
        return 3
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        {'record': record, 'play': play}[options.verb](options, stop)
    finally:
        rclpy.try_shutdown()
    return 0
