# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Latency of the node over DDS, beside a relay that does the same without a kernel.

Robot, node (then relay) and this consumer are processes of their own. Two figures of each joint
state: from entry of the node's callback to return of publish, and from the robot's stamp to the
consumer's callback. A third run says where the time of the former goes: conversion of the inputs,
kernel, filling the message, publish. ``--ages`` says where that of the latter goes, beside a
program of ``geolin export --ros2`` if one is named, and how long threads waited for a processor.
"""

import argparse
import json
import os
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from geolin_demos.demo.__main__ import discovery
from geolin_demos.demo.processes import Child
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile

from benchmarks.measure import environment, processor_seconds, waiting_seconds
from benchmarks.robots import paths
from geolin_msgs.msg import LinearizationSummary, LinearizedDynamics
from geolin_ros import robots
from geolin_ros.stream.topic_stream import nanoseconds

START = 120.0  # until the first linearization, which may have to compile [s]
SETTLE = 2.0  # left out after it, at most [s]
AGE = 'stamp to publish', 'DDS', 'to the callback', 'in the reader', 'in the callback'
WITHIN, ACROSS = 'callback_to_published_us', 'stamp_to_consumer_us'
APART = 10.0  # that the parts are timed at most [s]
PERCENTILES = (50.0, 99.0, 99.9, 100.0)
LIMIT = 1.15  # of the node's median over the relay's
KERNEL_LIMIT = {'talos_reduced': 15.0}  # [us]


def main() -> int:
    """Measure, print the table, write JSON if asked; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('robots', nargs='*', default=['go2', 'talos_reduced'])
    parser.add_argument('--rates', nargs='+', type=float, default=[500.0, 1000.0], help='[Hz]')
    parser.add_argument('--seconds', type=float, default=60.0, help='of each (default: 60)')
    parser.add_argument('--json', type=Path, help='file to write')
    parser.add_argument(
        '--ages', nargs='?', const='', metavar='PROGRAM', help='parts of the age at the consumer'
    )
    options = parser.parse_args()
    os.environ.update(discovery())
    if options.ages is not None:
        return report_ages(options.robots, options.rates, options.ages, options.seconds)
    rows: list[dict[str, Any]] = []
    exceeded = False
    print(f'{"robot":18} {"process":7} {"what":22} ' + ''.join(f'{p:>9g}%' for p in PERCENTILES))
    for robot in options.robots:
        for rate in options.rates:
            node, relay = (
                run(robot, rate, module, [], options.seconds)
                for module in ('geolin_ros.ros.linearizer', 'benchmarks.relay')
            )
            parts = timed_parts(robot, rate, min(options.seconds, APART))
            report(robot, 'node', rate, node)
            report(robot, 'relay', rate, relay)
            ratio = node[WITHIN][0] / relay[WITHIN][0]
            slow = ratio > LIMIT or parts['kernel'] > KERNEL_LIMIT.get(robot, np.inf)
            exceeded |= slow
            print(
                f'{"":18} node / relay {ratio:.3f}, limit {LIMIT:g}; median parts [us]: '
                + ', '.join(f'{name} {value:.1f}' for name, value in parts.items())
                + ('  EXCEEDED' if slow else ''),
                flush=True,
            )
            rows.append(
                {'robot': robot, 'rate': rate, 'node': node, 'relay': relay, 'parts_us': parts}
            )
    if options.json is not None:
        text = json.dumps({'environment': environment(), 'rows': rows}, indent=2)
        options.json.write_text(f'{text}\n')
    return int(exceeded)


def report_ages(names: list[str], rates: list[float], program: str, seconds: float) -> int:
    """Print medians and 99th percentiles of the parts of an age, and means of waiting [us]."""
    modules = {'node': ('geolin_ros.ros.linearizer', [])}
    if program:
        modules['component'] = ('benchmarks.node_latency', ['--run', program])
    for robot in names:
        for rate in rates:
            for name, (module, arguments) in modules.items():
                row = run(robot, rate, module, arguments, seconds)
                parts = (f'{what} {p50:.0f}, {p99:.0f}' for what, (p50, p99) in row['age'].items())
                waits = (f'{who} {value:.0f}' for who, value in row['waited_us'].items())
                print(
                    f'{robot} {rate:.0f} Hz {name}: {"; ".join(parts)}; waits {", ".join(waits)}; '
                    f'{row["rate"]:.0f} Hz, load {row["load"]:.0%}, '
                    f'load average {os.getloadavg()[0]:.1f}',
                    flush=True,
                )
    return 0


def become(program: str, *arguments: str) -> None:
    """Go on as a program in C++; the wheels' librcl needs symbols of Python."""
    library = Path(sysconfig.get_config_var('LIBDIR'), sysconfig.get_config_var('INSTSONAME'))
    preload = {'LD_PRELOAD': str(library)} if library.exists() else {}
    os.execve(program, [program, *arguments], os.environ | preload)


def path_of(robot: str) -> str:
    """Return the URDF of a bundled robot or of one of the example-robot-data wheel."""
    return str(robots.path(robot) if robot in robots.ROBOTS else paths([robot])[0])


def timed_parts(robot: str, rate: float, seconds: float) -> dict[str, float]:
    """Return the median [us] of each part of the node's work."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'parts.json'
        run(robot, rate, 'benchmarks.timed_node', [str(file)], seconds)
        return dict(json.loads(file.read_text(encoding='utf-8')))


def run(
    robot: str, rate: float, module: str, arguments: list[str], seconds: float
) -> dict[str, Any]:
    """Return percentiles [us], rate and load of one process that answers the robot."""
    rclpy.init()
    node = rclpy.create_node('latency')
    within, times = [], []
    first: list[float] = []

    def on_linearization(message: LinearizedDynamics, info: Any) -> None:
        now = node.get_clock().now().nanoseconds
        first.append(time.monotonic())
        stamp = nanoseconds(message.header.stamp)
        times.append((stamp, info['source_timestamp'], info['received_timestamp'], now))

    def on_summary(message: LinearizationSummary) -> None:
        within.append(message.latency * 1e6)

    newest = QoSProfile(depth=10)
    name = '/linearizer'
    node.create_subscription(LinearizedDynamics, f'{name}/linearization', on_linearization, newest)
    node.create_subscription(LinearizationSummary, f'{name}/summary', on_summary, newest)
    children = [
        Child('robot', 'benchmarks.robot_process', [str(rate), '--robot', path_of(robot)], {}),
        Child('answers', module, [*arguments, '--ros-args', '--log-level', 'error'], {}),
    ]
    executor = (
        SingleThreadedExecutor()
    )  # rclpy's events executor fails with callbacks of two arguments
    executor.add_node(node)
    deadline = time.monotonic() + START
    try:
        while not first and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.1)
        end = time.monotonic() + min(SETTLE, seconds)
        while time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        within.clear()
        times.clear()
        pids = {'robot': children[0].pid, 'node': children[1].pid, 'consumer': os.getpid()}
        waited = {who: waiting_seconds(pid) for who, pid in pids.items()}
        busy = processor_seconds(children[1].pid)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        busy = processor_seconds(children[1].pid) - busy
        waited = {who: waiting_seconds(pid) - waited[who] for who, pid in pids.items()}
    finally:
        for child in children:
            child.interrupt(mute=True)
            child.finish()
        executor.shutdown()
        rclpy.try_shutdown()
    if not times:
        raise SystemExit(f'node_latency: nothing arrived from {module} within {START:g} s')
    instants = np.array(times)
    age = np.column_stack((np.diff(instants), instants[:, 2:] - instants[:, :1])) * 1e-3
    return {
        'rate': len(times) / seconds,
        'load': busy / seconds,
        WITHIN: np.percentile(within or [np.nan], PERCENTILES).tolist(),
        ACROSS: np.percentile(age[:, -1], PERCENTILES).tolist(),
        'age': dict(zip(AGE, np.percentile(age, (50.0, 99.0), axis=0).T.tolist(), strict=True)),
        'waited_us': {who: 1e6 * value / len(times) for who, value in waited.items()},
    }


def report(robot: str, process: str, rate: float, row: dict[str, Any]) -> None:
    """Print two lines."""
    for what in (WITHIN, ACROSS):
        figures = ''.join(f'{value:10.0f}' for value in row[what])
        print(f'{robot:18} {process:7} {what[:-3]:22} {figures}', flush=True)
    print(f'{"":26} {row["rate"]:.0f} of {rate:.0f} Hz, load {row["load"]:.0%} of a core')


if __name__ == '__main__':
    if sys.argv[1:2] == ['--run']:
        become(*sys.argv[2:])
    sys.exit(main())
