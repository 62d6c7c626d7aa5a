# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of the base from transforms (tf2_msgs/TFMessage) and an IMU (sensor_msgs/Imu).

The pose is that of the transforms. The angular velocity is the IMU's, rotated into base axes. The
linear velocity is the rate of the base origin, by differences of successive poses in world axes
through a first-order low-pass filter (`Differentiator`), rotated into base axes; it is late by
`TransformInput.delay`.
"""

from typing import Any, NamedTuple

import numpy as np

from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.stream.drops import (
    Cause,
    DroppedInput,
    NewestMessage,
    check_finite,
    nanoseconds,
    starts_anew,
)
from geolin_ros.stream.inputs.base_input import BaseFrames
from geolin_ros.stream.inputs.differentiation import Differentiator
from geolin_ros.stream.inputs.pairing import BaseSample
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.typing import Array


class _Transform(NamedTuple):
    """Pose (4, 4) of a frame seen from its parent; ``stamp`` is None for a static one."""

    parent: str
    pose: Array
    stamp: int | None


class TransformInput:
    """Makes a sample of the base of each new transform between the world and the base.

    The chain from ``tf_world_frame`` to ``child_frame`` (if empty, the base link) is made of the
    newest transform of each of its frames. A sample has the stamp of the one next to the base that
    is not static, and the angular velocity of the newest IMU message. Start at a frame in which
    the base moves without jumps (odom of REP 105). Raises `ConfigurationError` if the child frame
    is no link fixed to the base. ``stamp`` is that of the sample made last.
    """

    def __init__(self, model: TreeModel, settings: StreamSettings) -> None:
        tip = settings.child_frame or model.base_link
        self._frames = BaseFrames(model, settings.frame_prefix, tip)
        self._tip = settings.frame_prefix + tip
        self._tip_P_base = se3.inverse(model.frame(tip).placement)
        self._max_skew, self._tolerance = settings.max_skew, settings.quaternion_tolerance
        self.world_frame = settings.tf_world_frame
        self._transforms: dict[str, _Transform] = {}
        self._velocity = Differentiator(settings.tf_velocity_cutoff)
        self._imu = NewestMessage('IMU message')
        self.stamp: int | None = None

    @property
    def delay(self) -> float:
        """How late the linear velocity is [s]."""
        return self._velocity.delay

    def take_imu(self, message: Any) -> None:
        """Keep the angular velocity of a sensor_msgs/Imu.

        Raises `DroppedInput` if its frame is not fixed to the base, it measures no angular
        velocity (REP 145: first covariance -1), or a number is not finite.
        """
        mount = self._frames.placement('IMU', message.header.frame_id)
        w = message.angular_velocity
        rate = np.array((w.x, w.y, w.z), dtype=np.float64)
        if message.angular_velocity_covariance[0] == -1.0:
            rate[:] = np.nan
        check_finite('angular velocity of the IMU (NaN: its covariance says not measured)', rate)
        self._imu.stamp = nanoseconds(message.header.stamp)
        self._imu.value = mount[:3, :3] @ rate

    def take(self, message: Any, is_static: bool = False) -> BaseSample | None:
        """Keep the transforms of a tf2_msgs/TFMessage; return a sample if the base has moved.

        Raises `DroppedInput` if a quaternion is not of unit length, a number not finite, there are
        no two poses yet, or no angular velocity near them.
        """
        for stamped in message.transforms:
            stamp = None if is_static else nanoseconds(stamped.header.stamp)
            pose = _pose(stamped, self._tolerance)
            transform = _Transform(stamped.header.frame_id.lstrip('/'), pose, stamp)
            self._transforms[stamped.child_frame_id.lstrip('/')] = transform
        chain = self._chain()
        stamp = next((link.stamp for link in chain if link.stamp is not None), None)
        if stamp is None or stamp == self.stamp:
            return None
        if starts_anew('transform', stamp, self.stamp):
            self._velocity.forget()
        self.stamp = stamp
        H = self._tip_P_base
        for link in chain:
            H = link.pose @ H
        self._velocity.add(stamp, H[:3, 3])
        if self._velocity.rate is None:
            raise DroppedInput(
                Cause.NO_VELOCITY, 'no velocity of the base yet, expected two transforms first'
            )
        lack = self._imu.lack(stamp, self._max_skew, of='transforms')
        if lack:
            raise DroppedInput(Cause.NO_VELOCITY, f'{lack}; check topic imu, or raise max_skew')
        v = np.concatenate((H[:3, :3].T @ self._velocity.rate, self._imu.value))
        return BaseSample(stamp, H, v)

    def _chain(self) -> list[_Transform]:
        """Return the transforms from the base up to the world; none while one is missing."""
        chain: list[_Transform] = []
        name = self._tip
        while name != self.world_frame:
            transform = self._transforms.get(name)
            if transform is None or len(chain) > len(self._transforms):
                return []
            chain.append(transform)
            name = transform.parent
        return chain


def _pose(stamped: Any, tolerance: float) -> Array:
    place, turn = stamped.transform.translation, stamped.transform.rotation
    quaternion = np.array((turn.x, turn.y, turn.z, turn.w), dtype=np.float64)
    H = np.eye(4)
    H[:3, 3] = place.x, place.y, place.z
    length = float(np.linalg.norm(quaternion))
    if not abs(length - 1.0) <= tolerance or not np.isfinite(H).all():
        raise DroppedInput(
            Cause.QUATERNION,
            f'transform of {stamped.child_frame_id!r} has an orientation of length {length:g} and '
            f'translation {H[:3, 3].tolist()}, expected a unit quaternion (x, y, z, w) and finite '
            'numbers; correct its publisher',
        )
    H[:3, :3] = se3.rotation_from_quaternion(quaternion / length)
    return H
