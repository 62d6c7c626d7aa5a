# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Proper acceleration and turning of links from sensor_msgs/Imu, one topic a link."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.drops import Cause, DroppedInput, nanoseconds, starts_anew
from geolin_ros.stream.inputs.differentiation import Differentiator
from geolin_ros.typing import Array

NOT_MEASURED = -1.0
"""First entry of a covariance in sensor_msgs/Imu whose quantity is not measured."""


class ImuTopic(NamedTuple):
    """What a topic is about: an IMU at the origin and in the axes of ``link``."""

    topic: str
    link: str


class ImuSample(NamedTuple):
    """What an IMU says, in its own axes."""

    acceleration: Array
    """(3,) less gravity [m/s^2]"""
    turning: Array
    """(3,) angular velocity [rad/s]"""
    angular_acceleration: Array
    """(3,) [rad/s^2]"""
    covariance: Array | None
    """(3, 3) of the acceleration; None: the message does not say."""


@dataclass
class _Newest:
    link: str
    turning_rate: Differentiator | None
    stamp: int | None = None
    sample: Array = field(default_factory=lambda: np.zeros(6))
    covariance: list[float] = field(default_factory=list)


class ImuInput:
    """Keeps the newest sample of each IMU, and differentiates what the gyros say.

    Raises `UnknownNameError` if a link is not part of the robot.

    Parameters
    ----------
    max_skew
        Longest distance in time to a joint state [s].
    cutoff
        Of the differentiated angular velocity [Hz], see `Differentiator`; None: nobody asks for
        `samples`.
    frame_prefix
        Of the frames in messages.
    """

    def __init__(
        self,
        model: TreeModel,
        topics: Sequence[ImuTopic],
        max_skew: float,
        cutoff: float | None,
        frame_prefix: str = '',
    ) -> None:
        for topic in topics:
            model.frame(topic.link)
        self.topics = tuple(topics)
        self._max_skew = max_skew
        self._newest = {
            t.topic: _Newest(
                frame_prefix + t.link, None if cutoff is None else Differentiator(cutoff)
            )
            for t in topics
        }

    @property
    def newest_stamps(self) -> dict[str, int | None]:
        """Stamps [ns] of the samples taken last, None before the first."""
        return {topic: newest.stamp for topic, newest in self._newest.items()}

    def age(self, stamp: int) -> float:
        """Return the largest distance of a newest sample to a joint state at ``stamp`` [s].

        Raises `DroppedInput` if one is missing, too far away, or its angular acceleration not
        known yet.
        """
        largest = 0.0
        for topic, newest in self._newest.items():
            rate = newest.turning_rate
            is_known = newest.stamp is not None and (rate is None or rate.rate is not None)
            age = abs(stamp - (newest.stamp or 0)) * 1e-9 if is_known else np.inf
            if age > self._max_skew:
                raise DroppedInput(
                    Cause.NO_IMU,
                    f'the newest sample of the IMU on {topic} is {age:.4f} s away from the joint '
                    f'state, expected at most {self._max_skew:g} s; check its publisher or raise '
                    'max_skew',
                )
            largest = max(largest, age)
        return largest

    def sample(self, topic: str) -> Array:
        """Return what was taken last of a topic: [gyro; accelerometer] (6,) [rad/s, m/s^2]."""
        return self._newest[topic].sample

    def take(self, topic: str, message: Any) -> None:
        """Keep a message of a topic.

        Raises `DroppedInput` if its frame is another, it measures only a part, a number is not
        finite, or the stamp not after the last one. The one kept before stays.
        """
        newest, header = self._newest[topic], message.header
        if header.frame_id not in ('', newest.link):
            raise DroppedInput(
                Cause.IMU_FRAME,
                f'IMU on {topic} has frame_id {header.frame_id!r}, expected '
                f'{newest.link!r}; correct the publisher, or the link in parameters',
            )
        stamp = nanoseconds(header.stamp)
        rate = newest.turning_rate
        if starts_anew(f'IMU on {topic}', stamp, newest.stamp) and rate is not None:
            rate.forget()
        w, a = message.angular_velocity, message.linear_acceleration
        sample = w.x, w.y, w.z, a.x, a.y, a.z
        covariance = np.asarray(message.linear_acceleration_covariance).tolist()
        if NOT_MEASURED in (covariance[0], message.angular_velocity_covariance[0]):
            raise DroppedInput(
                Cause.IMU_PART,
                f'IMU on {topic} says that it does not measure acceleration or angular velocity, '
                f'expected both; name another topic',
            )
        if not (all(map(math.isfinite, sample)) and all(map(math.isfinite, covariance))):
            raise DroppedInput(
                Cause.NOT_FINITE,
                f'IMU on {topic} is {[*sample[3:], *sample[:3]]}, expected finite numbers',
            )
        newest.stamp, newest.covariance = stamp, covariance
        newest.sample = np.array(sample)
        if rate is not None:
            rate.add(stamp, newest.sample[:3])

    def repeat(self, topic: str, stamp: int, sample: tuple[float, ...]) -> Array:
        """Keep a sample [gyro; accelerometer] (6,) of the frame and covariances of the last one.

        Its numbers have to be finite and its ``stamp`` [ns] in order.
        """
        newest = self._newest[topic]
        newest.stamp, newest.sample = stamp, np.array(sample)
        return newest.sample

    def samples(self) -> list[ImuSample]:
        """Return the newest samples, in the order of the topics; `age` has to accept them."""
        samples = []
        for newest in self._newest.values():
            given = np.reshape(newest.covariance, (3, 3)) if any(newest.covariance) else None
            rate: Any = newest.turning_rate
            samples.append(ImuSample(newest.sample[3:], newest.sample[:3], rate.rate, given))
        return samples
