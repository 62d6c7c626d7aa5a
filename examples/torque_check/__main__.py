# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Run a standing humanoid and its torque estimator as processes that talk over DDS; check them.

The robot (`torque_check.standing`) waves. No sensor measures pushes on its pelvis.
The estimator gets joint positions and velocities, the IMU and both soles; what it says of the
motors and of the push is compared with what they were. The exit status is 0 only if every check
passes.
"""

import argparse
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import rclpy
from geolin_demos.demo.__main__ import discovery
from geolin_demos.demo.processes import INTERRUPTED, Child
from geolin_demos.demo.robot import PERIOD
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from geolin_msgs.msg import TorqueEstimate
from geolin_ros.ros.programs import stop_on_signals
from geolin_ros.ros.running import make_executor
from geolin_ros.ros.topics import SENSOR_DATA
from geolin_ros.stream.topic_stream import nanoseconds
from geolin_ros.typing import Array
from torque_check.standing import IMU, PUSH, SOLES, STEP

PUSHED = 'pelvis'
RELIABLE = QoSProfile(depth=20)
SETTLE = 0.5  # of what is received, left out [s]
ANSWERED = 0.9  # of the joint states, at least
LEAST = SETTLE + PUSH.every + PUSH.duration  # holds a whole push, whenever it begins [s]
PARAMETERS = {
    'imu_topics': f'["{IMU} {IMU}"]',
    'wrench_topics': str([f'{link}/wrench {link}' for link in SOLES]).replace("'", '"'),
    'wrench_messages': 'with_covariance',
    'unknown_wrenches': f'["{PUSHED}"]',
}


class Recording:
    """What was published, as it came: to read it meanwhile would take time from who is checked."""

    def __init__(self) -> None:
        self.joint_states: list[bytes] = []
        self.estimates: list[bytes] = []
        self.received: list[float] = []

    def on_estimate(self, message: bytes) -> None:
        """Keep what the estimator says, and when that was."""
        self.received.append(time.monotonic())
        self.estimates.append(message)

    @property
    def duration(self) -> float:
        """Of the motion from the first estimate to the last [s]."""
        return len(self.estimates) * STEP


class Contents:
    """What a recording holds, by stamp."""

    def __init__(self, recording: Recording) -> None:
        self.efforts: dict[int, Array] = {}
        self.torques: dict[int, Array] = {}
        self.pushes: dict[int, Array] = {}
        self.covariances = 0
        self.deviation = np.zeros(0)
        self.compute_times: list[float] = []
        for data in recording.joint_states:
            state = deserialize_message(data, JointState)
            self.efforts[nanoseconds(state.header.stamp)] = np.array(state.effort)
        for data in recording.estimates:
            self._add(deserialize_message(data, TorqueEstimate))

    def _add(self, message: TorqueEstimate) -> None:
        stamp = nanoseconds(message.header.stamp)
        self.torques[stamp] = np.array(message.joint_torques)
        force = next(w for w in message.wrenches if w.header.frame_id == PUSHED).wrench.force
        self.pushes[stamp] = np.array([force.x, force.y, force.z])
        self.compute_times.append(message.compute_time)
        if message.covariance.rows:
            self.covariances += 1
            diagonal = np.array(message.covariance.data)[:: message.covariance.cols + 1]
            self.deviation = np.sqrt(diagonal[: len(message.joint_torques)])


def processor_seconds(processes: Mapping[str, int]) -> dict[str, float]:
    """Return the processor time [s] that processes, given by their numbers, have used so far."""
    used = {}
    for who, number in processes.items():
        fields = Path(f'/proc/{number}/stat').read_text().rpartition(')')[2].split()
        used[who] = (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
    return used


def report(recording: Recording, seconds: Mapping[str, float]) -> bool:
    """Print what was found; return whether all of it is good.

    ``seconds`` of a processor have been used by each process since the first estimate.
    """
    found = Contents(recording)
    first, last = min(found.torques), max(found.torques)
    settled = [s for s in found.torques if s >= first + int(SETTLE * 1e9)]
    stamps = [s for s in settled if s in found.efforts]  # of which the truth was received too
    truth = np.array([found.efforts[s] for s in stamps])
    error = np.array([found.torques[s] for s in stamps]) - truth
    forces = np.array([found.pushes[s] for s in settled])
    asked = 1 + (last - first) // PERIOD
    clock = recording.received[-1] - recording.received[0]
    rate = (len(recording.received) - 1) / clock
    covariances = 1e9 * found.covariances / (last - first)
    used = ', '.join(f'{who} {1e6 * spent / asked:.0f}' for who, spent in seconds.items())
    rms, peak = float(np.sqrt(np.mean(error**2))), float(np.max(np.abs(truth)))
    expected, estimated = float(np.linalg.norm(PUSH.force)), np.linalg.norm(forces, axis=1)
    pushed = estimated[estimated > 0.5 * expected]
    push = float(np.median(pushed)) if pushed.size else 0.0
    checks = (
        (
            f'{rate:.0f} estimates a second by the clock, {len(found.torques)} of {asked} joint '
            f'states answered, expected more than {100 * ANSWERED:g} %; one takes '
            f'{np.median(found.compute_times) * 1e6:.0f} us, with messages of a processor [us]: '
            f'{used}',
            len(found.torques) > ANSWERED * asked,
        ),
        (f'{covariances:.1f} covariances a second, expected 10 or more', covariances >= 10.0),
        (
            f'torques differ from those of the motors by {rms:.3f} N m (root mean square), '
            f'expected less than 1 % of the largest, {peak:.1f} N m',
            rms < 0.01 * peak,
        ),
        (
            f'their deviations are estimated as {found.deviation.min(initial=9.9):.2g} to '
            f'{found.deviation.max(initial=0.0):.2g} N m',
            bool(found.deviation.size and rms < found.deviation.max()),
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
    program = 'python -m torque_check'
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    parser.add_argument('--duration', type=float, default=10.0, help='measured time [s]')
    parser.add_argument('--patience', type=float, default=300.0, help='until the first one [s]')
    options = parser.parse_args(arguments)
    if not options.duration >= LEAST:
        parser.error(f'--duration {options.duration:g}: expected {LEAST:g} s or more (one push)')
    os.environ.update(discovery())
    stop = stop_on_signals()
    parameters = [word for item in PARAMETERS.items() for word in ('-p', '{}:={}'.format(*item))]
    recording = Recording()
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('torque_check', start_parameter_services=False)
    for kind, topic, take, qos in (
        (JointState, 'joint_states', recording.joint_states.append, SENSOR_DATA),
        (TorqueEstimate, '/torque_estimator/estimate', recording.on_estimate, RELIABLE),
    ):
        node.create_subscription(kind, topic, take, qos, raw=True)
    executor = make_executor()
    executor.add_node(node)
    children = [
        Child('robot', 'torque_check.standing', [], {}),
        Child('estimator', 'geolin_estimation.torque_estimator', ['--ros-args', *parameters], {}),
    ]
    processes = {'robot': children[0].pid, 'estimator': children[1].pid, 'check': os.getpid()}
    deadline, began = time.monotonic() + options.patience, dict.fromkeys(processes, 0.0)
    try:
        while recording.duration < options.duration and not stop.is_set():
            executor.spin_once(timeout_sec=0.1)
            if len(recording.estimates) == 1:
                began = processor_seconds(processes)
            late = not recording.estimates and time.monotonic() > deadline
            if late or any(child.status is not None for child in children):
                break
        if recording.duration >= options.duration:
            used = {who: now - began[who] for who, now in processor_seconds(processes).items()}
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
