# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How much of a core the state estimator needs: CPU time of its stream, messages and all.

``python -m benchmarks.base_state [--imu 2000] [--joints 500] [--seconds 5] [--node]``

With ``--node`` the node itself, beside one that takes the same messages and does nothing: that is
the price of DDS, rclpy and Python, 2500 times a second.
"""

import argparse
import os
import time

import numpy as np
from geolin_demos.demo.__main__ import discovery
from geolin_demos.demo.processes import Child
from geolin_estimation.base_stream import BaseSettings, BaseStream, BaseWriter
from geolin_estimation.imu_input import ImuTopic

from benchmarks.measure import processor_seconds
from geolin_ros import TreeModel, robots
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.support import Support
from geolin_ros.linearization.contacts import Contact
from geolin_ros.offline.bags import IMU, JOINT_STATE, empty_message
from geolin_ros.stream.contacts import ContactSettings, ContactSource
from geolin_ros.stream.message_fields import write_stamp

FEET = {
    'quadruped': {f'{leg}_foot': 'point' for leg in ('FL', 'FR', 'RL', 'RR')},
    'humanoid': {f'{side}_foot': 'surface' for side in ('left', 'right')},
}
START = 1_000_000_000
SETTLE = 15.0
"""Until nodes have loaded their kernels [s]."""


def share_of_a_core(
    robot: str, source: ContactSource, imu_rate: float, joint_rate: float, seconds: float
) -> float:
    """Return CPU time over time of the robot, which stands on all feet."""
    model = TreeModel.from_urdf(robots.path(robot))
    contacts = tuple(Contact(foot, kind) for foot, kind in FEET[robot].items())
    settings = BaseSettings(ImuTopic('imu', model.base_link), ContactSettings(source, contacts))
    stream = BaseStream(model, settings)
    stream.warm_up()
    writer = BaseWriter(empty_message, stream)
    supports = [
        Support.sole(foot, 0.1, 0.1) if kind == 'surface' else Support(foot)
        for foot, kind in FEET[robot].items()
    ]
    state = standing_posture(model, supports)
    imu, joints = empty_message(IMU), empty_message(JOINT_STATE)
    imu.linear_acceleration.z = 9.81
    joints.name, joints.position = list(model.joint_names), state.s
    joints.velocity, joints.effort = np.zeros(model.n), np.zeros(model.n)
    every = round(imu_rate / joint_rate)
    begun = 0.0
    for k in range(-100, round(seconds * imu_rate)):
        if k == 0:
            begun = time.process_time()
        stamp = START + round(k / imu_rate * 1e9)
        write_stamp(imu.header.stamp, stamp)
        list(stream.take('imu', imu))
        if k % every == 0:
            write_stamp(joints.header.stamp, stamp)
            for answer in stream.take('joint_states', joints):
                writer.write(answer)
    return (time.process_time() - begun) / seconds


def share_of_node(robot: str, source: ContactSource, rates: list[float], seconds: float) -> float:
    """Return the same of the node as a process; of one that only listens for ``'nothing'``."""
    foot_kinds = [f"'{foot} {kind}'" for foot, kind in FEET[robot].items()]
    values = (
        f'robot_description_file:={robots.path(robot)}',
        f'contact_source:={source}',
        f'contacts:=[{", ".join(foot_kinds)}]',
    )
    parameters = [word for value in values for word in ('-p', value)]
    node = ('geolin_estimation.state_estimator', ['--ros-args', *parameters])
    answers = ('benchmarks.silent_node', []) if source == 'nothing' else node
    publishes = ('benchmarks.standing_robot', [robot, *map(str, rates)])
    children = [Child('robot', *publishes, {}), Child('node', *answers, {})]
    try:
        time.sleep(SETTLE)
        busy = processor_seconds(children[1].pid)
        time.sleep(seconds)
        return (processor_seconds(children[1].pid) - busy) / seconds
    finally:
        for child in children:
            child.interrupt(mute=True)
            child.finish()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.base_state', description=__doc__)
    parser.add_argument('--imu', type=float, default=2000.0, help='samples [Hz] (%(default)s)')
    parser.add_argument('--joints', type=float, default=500.0, help='states [Hz] (%(default)s)')
    parser.add_argument('--seconds', type=float, default=5.0, help='(%(default)s)')
    parser.add_argument('--node', action='store_true', help='the nodes as well')
    options = parser.parse_args()
    os.environ.update(discovery())
    for robot in FEET:
        for source in ('parameter', 'efforts'):
            share = share_of_a_core(robot, source, options.imu, options.joints, options.seconds)
            print(f'{robot}, contacts by {source}: {100.0 * share:.1f} % of a core', flush=True)
        for source in ('nothing', 'parameter', 'efforts') if options.node else ():
            rates = [options.imu, options.joints]
            share = share_of_node(robot, source, rates, options.seconds)
            print(f'{robot}, node, contacts by {source}: {100.0 * share:.1f} % of a core')


if __name__ == '__main__':
    main()
