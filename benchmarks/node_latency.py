# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Latency of the node over DDS, beside a relay that does the same without a kernel.

Robot, node (then relay) and this consumer are processes of their own. Two figures of each joint
state: from entry of the node's callback to return of publish, and from the robot's stamp to the
consumer's callback.
"""

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
import rclpy
from rclpy.qos import QoSProfile

from benchmarks.measure import environment
from geolin_msgs.msg import LinearizationSummary, LinearizedDynamics
from geolin_ros.demo.__main__ import discovery
from geolin_ros.demo.locate import locate
from geolin_ros.demo.processes import Child
from geolin_ros.ros.executor import make_executor

START = 120.0  # until the first linearization, which may have to compile [s]
SETTLE = 2.0  # left out after it [s]
PERCENTILES = (50.0, 99.0, 99.9, 100.0)


def main() -> None:
    """Measure, print the table, and write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('robots', nargs='*', default=['quadruped', 'humanoid'])
    parser.add_argument('--seconds', type=float, default=20.0, help='of each (default: 20)')
    parser.add_argument('--json', type=Path, help='file to write')
    options = parser.parse_args()
    os.environ.update(discovery())
    rows = []
    print(f'{"robot":28} {"process":7} {"what":22} ' + ''.join(f'{p:>9g}%' for p in PERCENTILES))
    for robot in options.robots:
        path = str(locate(robot).resolve())
        for process, module in (
            ('node', 'geolin_ros.ros.linearization_node'),
            ('relay', 'benchmarks.relay'),
        ):
            rows.append({'robot': robot, 'process': process, **run(path, module, options.seconds)})
            report(rows[-1])
    if options.json is not None:
        text = json.dumps({'environment': environment(), 'rows': rows}, indent=2)
        options.json.write_text(f'{text}\n')


def run(path: str, module: str, seconds: float) -> dict[str, object]:
    """Return the percentiles [us] of one process that answers the robot at 500 Hz."""
    rclpy.init()
    node = rclpy.create_node('latency')
    within, across = [], []
    first: list[float] = []

    def on_linearization(message: LinearizedDynamics) -> None:
        now = node.get_clock().now().nanoseconds
        first.append(time.monotonic())
        stamp = message.header.stamp
        across.append((now - stamp.sec * 1_000_000_000 - stamp.nanosec) * 1e-3)

    def on_summary(message: LinearizationSummary) -> None:
        within.append(message.latency * 1e6)

    newest = QoSProfile(depth=10)
    name = '/linearization_node'
    node.create_subscription(LinearizedDynamics, f'{name}/linearization', on_linearization, newest)
    node.create_subscription(LinearizationSummary, f'{name}/summary', on_summary, newest)
    children = [
        Child('robot', 'geolin_ros.demo.robot', ['--robot', path], {}),
        Child('answers', module, [], {}),
    ]
    executor = make_executor()
    executor.add_node(node)
    deadline = time.monotonic() + START
    try:
        while not first and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.1)
        end = time.monotonic() + SETTLE
        while time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        within.clear()
        across.clear()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
    finally:
        for child in children:
            child.interrupt(mute=True)
            child.finish()
        executor.shutdown()
        rclpy.try_shutdown()
    if not within or not across:
        raise SystemExit(f'node_latency: nothing arrived from {module} within {START:g} s')
    return {
        'rate': len(across) / seconds,
        'callback_to_published_us': np.percentile(within, PERCENTILES).tolist(),
        'stamp_to_consumer_us': np.percentile(across, PERCENTILES).tolist(),
    }


def report(row: dict[str, object]) -> None:
    """Print two lines."""
    for what in ('callback_to_published_us', 'stamp_to_consumer_us'):
        figures = ''.join(f'{value:10.0f}' for value in row[what])  # type: ignore[attr-defined]
        print(f'{row["robot"]:28} {row["process"]:7} {what[:-3]:22} {figures}', flush=True)


if __name__ == '__main__':
    main()
