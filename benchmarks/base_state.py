# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How much of a core the state estimator needs: CPU time of its stream, messages and all.

``python -m benchmarks.base_state [--imu 2000] [--joints 500] [--seconds 5]``
"""

import argparse
import time

import numpy as np

from geolin_ros import TreeModel, robots
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.support import Support
from geolin_ros.linearization.contacts import Contact
from geolin_ros.offline.base_run import base_writer
from geolin_ros.offline.message_types import IMU, JOINT_STATE, empty_message
from geolin_ros.stream.base_stream import BaseSettings, BaseStream
from geolin_ros.stream.geometry import write_stamp
from geolin_ros.stream.inputs.contact_input import ContactSettings, ContactSource
from geolin_ros.stream.inputs.imu_input import ImuTopic

FEET = {
    'quadruped': {f'{leg}_foot': 'point' for leg in ('FL', 'FR', 'RL', 'RR')},
    'humanoid': {f'{side}_foot': 'surface' for side in ('left', 'right')},
}
START = 1_000_000_000


def share_of_a_core(
    robot: str, source: ContactSource, imu_rate: float, joint_rate: float, seconds: float
) -> float:
    """Return CPU time over time of the robot, which stands on all feet."""
    model = TreeModel.from_urdf(robots.path(robot))
    contacts = tuple(Contact(foot, kind) for foot, kind in FEET[robot].items())
    settings = BaseSettings(ImuTopic('imu', model.base_link), ContactSettings(source, contacts))
    stream = BaseStream(model, settings)
    stream.warm_up()
    writer = base_writer(stream)
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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.base_state', description=__doc__)
    parser.add_argument('--imu', type=float, default=2000.0, help='samples [Hz] (%(default)s)')
    parser.add_argument('--joints', type=float, default=500.0, help='states [Hz] (%(default)s)')
    parser.add_argument('--seconds', type=float, default=5.0, help='(%(default)s)')
    options = parser.parse_args()
    for robot in FEET:
        for source in ('parameter', 'efforts'):
            share = share_of_a_core(robot, source, options.imu, options.joints, options.seconds)
            print(f'{robot}, contacts by {source}: {100.0 * share:.0f} % of a core', flush=True)


if __name__ == '__main__':
    main()
