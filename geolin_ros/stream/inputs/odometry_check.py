# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the twist of odometry agrees with the motion of its pose, and in which axes it is."""

import math
from array import array
from collections.abc import Collection
from typing import Any, Literal, NamedTuple

import numpy as np

from geolin_ros.spatial import se3
from geolin_ros.stream.drops import nanoseconds
from geolin_ros.stream.inputs.settings import TwistFrame
from geolin_ros.stream.message_fields import pose_numbers, twist_numbers
from geolin_ros.typing import Array

Part = Literal['linear', 'angular']
PARTS: tuple[Part, ...] = ('linear', 'angular')
AXES: tuple[TwistFrame, ...] = ('child', 'world')
LONGEST_STEP = 0.1
"""Poses further apart [s] are not compared."""
LARGEST_CHANGE = 0.5
"""Nor those between which a twist changes by more than this part of itself, and `MOVING`."""
BASELINE = 0.03
"""Time [s] over which poses are compared: long enough for noisy ones."""
LEAST = 12
"""So many comparisons are needed for a verdict: it must not hang on one or two."""
MOVING: dict[Part, float] = {'linear': 0.05, 'angular': 0.1}
"""Slower motion [m/s, rad/s] is not judged."""
AGREEMENT = 0.2
"""Relative deviation up to which a twist agrees with its pose."""
UNKNOWN = 10.0
"""Standard deviation from which on a message says that it does not know [m/s, rad/s]."""
DEVIATIONS = 2.0
"""So many standard deviations, as the message has them, a right twist may be off its pose: filters
correct poses by more than they have moved."""
CLEARLY = 2.0
"""One reading of the axes is right if the other is this many times as far off."""
JUMP = 0.5
"""A pose moves further than this within a step [m, rad], and its twist does not: it was set."""


class _Sample(NamedTuple):
    """One odometry."""

    stamp: int
    H: Array
    twists: Array
    """(2, 6) by `AXES` of its twist: velocity in world axes, rate in body axes."""
    deviation: Array
    """(2,) standard deviations by `PARTS` of its twist, as its covariance has it; 0 if unknown."""


class OdometryCheck:
    """Compares the motion of the pose with the twists on the way, read in child and world axes.

    Over `BASELINE` from pose (R_0, p_0) to (R_1, p_1), what twists leave unexplained is

        p_1 - p_0 - integral of the velocity,    log(G' R_0' R_1), G the product of exp(rate dt)

    both by the means of neighbouring twists, about the child's origin. Medians are compared,
    which a pose that is set anew now and then leaves alone, of the quarter in which the robot
    moves most: at rest there is noise alone.
    """

    def __init__(self) -> None:
        self._start: Any = None
        self._last: _Sample | None = None
        self._way = np.zeros((2, 4, 4))
        self._numbers = array('d')
        """Of each comparison by `PARTS`: motion, standard deviation, how far off by `AXES`."""
        self._jumps = 0

    def add(self, message: Any) -> None:
        """Take a nav_msgs/Odometry; one with unusable numbers counts for nothing."""
        sample = _read(message)
        last, self._last = self._last, sample
        dt = 0.0 if sample is None or last is None else (sample.stamp - last.stamp) * 1e-9
        if sample is None or last is None or not 0.0 < dt <= LONGEST_STEP or _jerks(last, sample):
            self._begin(sample)
            return
        for way, step in zip(self._way, 0.5 * dt * (last.twists + sample.twists), strict=True):
            way[:3, 3] += step[:3]
            way[:3, :3] = way[:3, :3] @ se3.exp(np.concatenate((np.zeros(3), step[3:])))[:3, :3]
        if sample.stamp - self._start.stamp >= BASELINE * 1e9:
            self._compare(self._start, sample)
            self._begin(sample)

    def _begin(self, sample: _Sample | None) -> None:
        self._start = sample
        self._way[:] = np.eye(4)

    def _compare(self, start: _Sample, end: _Sample) -> None:
        time = (end.stamp - start.stamp) * 1e-9
        shift, turn = end.H[:3, 3] - start.H[:3, 3], start.H[:3, :3].T @ end.H[:3, :3]
        R, p = self._way[0, :3, :3], self._way[0, :3, 3]
        motion = max(_size(shift), _size(p)), max(_angle(turn), _angle(R))
        deviation = np.maximum(start.deviation, end.deviation)
        off = np.array(
            [(_size(shift - way[:3, 3]), _angle(way[:3, :3].T @ turn)) for way in self._way]
        )
        self._jumps += bool((off.max(axis=1) > JUMP).all())
        for part in range(2):
            self._numbers.extend((motion[part] / time, deviation[part], *off[:, part] / time))

    def report(self, assumed: str) -> dict[str, Any]:
        """Return median deviations relative to the motion, the axes they speak for, and a problem.

        ``assumed`` is the present value of the parameter odometry.twist_frame. Parts that do not
        move are left out. A twist is no problem up to `AGREEMENT`, and where it is off by less
        than moves at all (`MOVING`), or than `DEVIATIONS` allow.
        """
        numbers = np.asarray(self._numbers).reshape(-1, 2, 4)
        deviation: dict[str, dict[TwistFrame, float]] = {}
        clear: dict[str, str] = {}
        wrong: dict[str, str] = {}
        for part, values in zip(PARTS, np.swapaxes(numbers, 0, 1), strict=True):
            if len(values) < LEAST:
                continue
            moving = values[values[:, 0] >= np.percentile(values[:, 0], 75)]
            pace, stated, *off = np.median(moving, axis=0).tolist()
            if pace < MOVING[part]:
                continue
            found = {axes: value / pace for axes, value in zip(AXES, off, strict=True)}
            best = min(found, key=found.__getitem__)
            deviation[part] = found
            if found[best] > max(AGREEMENT, max(MOVING[part], DEVIATIONS * stated) / pace):
                wrong[part] = f'{found[best]:.0%} off in {best} axes'
            if found[best] <= AGREEMENT and max(found.values()) > CLEARLY * found[best]:
                clear[part] = best
        axes = set(clear.values())
        report: dict[str, Any] = {
            'pose_jumps': self._jumps,
            'deviation': deviation,
            'twist_frame': min(axes) if len(axes) == 1 and not wrong else None,
        }
        if wrong:
            report['problem'] = (
                f'the {_subject(wrong)} agrees with the motion of the pose in no axes: '
                f'{", ".join(wrong.values())}; check units, frames and delays of the estimator'
            )
        elif len(axes) > 1:
            report['problem'] = (
                f'the odometry twist is in {clear["linear"]} axes where it is linear and in '
                f'{clear["angular"]} axes where it is angular, expected the same; correct the '
                'estimator'
            )
        elif clear and assumed not in axes:
            right = report['twist_frame']
            report['problem'] = (
                f'the {_subject(clear)} is in {right} axes, not in {assumed} axes: set '
                f'parameter odometry.twist_frame to {right}'
            )
        return report


def _subject(parts: Collection[str]) -> str:
    return 'odometry twist' if len(parts) == 2 else f'{min(parts)} odometry twist'


def _read(message: Any) -> _Sample | None:
    numbers = np.array((*pose_numbers(message.pose.pose), *twist_numbers(message.twist.twist)))
    quaternion, v, w = numbers[3:7], numbers[7:10], numbers[10:]
    length = _size(quaternion)
    if not (np.isfinite(numbers).all() and abs(length - 1.0) < 0.1):
        return None
    H = np.eye(4)
    H[:3, 3] = numbers[:3]
    R = H[:3, :3] = se3.rotation_from_quaternion(quaternion / length)
    variances = np.asarray(message.twist.covariance)[::7].reshape(2, 3).sum(axis=1)
    known = np.where(variances < UNKNOWN**2, np.fmax(variances, 0.0), 0.0)
    twists = np.concatenate((R @ v, w, v, R.T @ w)).reshape(2, 6)
    return _Sample(nanoseconds(message.header.stamp), H, twists, np.sqrt(known))


def _jerks(one: _Sample, two: _Sample) -> bool:
    """Whether the twists on both ends tell little of those in between."""
    return any(
        _size(b - a) > least + LARGEST_CHANGE * max(_size(a), _size(b))
        for least, a, b in (
            (MOVING['linear'], one.twists[1, :3], two.twists[1, :3]),
            (MOVING['angular'], one.twists[0, 3:], two.twists[0, 3:]),
        )
    )


def _angle(R: Array) -> float:
    H = np.eye(4)
    H[:3, :3] = R
    return _size(se3.log(H)[3:])


def _size(values: Array) -> float:
    return math.sqrt(values @ values)
