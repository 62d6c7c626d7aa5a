# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Run a standing humanoid and its torque estimator as processes that talk over DDS; check them.

The robot (`geolin_ros.demo.standing`) waves, and is pushed on its pelvis, which no sensor feels.
The estimator hears joint positions and velocities, the IMU and both soles; what it says of the
motors and of the push is held against what they were. The exit status is 0 only if every check
passes.
"""

import argparse
import os
import signal
import sys
import time
from pathlib import Path
from threading import Event

import numpy as np
import rclpy
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from geolin_msgs.msg import TorqueEstimate
from geolin_ros.demo.__main__ import INTERRUPTED, discovery
from geolin_ros.demo.processes import Child
from geolin_ros.demo.standing import IMU, PUSH, SOLES
from geolin_ros.ros.executor import make_executor
from geolin_ros.stream.stamps import nanoseconds
from geolin_ros.typing import Array

PUSHED = 'pelvis'
SETTLE = 0.5  # of what is heard, left out [s]
PARAMETERS = {
    'imu_topics': f'["{IMU} {IMU}"]',
    'wrench_topics': str([f'{link}/wrench {link}' for link in SOLES]).replace("'", '"'),
    'unknown_wrenches': f'["{PUSHED}"]',
}


class Recording:
    """What was said, by stamp."""

    def __init__(self) -> None:
        self.efforts: dict[int, Array] = {}
        self.torques: dict[int, Array] = {}
        self.pushes: dict[int, Array] = {}
        self.covariances: list[int] = []
        self.deviation = np.zeros(0)
        self.compute_times: list[float] = []
        self.heard: list[float] = []

    def on_joint_state(self, message: JointState) -> None:
        """Keep what the motors gave."""
        self.efforts[nanoseconds(message.header.stamp)] = np.array(message.effort)

    def on_estimate(self, message: TorqueEstimate) -> None:
        """Keep what the estimator says."""
        self.heard.append(time.monotonic())
        stamp = nanoseconds(message.header.stamp)
        self.torques[stamp] = np.array(message.joint_torques)
        force = next(w for w in message.wrenches if w.header.frame_id == PUSHED).wrench.force
        self.pushes[stamp] = np.array([force.x, force.y, force.z])
        self.compute_times.append(message.compute_time)
        if message.covariance.rows:
            self.covariances.append(stamp)
            diagonal = np.array(message.covariance.data)[:: message.covariance.cols + 1]
            self.deviation = np.sqrt(diagonal[: len(message.joint_torques)])

    @property
    def duration(self) -> float:
        """From the first estimate to the last, in the time of the robot [s]."""
        return (max(self.torques) - min(self.torques)) * 1e-9 if self.torques else 0.0


def processor_seconds(process: int) -> float:
    """Return the processor time [s] that a process, of this number, has used so far."""
    fields = Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def report(recording: Recording, seconds: float) -> bool:
    """Print what was found; return whether all of it is good.

    ``seconds`` of a processor is what the estimator has used since the first estimate.
    """
    begin = min(recording.torques) + int(SETTLE * 1e9)
    stamps = [s for s in recording.torques if s in recording.efforts and s >= begin]
    truth = np.array([recording.efforts[s] for s in stamps])
    error = np.array([recording.torques[s] for s in stamps]) - truth
    forces = np.array([recording.pushes[s] for s in stamps])
    asked = [s for s in recording.efforts if min(recording.torques) <= s <= max(recording.torques)]
    rate = (len(recording.heard) - 1) / (recording.heard[-1] - recording.heard[0])
    covariances = len(recording.covariances) / recording.duration
    rms, peak = float(np.sqrt(np.mean(error**2))), float(np.max(np.abs(truth)))
    expected, felt = float(np.linalg.norm(PUSH)), np.linalg.norm(forces, axis=1)
    pushed = felt[felt > 0.5 * expected]
    push = float(np.median(pushed)) if pushed.size else 0.0
    checks = (
        (
            f'{rate:.0f} estimates a second by the clock, {len(recording.torques)} of '
            f'{len(asked)} joint states answered; one takes '
            f'{np.median(recording.compute_times) * 1e6:.0f} us, with messages '
            f'{1e6 * seconds / len(asked):.0f} us of a processor',
            len(recording.torques) > 0.5 * len(asked),
        ),
        (f'{covariances:.1f} covariances a second, expected 10 or more', covariances >= 10.0),
        (
            f'torques differ from those of the motors by {rms:.3f} N m (root mean square), '
            f'expected less than 1 % of the largest, {peak:.1f} N m',
            rms < 0.01 * peak,
        ),
        (
            f'their deviations are said to be {recording.deviation.min(initial=9.9):.2g} to '
            f'{recording.deviation.max(initial=0.0):.2g} N m',
            bool(recording.deviation.size and rms < recording.deviation.max()),
        ),
        (
            f'the {PUSHED} is pushed by {push:.1f} N (median of what is above half), expected '
            f'{expected:.1f} N',
            abs(push - expected) < 0.2 * expected,
        ),
    )
    for text, good in checks:
        print(f'{"PASS" if good else "FAIL"}  {text}', flush=True)
    return all(good for _, good in checks)


def main(arguments: list[str] | None = None) -> int:
    """Run robot, estimator and checks; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m geolin_ros.demo.torques', description=__doc__)
    parser.add_argument('--duration', type=float, default=10.0, help='measured time [s]')
    parser.add_argument('--patience', type=float, default=300.0, help='until the first one [s]')
    options = parser.parse_args(arguments)
    os.environ.update(discovery())
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    parameters = [word for item in PARAMETERS.items() for word in ('-p', '{}:={}'.format(*item))]
    children = [
        Child('robot', 'geolin_ros.demo.standing', [], {}),
        Child('estimator', 'geolin_ros.ros.torque_estimator', ['--ros-args', *parameters], {}),
    ]
    recording = Recording()
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('torque_check', start_parameter_services=False)
    node.create_subscription(
        JointState, 'joint_states', recording.on_joint_state, qos_profile_sensor_data
    )
    node.create_subscription(
        TorqueEstimate, '/torque_estimator/estimate', recording.on_estimate, QoSProfile(depth=10)
    )
    executor = make_executor()
    executor.add_node(node)
    deadline, began = time.monotonic() + options.patience, 0.0
    try:
        while recording.duration < options.duration and not stop.is_set():
            executor.spin_once(timeout_sec=0.1)
            if len(recording.torques) == 1:
                began = processor_seconds(children[1].pid)
            late = not recording.torques and time.monotonic() > deadline
            if late or any(child.status is not None for child in children):
                break
        used = processor_seconds(children[1].pid) - began if recording.torques else 0.0
    finally:
        executor.shutdown()
        rclpy.try_shutdown()
        statuses = []
        for child in children:  # the robot first: the estimator then has nothing to do
            child.interrupt(mute=stop.is_set())
            statuses.append(child.finish())
    if stop.is_set():
        return INTERRUPTED
    if recording.duration < options.duration:
        print('FAIL  expected estimates that did not come, see above', file=sys.stderr)
        return 1
    return int(not report(recording, used) or any(statuses))


if __name__ == '__main__':
    sys.exit(main())
