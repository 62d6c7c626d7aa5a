# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Warnings about inputs: a stretch of what a stream takes and predicts is kept, and judged."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.inputs.odometry_check import MOVING, OdometryCheck
from geolin_ros.stream.inputs.settings import TwistFrame
from geolin_ros.stream.message_fields import pose_numbers
from geolin_ros.typing import Array

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
BASELINE = 0.03
"""Time [s] over which velocities are differenced: long enough for noisy sensors."""
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
    error = _size(mean - measured)
    if error < max(ACCELERATING, MISMATCH * _size(measured)):
        return ''
    return (
        f'the base is predicted to accelerate at {np.linalg.norm(mean.mean(axis=0)):.2g} m/s^2 '
        f'and does so at {np.linalg.norm(measured.mean(axis=0)):.2g} m/s^2: give contacts or foot '
        'forces if it stands, else check masses, efforts and their signs'
    )


def _size(vectors: Array) -> float:
    """Return the median length, which a single push leaves alone."""
    return float(np.median(np.linalg.norm(vectors, axis=1)))
