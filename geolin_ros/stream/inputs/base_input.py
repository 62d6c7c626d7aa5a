# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Base pose and body twist from nav_msgs/Odometry."""

import math
from typing import Any

import numpy as np

from geolin_ros.errors import ConfigurationError
from geolin_ros.kernels.odometry import CHILD_TWIST, WORLD_TWIST, place_base
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.drops import Cause, DroppedInput, check_finite, nanoseconds, starts_anew
from geolin_ros.stream.inputs.pairing import BaseSample
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.typing import Array

_CODES = {'child': CHILD_TWIST, 'world': WORLD_TWIST}


class BaseFrames:
    """Placements (4, 4) on the base of the links that are fixed to it, by frame of messages.

    These have ``prefix``, robot_state_publisher's frame_prefix, before the name, or have not.
    Raises `ConfigurationError` if ``child_frame``, unless it is empty, is no such link.
    """

    def __init__(self, model: TreeModel, prefix: str, child_frame: str = '') -> None:
        self._placements = {
            name: np.ascontiguousarray(frame.placement)
            for name, frame in model.frames.items()
            if frame.body == 0
        }
        links = ', '.join(map(repr, list(self._placements)[:8]))
        self._expected = f'a link fixed to the base of robot {model.name!r} ({links})'
        self._placements |= {prefix + name: H for name, H in self._placements.items()}
        if child_frame and child_frame not in self._placements:
            raise ConfigurationError(
                f'parameter odometry.child_frame is {child_frame!r}, expected {self._expected}'
            )

    def placement(self, what: str, name: str) -> Array:
        """Return the placement of a frame that ``what`` is about.

        Raises `DroppedInput` if it is not fixed to the base.
        """
        if name not in self._placements:
            raise DroppedInput(
                Cause.FRAME,
                f'{what} is about frame {name!r}, expected {self._expected}; correct the '
                'publisher or set odometry.child_frame',
            )
        return self._placements[name]


class BaseInput:
    """Turns odometry about a link that is fixed to the base into samples of the base.

    Raises `ConfigurationError` if ``child_frame`` is not fixed to a floating base. ``stamp`` [ns]
    and ``world_frame`` are of the odometry taken last.
    """

    delay = 0.0
    """How late velocities are [s]."""

    def __init__(self, model: TreeModel, settings: StreamSettings) -> None:
        self._child_frame, self._tolerance = settings.child_frame, settings.quaternion_tolerance
        child = self._child_frame if model.base == 'floating' else ''
        self._frames = BaseFrames(model, settings.frame_prefix, child)
        self._twist_code = _CODES[settings.twist_frame]
        self._sample = np.zeros(13)
        self.stamp: int | None = None
        self.world_frame = ''

    def take(self, message: Any) -> BaseSample:
        """Return the base at an odometry message.

        Raises `DroppedInput` if its frame is not fixed to the base, its quaternion not of unit
        length, a number not finite, or its stamp not after the last one.
        """
        child = self._child_frame or message.child_frame_id
        placement = self._frames.placement('odometry', child)
        stamp = nanoseconds(message.header.stamp)
        starts_anew('odometry', stamp, self.stamp)
        pose, twist, sample = message.pose.pose, message.twist.twist, self._sample
        place, turn, linear, angular = pose.position, pose.orientation, twist.linear, twist.angular
        sample[:] = (  # here, not by functions: for each odometry
            place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w,
            linear.x, linear.y, linear.z, angular.x, angular.y, angular.z,
        )  # fmt: skip
        check_finite('odometry', sample)
        norm = math.hypot(turn.x, turn.y, turn.z, turn.w)
        if not abs(norm - 1.0) <= self._tolerance:
            raise DroppedInput(
                Cause.QUATERNION,
                f'odometry orientation has length {norm:g}, expected 1 within {self._tolerance:g};'
                ' let the publisher send a unit quaternion (x, y, z, w)',
            )
        H, v = np.empty((4, 4)), np.empty(6)
        place_base(sample, self._twist_code, placement, H, v)
        self.stamp, self.world_frame = stamp, message.header.frame_id
        return BaseSample(stamp, H, v)
