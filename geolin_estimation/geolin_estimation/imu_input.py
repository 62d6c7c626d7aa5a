# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Proper acceleration and turning of a link from sensor_msgs/Imu."""

import math
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.inputs.differentiation import Differentiator
from geolin_ros.stream.topic_stream import Cause, DroppedInput, NewestMessage

NOT_MEASURED = -1.0
"""First entry of a covariance in sensor_msgs/Imu whose quantity is not measured."""


class ImuTopic(NamedTuple):
    """What a topic is about: an IMU at the origin and in the axes of ``link``."""

    topic: str
    link: str


class ImuInput(NewestMessage):
    """Keeps the newest sample of an IMU.

    It counts within ``max_skew`` [s] of a joint state; ``turning`` finds the angular acceleration,
    None: nobody asks for it. Raises `UnknownNameError` if its link is not part of the robot.

    Attributes
    ----------
    value : (6,)
        [gyro; accelerometer], in axes of the link [rad/s, m/s^2].
    covariance : (9,)
        Of the acceleration; zeros: the message does not say.
    """

    def __init__(
        self,
        model: TreeModel,
        topic: ImuTopic,
        max_skew: float,
        frame_prefix: str = '',
        turning: Differentiator | None = None,
    ) -> None:
        model.frame(topic.link)
        super().__init__(f'sample of the IMU on {topic.topic}', value=np.zeros(6))
        self.topic, self.turning = topic, turning
        self.covariance: list[float] = []
        self._max_skew, self._frame = max_skew, frame_prefix + topic.link

    def age(self, stamp: int) -> float:
        """Return the distance of the sample to a joint state at ``stamp`` [s].

        Raises `DroppedInput` if it is missing, too far away, or its angular acceleration not
        known yet.
        """
        lack = self.lack(stamp, self._max_skew)
        if not lack and self.turning is not None and self.turning.rate is None:
            lack = f'only one {self.what} yet'
        if lack:
            raise DroppedInput(Cause.NO_IMU, f'{lack}; check its publisher or raise max_skew')
        return abs(stamp - (self.stamp or 0)) * 1e-9

    def take(self, message: Any) -> None:
        """Keep a message.

        Raises `DroppedInput` if its frame is another, it measures only a part, a number is not
        finite, or the stamp not after the last one. The one kept before stays.
        """
        frame = message.header.frame_id
        if frame not in ('', self._frame):
            raise DroppedInput(
                Cause.IMU_FRAME,
                f'IMU on {self.topic.topic} has frame_id {frame!r}, expected {self._frame!r}; '
                'correct the publisher, or the link in parameters',
            )
        stamp = self.next(message)
        w, a = message.angular_velocity, message.linear_acceleration
        sample = w.x, w.y, w.z, a.x, a.y, a.z
        covariance = np.asarray(message.linear_acceleration_covariance).tolist()
        if NOT_MEASURED in (covariance[0], message.angular_velocity_covariance[0]):
            raise DroppedInput(
                Cause.IMU_PART,
                f'IMU on {self.topic.topic} says that it does not measure acceleration or angular '
                'velocity, expected both; name another topic',
            )
        if not (all(map(math.isfinite, sample)) and all(map(math.isfinite, covariance))):
            raise DroppedInput(
                Cause.NOT_FINITE,
                f'IMU on {self.topic.topic} is {[*sample[3:], *sample[:3]]}, expected finite '
                'numbers',
            )
        self.stamp, self.value, self.covariance = stamp, np.array(sample), covariance
        if self.turning is not None:
            self.turning.add(stamp, self.value[:3])
