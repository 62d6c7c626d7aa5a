# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the twist of odometry agrees with the motion of its pose, and in which axes it is."""

import math
from array import array
from typing import Any, Literal, NamedTuple

import numpy as np

from geolin_ros.spatial import se3
from geolin_ros.stream.geometry import pose_numbers, twist_numbers
from geolin_ros.stream.inputs.settings import TwistFrame
from geolin_ros.stream.inputs.stamps import nanoseconds
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
    """One odometry: its twist as velocity in world axes and rate in body axes, by either axes."""

    stamp: int
    H: Array
    velocity: dict[TwistFrame, Array]
    rate: dict[TwistFrame, Array]
    deviation: dict[Part, float]
    """Of its twist, as its covariance has it; 0 if unknown."""


class OdometryCheck:
    """Compares the motion of the pose with the twists on the way, read in child and world axes.

    Over `BASELINE` from pose (R_0, p_0) to (R_1, p_1), what twists leave unexplained is

        p_1 - p_0 - integral of the velocity,    log(G' R_0' R_1), G the product of exp(rate dt)

    both by the means of neighbouring twists, about the child's origin. Medians are compared,
    which a pose that is set anew now and then leaves alone, of the quarter in which the robot
    moves most: at rest there is noise alone.
    """

    def __init__(self) -> None:
        self._start: _Sample | None = None
        self._last: _Sample | None = None
        self._way: dict[TwistFrame, Array] = {}
        self._motion = {part: array('d') for part in PARTS}
        self._stated = {part: array('d') for part in PARTS}
        self._off = {part: {axes: array('d') for axes in AXES} for part in PARTS}
        self._jumps = 0
        self._frames: dict[tuple[str, str], None] = {}

    def add(self, message: Any) -> None:
        """Take a nav_msgs/Odometry; one with unusable numbers counts for nothing."""
        self._frames.setdefault((message.header.frame_id, message.child_frame_id))
        sample = _read(message)
        last, self._last = self._last, sample
        if sample is None or last is None or self._start is None:
            self._begin(sample)
            return
        dt = (sample.stamp - last.stamp) * 1e-9
        if not 0.0 < dt <= LONGEST_STEP or _changes(last, sample):
            self._begin(sample)
            return
        for axes in AXES:
            way = self._way[axes]
            way[:3, 3] += 0.5 * dt * (last.velocity[axes] + sample.velocity[axes])
            way[:3, :3] = way[:3, :3] @ _turn(0.5 * dt * (last.rate[axes] + sample.rate[axes]))
        if sample.stamp - self._start.stamp >= BASELINE * 1e9:
            self._compare(self._start, sample)
            self._begin(sample)

    def _begin(self, sample: _Sample | None) -> None:
        self._start, self._way = sample, {axes: np.eye(4) for axes in AXES}

    def _compare(self, start: _Sample, end: _Sample) -> None:
        time = (end.stamp - start.stamp) * 1e-9
        shift, turn = end.H[:3, 3] - start.H[:3, 3], start.H[:3, :3].T @ end.H[:3, :3]
        jumped = []
        for axes, way in self._way.items():
            R, p = way[:3, :3], way[:3, 3]
            off = _size(shift - p), _angle(R.T @ turn)
            jumped.append(max(off) > JUMP)
            for part, value in zip(PARTS, off, strict=True):
                self._off[part][axes].append(value / time)
        R, p = self._way['child'][:3, :3], self._way['child'][:3, 3]
        self._motion['linear'].append(max(_size(shift), _size(p)) / time)
        self._motion['angular'].append(max(_angle(turn), _angle(R)) / time)
        for part in PARTS:
            self._stated[part].append(max(start.deviation[part], end.deviation[part]))
        self._jumps += all(jumped)

    def report(self, assumed: str) -> dict[str, Any]:
        """Return median deviations relative to the motion, the axes they speak for, and a problem.

        ``assumed`` is the present value of the parameter odometry.twist_frame. Parts that do not
        move are left out; ``not_judged`` says why. A twist is no problem up to `AGREEMENT`, and
        where it is off by less than moves at all (`MOVING`), or than `DEVIATIONS` allow.
        """
        deviation = {part: off for part in PARTS if (off := self._deviation(part)) is not None}
        best = {part: min(AXES, key=lambda axes: off[axes]) for part, off in deviation.items()}
        wrong = [part for part, axes in best.items() if deviation[part][axes] > self._most(part)]
        clear = {
            part: axes
            for part, axes in best.items()
            if deviation[part][axes] <= AGREEMENT
            and max(deviation[part].values()) > CLEARLY * deviation[part][axes]
        }
        found = set(clear.values())
        report: dict[str, Any] = {
            'frames': [
                {'frame_id': world, 'child_frame_id': child} for world, child in self._frames
            ],
            'compared': len(self._motion['linear']),
            'pose_jumps': self._jumps,
            'deviation': deviation,
            'not_judged': {part: self._silence(part) for part in PARTS if part not in deviation},
            'twist_frame': found.pop() if len(found) == 1 and not wrong else None,
        }
        if wrong:
            report['problem'] = (
                f'the {_subject(wrong)} agrees with the motion of the pose in no axes: '
                + ', '.join(f'{deviation[p][best[p]]:.0%} off in {best[p]} axes' for p in wrong)
                + '; check units, frames and delays of the estimator'
            )
        elif len(set(clear.values())) > 1:
            report['problem'] = (
                f'the odometry twist is in {clear["linear"]} axes where it is linear and in '
                f'{clear["angular"]} axes where it is angular, expected the same; correct the '
                'estimator'
            )
        elif clear and assumed not in clear.values():
            axes = report['twist_frame']
            report['problem'] = (
                f'the {_subject(list(clear))} is in {axes} axes, not in {assumed} axes: set '
                f'parameter odometry.twist_frame to {axes}'
            )
        return report

    def _deviation(self, part: Part) -> dict[TwistFrame, float] | None:
        """Return how far the twist is off in either axes, or None where nothing moves."""
        if len(self._motion[part]) < LEAST or (motion := self._pace(part)) < MOVING[part]:
            return None
        moving = self._moving(part)
        return {
            axes: float(np.median(np.asarray(off)[moving])) / motion
            for axes, off in self._off[part].items()
        }

    def _most(self, part: Part) -> float:
        """Return the largest deviation of a right twist, relative to the motion."""
        stated = float(np.median(np.asarray(self._stated[part])[self._moving(part)]))
        return max(AGREEMENT, max(MOVING[part], DEVIATIONS * stated) / self._pace(part))

    def _moving(self, part: Part) -> Array:
        motions = np.asarray(self._motion[part])
        return np.asarray(motions >= np.percentile(motions, 75))

    def _pace(self, part: Part) -> float:
        """Return how fast the robot moves where it moves most [m/s, rad/s]."""
        return float(np.median(np.asarray(self._motion[part])[self._moving(part)]))

    def _silence(self, part: Part) -> str:
        """Say why there is no verdict."""
        count = len(self._motion[part])
        if count < LEAST:
            return f'{count} stretches of {BASELINE:g} s can be compared, expected {LEAST}'
        unit = {'linear': 'm/s', 'angular': 'rad/s'}[part]
        return (
            f'the robot hardly moves: {self._pace(part):.2g} {unit} where it moves most, '
            f'expected {MOVING[part]:g}'
        )


def _subject(parts: list[Part]) -> str:
    return 'odometry twist' if len(parts) == len(PARTS) else f'{parts[0]} odometry twist'


def _read(message: Any) -> _Sample | None:
    numbers = np.array((*pose_numbers(message.pose.pose), *twist_numbers(message.twist.twist)))
    quaternion, v, w = numbers[3:7], numbers[7:10], numbers[10:]
    length = _size(quaternion)
    if not (np.isfinite(numbers).all() and abs(length - 1.0) < 0.1):
        return None
    H = np.eye(4)
    H[:3, 3] = numbers[:3]
    R = H[:3, :3] = se3.rotation_from_quaternion(quaternion / length)
    stamp = nanoseconds(message.header.stamp)
    variances = np.asarray(message.twist.covariance)[::7].reshape(2, 3).sum(axis=1)
    known = np.where(variances < UNKNOWN**2, np.fmax(variances, 0.0), 0.0)
    deviation = dict(zip(PARTS, np.sqrt(known).tolist(), strict=True))
    velocity: dict[TwistFrame, Array] = {'child': R @ v, 'world': v}
    return _Sample(stamp, H, velocity, {'child': w, 'world': R.T @ w}, deviation)


def _changes(one: _Sample, two: _Sample) -> bool:
    """Whether the twists on both ends tell little of those in between."""
    pairs: dict[Part, tuple[Array, Array]] = {
        'linear': (one.velocity['world'], two.velocity['world']),
        'angular': (one.rate['child'], two.rate['child']),
    }
    return any(
        _size(b - a) > MOVING[part] + LARGEST_CHANGE * max(_size(a), _size(b))
        for part, (a, b) in pairs.items()
    )


def _turn(rotation: Array) -> Array:
    return se3.exp(np.concatenate((np.zeros(3), rotation)))[:3, :3]


def _angle(R: Array) -> float:
    H = np.eye(4)
    H[:3, :3] = R
    return _size(se3.log(H)[3:])


def _size(values: Array) -> float:
    return math.sqrt(values @ values)
