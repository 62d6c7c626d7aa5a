# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node: IMU, joint states and contacts in, odometry of the base out."""

import sys

if __name__ == '__main__':  # before the imports that take seconds, as the console script
    from geolin_estimation.programs import state_estimator

    sys.exit(state_estimator())

import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import Imu, JointState

from geolin_estimation.base_stream import (
    BASE_TABLE,
    OUTPUTS,
    BaseStream,
    BaseWriter,
    base_settings,
    warm_up,
)
from geolin_msgs.msg import ContactStates
from geolin_ros.ros.robot_node import Input, Output, Pipeline, Reading, RobotNode
from geolin_ros.ros.running import Program, run
from geolin_ros.ros.topics import KEPT, type_of
from geolin_ros.stream.inputs.serialized import LITTLE_ENDIAN
from geolin_ros.stream.topic_stream import CLOCK_RESET, nanoseconds

PROGRAM = Program(
    'state_estimator',
    'Estimates pose, velocity and IMU biases of a floating base from IMU, joints and contacts.',
    'robot_description, joint_states, imu, and contact_states or foot forces by parameter',
    '~/odometry, ~/imu_bias, ~/contact_states, and ~/joint_states if those received have no rates',
)

NUMBERS = 37 * 8
"""Bytes of the numbers of a message, which end it."""
NOTHING: tuple[bytes, ...] = ()
_length = struct.Struct('<I').unpack_from
_time = struct.Struct('<iI').unpack_from
_motion = struct.Struct('<3d72x3d').unpack_from  # [gyro; accelerometer], a covariance between


class ImuQueue:
    """IMU samples of a subscription that wait until they are needed, and are then taken together.

    For an executor to wake up for each of them takes several times as long as they do. The
    subscription is raw, of sensor_msgs/Imu; its callback takes the bytes of a message.
    """

    def __init__(self, subscription: Any) -> None:
        self.subscription = subscription
        self._rest = NOTHING
        self._waiting: bytes | None = None

    def take(
        self, repeat: Callable[[int, tuple[float, ...]], bool], until: int | None = None
    ) -> None:
        """Take what has come, but for what is stamped after ``until`` [ns]: that waits.

        None: take everything; a clock that is ahead by a second or more does not wait. ``repeat``
        is called with stamp [ns] and [gyro; accelerometer] of a sample whose frame and covariances
        are those of the one before. The callback takes all others, and what it refuses.
        """
        handle = self.subscription.handle
        with handle:
            while True:
                data, self._waiting = self._waiting, None
                if data is None:
                    taken = handle.take_message(Imu, True)
                    if taken is None:
                        return
                    data = taken[0]
                at, rest = _numbers_at(data), NOTHING
                if at:
                    seconds, fraction = _time(data, 4)
                    stamp = seconds * 1_000_000_000 + fraction
                    if until is not None and 0 < stamp - until < CLOCK_RESET:
                        self._waiting = data
                        return
                    rest = (  # frame, and covariances
                        *(data[12:at], data[at + 32 : at + 104], data[at + 128 : at + 200]),
                        data[at + 224 :],
                    )
                    if rest == self._rest and repeat(stamp, _motion(data, at + 104)):
                        continue
                self._rest = rest
                self.subscription.callback(data)


def _numbers_at(data: bytes) -> int:
    """Return where the orientation begins, which all other numbers follow; 0: who knows."""
    if data[:4] != LITTLE_ENDIAN or len(data) <= NUMBERS:
        return 0
    end = 16 + _length(data, 12)[0]
    at: int = end + (4 - end) % 8
    return at if len(data) == at + NUMBERS else 0


class StateEstimatorNode(RobotNode):
    """Publishes the odometry of the base at each joint state."""

    compile = staticmethod(warm_up)

    def __init__(self, **options: Any) -> None:
        super().__init__('state_estimator', BASE_TABLE, **options)
        self._samples: ImuQueue | None = None
        self._reported = 0

    def check(self, values: Mapping[str, Any]) -> None:
        """Refuse values without feet."""
        base_settings(values, '')

    def outputs(self) -> Sequence[Output]:
        """Return what is published."""
        return [Output(type_of(kind), f'~/{name}') for name, kind in OUTPUTS.items()]

    def inputs(self) -> Sequence[Input]:
        """Return what is subscribed to."""
        settings = base_settings(self._values, '')
        kinds: dict[str, Any] = {}
        if settings.contacts.source == 'topic':
            kinds['contact_states'] = ContactStates
        kinds |= {foot.topic: WrenchStamped for foot in settings.contacts.measured_feet}
        return [
            Input(JointState, 'joint_states', self._take_joint_state),
            Input(Imu, settings.imu.topic, qos=KEPT),
            *(Input(kind, topic) for topic, kind in kinds.items()),
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
        return Pipeline(stream, BaseWriter(lambda kind: type_of(kind)(), stream))

    def publish(self, pipeline: Pipeline, answer: Any, start: float) -> None:
        """Publish an estimate, as far as somebody subscribes: that costs more than to find it."""
        wanted = [output.get_subscription_count() > 0 for output in self._outputs]
        if any(wanted):
            messages = pipeline.writer.write(answer).values()
            for output, message, is_wanted in zip(self._outputs, messages, wanted, strict=True):
                if is_wanted and message is not None:
                    output.publish(message)
        self._diagnostics.latencies.append(time.perf_counter() - start)
        self._diagnostics.ages.append(answer.imu_age)


main = partial(run, StateEstimatorNode, PROGRAM)
