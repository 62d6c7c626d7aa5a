# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Base pose and body twist from nav_msgs/Odometry, carried to another instant."""

from typing import Any, Literal

import numpy as np

from geolin_ros.kernels.odometry import CHILD_TWIST, WORLD_TWIST, place_base
from geolin_ros.kernels.se3 import retract
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.stamps import nanoseconds, starts_anew
from geolin_ros.typing import Array

TwistFrame = Literal['child', 'world']
_CODES = {'child': CHILD_TWIST, 'world': WORLD_TWIST}


class BaseInput:
    """Keeps the newest odometry and carries it to the stamp of a joint state.

    Parameters
    ----------
    model
        The robot; odometry may be about any link that is fixed to its base link.
    twist_frame
        ``'child'``: the twist is in child_frame_id axes (nav_msgs/Odometry's definition);
        ``'world'``: world axes, about the origin of the child frame.
    child_frame
        Used instead of the messages' child_frame_id where not empty.
    max_skew
        Longest distance in time to a joint state [s].
    quaternion_tolerance
        Largest accepted deviation of the quaternion's length from 1.

    Attributes
    ----------
    stamp, world_frame
        header.stamp [ns] and header.frame_id of the odometry that is kept.
    v
        Its body twist (6,).
    """

    def __init__(
        self,
        model: TreeModel,
        twist_frame: TwistFrame = 'child',
        child_frame: str = '',
        max_skew: float = 0.05,
        quaternion_tolerance: float = 0.01,
    ) -> None:
        self._model = model
        self._twist_code = _CODES[twist_frame]
        self._child_frame = child_frame
        self._max_skew = max_skew
        self._tolerance = quaternion_tolerance
        self._placements: dict[str, Array] = {}
        self._sample = np.zeros(13)
        self._H, self.v, self._step = np.eye(4), np.zeros(6), np.zeros(6)
        self.stamp: int | None = None
        self.world_frame = ''

    def take(self, message: Any) -> None:
        """Keep an odometry message.

        Raises
        ------
        DroppedInput
            If its frame is not fixed to the base, its quaternion not of unit length, a number
            not finite, or its stamp not after the last one. The one kept before stays.
        """
        placement = self._placement(self._child_frame or message.child_frame_id)
        stamp = nanoseconds(message.header.stamp)
        starts_anew('odometry', stamp, self.stamp)
        pose, twist = message.pose.pose, message.twist.twist
        place, turn, linear, angular = pose.position, pose.orientation, twist.linear, twist.angular
        sample = self._sample
        sample[:] = (
            place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w,
            linear.x, linear.y, linear.z, angular.x, angular.y, angular.z,
        )  # fmt: skip
        if not np.isfinite(sample).all():
            raise DroppedInput(
                Cause.NOT_FINITE,
                f'odometry holds NaN or inf: {sample.tolist()}, expected finite numbers',
            )
        norm = np.sqrt(sample[3:7] @ sample[3:7])
        if not abs(norm - 1.0) <= self._tolerance:
            raise DroppedInput(
                Cause.QUATERNION,
                f'odometry orientation has length {norm:g}, expected 1 within {self._tolerance:g};'
                ' let the publisher send a unit quaternion (x, y, z, w)',
            )
        place_base(sample, self._twist_code, placement, self._H, self.v)
        self.stamp, self.world_frame = stamp, message.header.frame_id

    def carry_to(self, stamp: int, state: State) -> float:
        """Write H exp(v dt) and v into ``state`` for the instant ``stamp`` [ns]; return dt [s].

        Raises
        ------
        DroppedInput
            If there is no odometry yet or it is further than max_skew away.
        """
        if self.stamp is None:
            raise DroppedInput(
                Cause.NO_ODOMETRY, 'no odometry yet, expected one before the first joint state'
            )
        dt = (stamp - self.stamp) * 1e-9
        if abs(dt) > self._max_skew:
            raise DroppedInput(
                Cause.SKEW,
                f'the newest odometry is {dt:+.4f} s away from the joint state, expected at most '
                f'{self._max_skew:g} s; raise max_skew or synchronize the publishers',
            )
        np.multiply(self.v, dt, out=self._step)
        retract(self._H, self._step, state.H)
        state.v[:] = self.v
        return dt

    def _placement(self, name: str) -> Array:
        """Return the pose of frame ``name`` on the base link."""
        found = self._placements.get(name)
        if found is not None:
            return found
        frame = self._model.frames.get(name)
        if frame is None or frame.body != 0:
            fixed = [link for link, at in self._model.frames.items() if at.body == 0]
            raise DroppedInput(
                Cause.FRAME,
                f'odometry has child_frame_id {name!r}, expected a link fixed to the base of '
                f'robot {self._model.name!r} ({", ".join(map(repr, fixed[:8]))}); correct the '
                'publisher or set odometry.child_frame',
            )
        return self._placements.setdefault(name, np.ascontiguousarray(frame.placement))
