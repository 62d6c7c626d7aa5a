# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node: joint states, IMUs and force sensors in, joint torques and external wrenches out."""

import sys

if __name__ == '__main__':  # before the imports that take seconds, as the console script
    from geolin_estimation.programs import torque_estimator

    sys.exit(torque_estimator())

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import Imu, JointState

from geolin_estimation.torque_stream import (
    TORQUE_TABLE,
    TorqueStream,
    TorqueWriter,
    torque_settings,
    warm_up,
)
from geolin_msgs.msg import TorqueEstimate, WrenchWithCovariance
from geolin_ros.ros.robot_node import Input, Output, Pipeline, Reading, RobotNode
from geolin_ros.ros.running import Program, run

PROGRAM = Program(
    'torque_estimator',
    'Estimates joint torques and external wrenches of a robot with IMUs and force sensors.',
    'robot_description, joint_states, and imu_topics and wrench_topics by parameter',
    '~/estimate',
)


class TorqueEstimatorNode(RobotNode):
    """Publishes the most likely joint torques and external wrenches at each joint state."""

    compile = staticmethod(warm_up)

    def __init__(self, **options: Any) -> None:
        super().__init__('torque_estimator', TORQUE_TABLE, **options)

    def outputs(self) -> Sequence[Output]:
        """Return what is published."""
        return (Output(TorqueEstimate, '~/estimate'),)

    def inputs(self) -> Sequence[Input]:
        """Return what is subscribed to."""
        settings = torque_settings(self._values)
        kind = WrenchStamped if settings.wrench_messages == 'plain' else WrenchWithCovariance
        return [
            Input(JointState, 'joint_states'),
            *(Input(Imu, imu.topic) for imu in settings.imu_topics),
            *(Input(kind, wrench.topic) for wrench in settings.wrench_topics),
        ]

    def make_stream(self, reading: Reading) -> TorqueStream:
        """Return a stream; it looks up all links that parameters name."""
        return TorqueStream(reading.model, torque_settings(reading.values), self._counts)

    def make_pipeline(self, reading: Reading) -> Pipeline:
        """Return stream and writer."""
        stream = self.make_stream(reading)
        stream.warm_up()
        return Pipeline(stream, TorqueWriter(TorqueEstimate(), WrenchWithCovariance, stream))

    def publish(self, pipeline: Pipeline, answer: Any, start: float) -> None:
        """Publish an estimate."""
        self._outputs[0].publish(pipeline.writer.write(answer))
        self._diagnostics.latencies.append(time.perf_counter() - start)
        self._diagnostics.ages.append(answer.imu_age)


main = partial(run, TorqueEstimatorNode, PROGRAM)
