# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node: IMU, joint states and contacts in, odometry of the base out."""

import sys

if __name__ == '__main__':  # before the imports that take seconds, as the console script
    from geolin_estimation.programs import state_estimator

    sys.exit(state_estimator())

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState

from geolin_estimation.base_parameters import BASE_TABLE, base_settings
from geolin_estimation.base_stream import BaseMessages, BaseStream, BaseWriter
from geolin_estimation.imu_queue import ImuQueue
from geolin_estimation.warm_up import warm_up
from geolin_msgs.msg import ContactState, ContactStates
from geolin_ros.ros.command_line import Program, read_arguments
from geolin_ros.ros.qos import KEPT
from geolin_ros.ros.robot_node import Input, Output, Pipeline, Reading, RobotNode, run
from geolin_ros.stream.inputs.stamps import nanoseconds

PROGRAM = Program(
    'state_estimator',
    'Estimates pose, velocity and IMU biases of a floating base from IMU, joints and contacts.',
    'robot_description, joint_states, imu, and contact_states or foot forces by parameter',
    '~/odometry, ~/imu_bias, ~/contact_states, and ~/joint_states if those received have no rates',
)


class StateEstimatorNode(RobotNode):
    """Publishes the odometry of the base at each joint state."""

    def __init__(self, **options: Any) -> None:
        self._samples: ImuQueue | None = None
        self._reported = 0
        super().__init__('state_estimator', BASE_TABLE, **options)

    def check(self, values: Mapping[str, Any]) -> None:
        """Refuse values without feet."""
        present = {row.name: self.get_parameter(row.name).value for row in BASE_TABLE}
        base_settings(present | dict(values), '')

    def compile(self) -> None:
        """Compile, or load from the cache, what an estimate needs."""
        warm_up()

    def outputs(self) -> Sequence[Output]:
        """Return what is published."""
        return (
            Output(Odometry, '~/odometry'),
            Output(Imu, '~/imu_bias'),
            Output(ContactStates, '~/contact_states'),
            Output(JointState, '~/joint_states'),
        )

    def inputs(self) -> Sequence[Input]:
        """Return what is subscribed to."""
        settings = base_settings(self._values, '')
        kinds: dict[str, Any] = {}
        if settings.contacts.source == 'topic':
            kinds['contact_states'] = ContactStates
        kinds |= {foot.topic: WrenchStamped for foot in settings.contacts.measured_feet}
        imu = settings.imu.topic
        return [
            Input(JointState, 'joint_states', self._take_joint_state),
            Input(Imu, imu, partial(self.take, imu), KEPT),
            *(Input(kind, topic, partial(self.take, topic)) for topic, kind in kinds.items()),
        ]

    def _open(self, given: Input) -> Any:
        subscription = super()._open(given)
        if given.kind is Imu:
            self._samples = ImuQueue(subscription)
        return subscription

    def _close_inputs(self) -> None:
        self._samples = None
        super()._close_inputs()

    @property
    def subscriptions(self) -> Iterator[Any]:
        """Those that the executor waits for: IMU samples come with joint states."""
        samples = self._samples and self._samples.subscription
        return (s for s in super().subscriptions if s is not samples)

    def _take_joint_state(self, message: Any) -> None:
        """Take a joint state, after the IMU samples until then."""
        self._take_samples(nanoseconds(message.header.stamp))
        self.take('joint_states', message)

    def _take_samples(self, until: int | None = None) -> None:
        if self._samples is not None:
            pipeline = self._pipeline
            repeat = pipeline.stream.repeat_imu if pipeline else lambda *_: False
            self._samples.take(repeat, until)

    def report(self, waits_for: str | None) -> DiagnosticArray:
        """Take IMU samples also where no joint states come, before there is no room for them."""
        if self._reported == self._counts.received:
            self._take_samples()
        self._reported = self._counts.received
        return super().report(waits_for)

    def make_stream(self, reading: Reading) -> BaseStream:
        """Return a stream; it looks up all links that parameters name."""
        settings = base_settings(reading.values, reading.model.base_link)
        return BaseStream(reading.model, settings, self._counts)

    def make_pipeline(self, reading: Reading) -> Pipeline:
        """Return stream and writer."""
        stream = self.make_stream(reading)
        stream.warm_up()
        messages = BaseMessages(Odometry(), Imu(), ContactStates(), JointState())
        return Pipeline(stream, BaseWriter(messages, stream.model, stream.settings, ContactState))

    def publish(self, pipeline: Pipeline, answer: Any, start: float) -> None:
        """Publish an estimate, as far as somebody subscribes: that costs more than to find it."""
        wanted = [output.get_subscription_count() > 0 for output in self._outputs]
        if any(wanted):
            messages = pipeline.writer.write(answer)
            for output, message, is_wanted in zip(self._outputs, messages, wanted, strict=True):
                if is_wanted and message is not None:
                    output.publish(message)
        self._diagnostics.latencies.add(time.perf_counter() - start)
        self._diagnostics.ages.add(answer.imu_age)


def main(arguments: list[str] | None = None) -> int:
    """Run the node until a signal ends it; return the exit status."""
    with_parent = read_arguments(PROGRAM, arguments)
    return run(StateEstimatorNode, PROGRAM.name, arguments, with_parent)
