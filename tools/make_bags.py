# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Make the bags in test/bags: the demo's robot process, recorded over DDS, and a pushed robot.

python tools/make_bags.py
"""

import os
import shutil
import sys
import time
from pathlib import Path

import rclpy
from geolin_demos.demo.__main__ import discovery
from geolin_demos.demo.processes import Child
from geolin_demos.sim.simulator import Push, Simulator
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from geolin_ros import robots
from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.posture import standing_posture
from geolin_ros.offline.bags import JOINT_STATE, ODOMETRY, STRING, BagWriter

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'test' / 'bags'
sys.path.append(str(ROOT / 'test'))
FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')
TOPICS = (
    ('/robot_description', String, STRING),
    ('/odom', Odometry, ODOMETRY),
    ('/joint_states', JointState, JOINT_STATE),
)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


from support.bags import START, Messages, Sample, quadruped, write_bag  # noqa: E402


def record(folder: Path, seconds: float) -> None:
    """Write what the robot publishes within some seconds of its first joint state."""
    os.environ.update(discovery())
    shutil.rmtree(folder, ignore_errors=True)
    robot = Child('robot', 'geolin_demos.demo.robot', [], {})
    rclpy.init(args=[])
    node = rclpy.create_node('recorder')
    first: list[int] = []
    with BagWriter(folder, compression='storage') as bag:
        for topic, kind, name in TOPICS:
            bag.add_topic(topic, name)

            def write(data: bytes, topic: str = topic) -> None:
                now = time.time_ns()
                if topic == '/joint_states' and not first:
                    first.append(now)
                bag.write_serialized(topic, now, data)

            qos = LATCHED if kind is String else qos_profile_sensor_data
            node.create_subscription(kind, topic, write, qos, raw=True)
        while not first or time.time_ns() - first[0] < seconds * 1e9:
            rclpy.spin_once(node, timeout_sec=0.1)
    robot.interrupt()
    robot.finish()
    rclpy.try_shutdown()


def push(folder: Path, seconds: float) -> None:
    """Write a simulated quadruped that stands, held by springs in its joints, and is pushed."""
    model, text = quadruped()
    path = robots.path('quadruped')
    simulator = Simulator(path, model, FEET, pushes=[Push(0.2, (0.0, 60.0, 0.0))])
    supports = list(simulator.feet.values())
    start = standing_posture(model, supports)
    held = equilibrium(model, start, supports).tau
    start.H[2, 3] -= simulator.clearance(start)
    simulator.reset(start)
    samples = []
    while simulator.time < seconds:
        state = simulator.state
        tau = simulator.advance(held - 80.0 * (state.s - start.s) - 2.0 * state.r, 0.004)
        samples.append(Sample(START + round(1e9 * simulator.time), simulator.state, tau))
    shutil.rmtree(folder, ignore_errors=True)
    write_bag(folder, Messages(model).of_samples(samples), text, compression='storage')


if __name__ == '__main__':
    push(FOLDER / 'pushed', 0.8)
    record(FOLDER / 'demo', 0.6)
