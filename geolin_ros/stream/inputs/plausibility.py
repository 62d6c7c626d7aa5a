# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Warnings about inputs: a stretch of what a stream takes and predicts is kept, and judged."""

import math
from array import array
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.stream.inputs.settings import TwistFrame
from geolin_ros.stream.message_fields import pose_numbers, read_pose, twist_numbers
from geolin_ros.stream.topic_stream import nanoseconds
from geolin_ros.typing import Array

Part = Literal['linear', 'angular']
PARTS: tuple[Part, ...] = ('linear', 'angular')
AXES: tuple[TwistFrame, ...] = ('child', 'world')
LONGEST_STEP = 0.1
"""Poses further apart [s] are not compared."""
LARGEST_CHANGE = 0.5
"""Nor those between which a twist changes by more than this part of itself, and `MOVING`."""
BASELINE = 0.03
"""Time [s] over which poses and velocities are compared: long enough for noisy ones."""
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
            where = ' and '.join(f'in {clear[part]} axes where it is {part}' for part in PARTS)
            report['problem'] = f'the odometry twist is {where}; correct the estimator'
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
    H = read_pose(message.pose.pose)
    R = H[:3, :3]
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


LONGEST = 0.6
"""Time of a stretch [s], more where there are few samples."""
CLOSEST = 1.8e6
"""Samples that come sooner after each other [ns] are left out."""
GAP = 1e8
"""After a longer pause [ns], or a step back, a stretch begins anew."""
MOST = 400
"""Samples of a stretch, and messages of odometry."""
LEAST_SAMPLES = 20
LEAST_TIME = 0.2
"""Shorter stretches [s] are not judged."""
MISMATCH = 0.6
"""Relative difference above which accelerations contradict each other."""
ACCELERATING = 2.0
"""Smaller accelerations of the base [m/s^2] are not judged."""
MOST_ODOMETRY = 60
"""More messages of odometry are thinned: they are read one by one."""
LATE = 0.5
"""Part of max_skew beyond which a lasting skew is reported."""


class Window(NamedTuple):
    """N consecutive samples, as a stream saw them, and nav_msgs/Odometry of the same time.

    Increasing times (N,) [s], base poses (N, 4, 4), body twists (N, 6), joint positions (N, n_s),
    rates and efforts (N, n), predicted accelerations (N, m), or (N, 0) if they are given, and ages
    (N,) of joint states after their odometry [s].
    """

    times: Array
    poses: Array
    twists: Array
    positions: Array
    rates: Array
    efforts: Array
    accelerations: Array
    ages: Array
    odometry: Sequence[Any] = ()


class Watch:
    """Collects windows while it ``is_open``; costs nothing while it is not.

    `note` and `note_odometry` stand in the path of the robot's rate: they copy numbers, and judge
    nothing.
    """

    def __init__(self, model: TreeModel, predicts: bool) -> None:
        self._parts = np.cumsum((16, model.n_s, 6)).tolist()
        self._m = model.m if predicts else 0  # accelerations of answers that are predicted
        self._samples: list[tuple[Any, ...]] = []
        self._odometry: list[Any] = []
        self.is_open = False

    def open(self) -> None:
        """Begin a stretch."""
        self._samples, self._odometry, self.is_open = [], [], True

    def note_odometry(self, message: Any) -> None:
        """Keep a nav_msgs/Odometry of an open stretch."""
        if self.is_open and len(self._odometry) < MOST:
            self._odometry.append(message)

    def note(self, answer: Any) -> None:
        """Copy the numbers of an answer into the open stretch; close it when it is long enough."""
        if not self.is_open:
            return
        point, stamp = answer.point, answer.point.stamp
        if self._samples:
            pause = stamp - self._samples[-1][0]
            if not 0 <= pause <= GAP:
                self.open()
            elif pause < CLOSEST:
                return
        arrays = point.state.data, point.tau, answer.nu_dot[: self._m]
        self._samples.append((stamp, *(array.copy() for array in arrays), point.odometry_age))
        count = len(self._samples)
        is_long = stamp - self._samples[0][0] >= LONGEST * 1e9 and count >= LEAST_SAMPLES
        self.is_open = not (is_long or count == MOST)

    def take(self) -> Window | None:
        """Return the stretch that is full, if one is, with arrays of its own."""
        if self.is_open or not self._samples:
            return None
        stamps, states, tau, nu_dot, ages = map(np.array, zip(*self._samples, strict=True))
        H, s, v, r = np.split(states, self._parts, axis=1)
        times = (stamps - stamps[0]) * 1e-9
        window = Window(times, H.reshape(-1, 4, 4), v, s, r, tau, nu_dot, ages, self._odometry)
        self._samples, self._odometry = [], []
        return window


def findings(
    window: Window, model: TreeModel, twist_frame: TwistFrame, max_skew: float
) -> dict[str, str]:
    """Return the warnings about a window by what they are about; none if there is too little.

    Each is a sentence with value, expectation and fix. ``twist_frame`` is how the odometry twist
    was read, ``max_skew`` the longest distance [s] of a joint state from its odometry.
    """
    times = window.times
    if times.size < LEAST_SAMPLES or times[-1] - times[0] < LEAST_TIME:
        return {}
    found = dict((*_beyond_limits(window, model), *_stuck_joints(window, model)))
    if model.base == 'floating':
        problem, skew = _odometry_problem(window, twist_frame), float(np.median(window.ages))
        if problem:
            found['odometry'] = problem
        if abs(skew) > LATE * max_skew:
            found['skew'] = (
                f'joint states are {skew * 1e3:+.1f} ms away from their odometry all the time, '
                f'near max_skew of {max_skew * 1e3:.0f} ms: synchronize the clocks of the '
                'publishers'
            )
        wrong = '' if problem else _wrong_acceleration(window)  # else it follows from the problem
        if wrong:
            found['acceleration'] = wrong
    return found


def _beyond_limits(window: Window, model: TreeModel) -> Iterator[tuple[str, str]]:
    limits = model.limits
    for what, values, lower, upper, unit in (
        ('position', window.positions, limits.lower, limits.upper, ''),
        ('rate', window.rates, -limits.velocity, limits.velocity, '/s'),
        ('effort', window.efforts, -limits.effort, limits.effort, ''),
    ):
        margin = 1e-3 * np.maximum(1.0, np.where(np.isfinite(upper), np.abs(upper), 0.0))
        excess = np.maximum(values - upper - margin, lower - margin - values)
        for joint in np.flatnonzero((excess.max(axis=0) > 0.0) & (upper > lower)):
            name, extreme = model.joint_names[joint], values[excess[:, joint].argmax(), joint]
            yield (
                f'{name} {what}',
                f'joint {name!r} has {what} {extreme:.4g}{unit}, outside {lower[joint]:.4g} to '
                f'{upper[joint]:.4g}: check units and zero of its sensor, or the limits of the '
                'description',
            )


def _stuck_joints(window: Window, model: TreeModel) -> Iterator[tuple[str, str]]:
    """Find positions that stay the same to the last bit while the rate says that they move."""
    still = (window.positions == window.positions[0]).all(axis=0)
    mean = 0.5 * (window.rates[1:] + window.rates[:-1])
    moved = np.abs(np.diff(window.times) @ mean)
    for joint in np.flatnonzero(still & (moved > 1e-3)):
        name = model.joint_names[joint]
        yield (
            f'{name} frozen',
            f'joint {name!r} stays at {window.positions[0, joint]:.6g} while its rates add up to '
            f'{moved[joint]:.3g}: its position sensor is frozen',
        )
    frozen = still.size > 0 and still.all() and bool((window.rates == window.rates[0]).all())
    if frozen and np.ptp(window.poses, axis=0).max() > 1e-3:
        yield (
            'joint states',
            f'no position or rate of a joint changes in {len(window.times)} joint states while '
            'the base moves: their publisher is frozen',
        )


def _odometry_problem(window: Window, twist_frame: TwistFrame) -> str:
    """Return what is wrong with poses and twists, empty if nothing is."""
    messages, count = window.odometry, len(window.odometry)
    if count >= LEAST_SAMPLES and len({pose_numbers(m.pose.pose) for m in messages}) == 1:
        speed = min(
            max(math.hypot(v.x, v.y, v.z) for v in (m.twist.twist.linear, m.twist.twist.angular))
            for m in messages
        )
        if speed >= MOVING['linear']:
            return (
                f'the odometry pose stays the same in {count} messages while its twist is at '
                f'least {speed:.2g}: its estimator is frozen'
            )
    check = OdometryCheck()
    for message in messages[:: 1 + count // MOST_ODOMETRY]:
        check.add(message)
    return str(check.report(twist_frame).get('problem', ''))


def _wrong_acceleration(window: Window) -> str:
    """Compare predicted accelerations of the base with the differences of its velocity."""
    if not window.accelerations.size:
        return ''
    step = max(1, int(np.searchsorted(window.times, window.times[0] + BASELINE)))
    time = (window.times[step:] - window.times[:-step])[:, np.newaxis]
    R, u, w = window.poses[:, :3, :3], window.twists[:, :3], window.twists[:, 3:]
    velocity = np.einsum('tij,tj->ti', R, u)
    predicted = np.einsum('tij,tj->ti', R, window.accelerations[:, :3] + np.cross(w, u))
    measured = (velocity[step:] - velocity[:-step]) / time
    half = 0.5 * (predicted[1:] + predicted[:-1])
    mean = sliding_window_view(half, step, axis=0).mean(axis=-1)
    error = _median(mean - measured)
    if error < max(ACCELERATING, MISMATCH * _median(measured)):
        return ''
    return (
        f'the base is predicted to accelerate at {np.linalg.norm(mean.mean(axis=0)):.2g} m/s^2 '
        f'and does so at {np.linalg.norm(measured.mean(axis=0)):.2g} m/s^2: give contacts or foot '
        'forces if it stands, else check masses, efforts and their signs'
    )


def _median(vectors: Array) -> float:
    """Return the median length, which a single push leaves alone."""
    return float(np.median(np.linalg.norm(vectors, axis=1)))
