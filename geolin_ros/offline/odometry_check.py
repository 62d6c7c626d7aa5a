# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the twist of odometry agrees with the motion of its pose, and in which axes it is."""

from array import array
from typing import Any

import numpy as np

from geolin_ros import se3
from geolin_ros.stream.stamps import nanoseconds
from geolin_ros.typing import Array

LONGEST_STEP = 0.1
"""Poses further apart [s] are not compared."""
AGREEMENT = 0.2
"""Relative deviation up to which a twist agrees with its pose."""
CLEARLY = 2.0
"""One reading of the axes is right if the other is this many times as far off."""
JUMP = 0.5
"""A pose moves further than this within a step [m, rad], and its twist does not: it was set."""


class OdometryCheck:
    """Compares log(H_k^-1 H_k+1) / dt with the mean of the twists at both ends.

    The twist is read once in child axes and once in world axes, both about the child's origin.
    Medians are compared, which a pose that is set anew now and then leaves alone, of the quarter
    in which the robot moves most: at rest there is noise alone.
    The log of a motion by a constant body twist is that twist times dt, so that the comparison
    is exact for it and off by dt^2 for others.
    """

    def __init__(self) -> None:
        self._last: tuple[int, Array, Array] | None = None
        self._motion = array('d')
        self._off = {'child': array('d'), 'world': array('d')}
        self._jumps = 0
        self._frames: dict[tuple[str, str], None] = {}

    def add(self, message: Any) -> None:
        """Take a nav_msgs/Odometry; one with unusable numbers counts for nothing."""
        self._frames.setdefault((message.header.frame_id, message.child_frame_id))
        pose, twist = message.pose.pose, message.twist.twist
        place, turn, linear, angular = pose.position, pose.orientation, twist.linear, twist.angular
        quaternion = np.array([turn.x, turn.y, turn.z, turn.w])
        v = np.array([linear.x, linear.y, linear.z, angular.x, angular.y, angular.z])
        H = np.eye(4)
        H[:3, 3] = place.x, place.y, place.z
        length = np.linalg.norm(quaternion)
        if not (np.isfinite(H).all() and np.isfinite(v).all() and abs(length - 1.0) < 0.1):
            self._last = None
            return
        H[:3, :3] = se3.rotation_from_quaternion(quaternion / length)
        stamp = nanoseconds(message.header.stamp)
        if self._last is not None:
            self._compare(*self._last, stamp, H, v)
        self._last = stamp, H, v

    def _compare(
        self, stamp: int, H: Array, v: Array, next_stamp: int, next_H: Array, next_v: Array
    ) -> None:
        dt = (next_stamp - stamp) * 1e-9
        if not 0.0 < dt <= LONGEST_STEP:
            return
        moved = se3.log(se3.relative(H, next_H)) / dt
        child = 0.5 * (v + next_v)
        world = 0.5 * (_to_body(H, v) + _to_body(next_H, next_v))
        self._motion.append(float(np.linalg.norm(moved)))
        for axes, twist in (('child', child), ('world', world)):
            self._off[axes].append(float(np.linalg.norm(moved - twist)))
        self._jumps += min(self._off['child'][-1], self._off['world'][-1]) * dt > JUMP

    def report(self, assumed: str) -> dict[str, Any]:
        """Return median deviations relative to the motion, the axes they speak for, and a problem.

        ``assumed`` is the present value of the parameter odometry.twist_frame.
        """
        found: dict[str, Any] = {
            'frames': [
                {'frame_id': world, 'child_frame_id': child} for world, child in self._frames
            ],
            'compared': len(self._motion),
            'pose_jumps': self._jumps,
            'twist_frame': None,
        }
        if not self._motion:
            return found
        moving = np.asarray(self._motion) >= np.percentile(self._motion, 75)
        motion = float(np.median(np.asarray(self._motion)[moving]))
        if motion == 0.0:
            return found
        off = {
            axes: float(np.median(np.asarray(values)[moving])) / motion
            for axes, values in self._off.items()
        }
        best, other = sorted(off, key=lambda axes: off[axes])
        clear = off[other] > CLEARLY * off[best] and off[best] < AGREEMENT
        found |= {'median_motion': motion, 'deviation': off}
        found['twist_frame'] = best if clear else None
        if off[best] > AGREEMENT:
            found['problem'] = (
                'the odometry twist agrees with the motion of the pose in no axes: '
                f'{off[best]:.0%} off in {best} axes; check units, frames and delays of the '
                'estimator'
            )
        elif clear and best != assumed:
            found['problem'] = (
                f'the odometry twist is in {best} axes, not in {assumed} axes: set parameter '
                f'odometry.twist_frame to {best}'
            )
        return found


def _to_body(H: Array, v: Array) -> Array:
    R = H[:3, :3]
    return np.concatenate((R.T @ v[:3], R.T @ v[3:]))
