# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Doubts about inputs, from a stretch of consecutive samples: one sentence each, with a fix."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.base_input import TwistFrame
from geolin_ros.typing import Array

LEAST_SAMPLES = 20
LEAST_TIME = 0.2
"""Shorter stretches [s] are not judged."""
BASELINE = 0.03
"""Time [s] over which poses and rates are differenced: long enough for noisy sensors."""
MISMATCH = 0.3
"""Relative difference above which two ways to a velocity contradict each other."""
MOVING = {'linear': 0.05, 'angular': 0.1}
"""Slower base motion [m/s, rad/s] is not judged."""
ACCELERATING = 2.0
"""Smaller accelerations of the base [m/s^2] are not judged."""
LATE = 0.5
"""Part of max_skew beyond which a lasting skew is said."""


class Window(NamedTuple):
    """N consecutive samples, as a stream saw them."""

    times: Array
    """(N,) stamps [s], increasing."""
    poses: Array
    """(N, 4, 4) of the base."""
    twists: Array
    """(N, 6) body twists."""
    positions: Array
    """(N, n) of the joints."""
    rates: Array
    """(N, n)"""
    efforts: Array
    """(N, n)"""
    accelerations: Array
    """(N, m) as predicted."""
    ages: Array
    """(N,) joint state after odometry [s]."""


def findings(
    window: Window, model: TreeModel, twist_frame: TwistFrame, max_skew: float
) -> list[str]:
    """Return what is doubtful in a window; nothing where there is too little to tell.

    Parameters
    ----------
    window
        Samples without a gap.
    model
        The robot.
    twist_frame
        How the odometry twist was read.
    max_skew
        Longest distance [s] of a joint state from its odometry.
    """
    times = window.times
    if times.size < LEAST_SAMPLES or times[-1] - times[0] < LEAST_TIME:
        return []
    step = max(1, int(np.searchsorted(times, times[0] + BASELINE)))
    found = [*_beyond_limits(window, model), *_stuck_joints(window, model)]
    if model.base == 'floating':
        found += _wrong_twist(window, twist_frame, step)
        found += _late_odometry(window, max_skew)
    found += _wrong_accelerations(window, model, step)
    return found


def _beyond_limits(window: Window, model: TreeModel) -> Iterator[str]:
    limits = model.limits
    for what, values, lower, upper, unit in (
        ('position', window.positions, limits.lower, limits.upper, ''),
        ('rate', window.rates, -limits.velocity, limits.velocity, '/s'),
        ('effort', window.efforts, -limits.effort, limits.effort, ''),
    ):
        if values.shape[1] != lower.size:
            continue
        margin = 1e-3 * np.maximum(1.0, np.where(np.isfinite(upper), np.abs(upper), 0.0))
        excess = np.maximum(values - upper - margin, lower - margin - values).max(axis=0)
        for joint in np.flatnonzero((excess > 0.0) & (upper > lower)):
            extreme = values[np.abs(values[:, joint]).argmax(), joint]
            yield (
                f'joint {model.joint_names[joint]!r} has {what} {extreme:.4g}{unit}, outside '
                f'{lower[joint]:.4g} to {upper[joint]:.4g}: check units and zero of its sensor, '
                'or the limits of the description'
            )


def _stuck_joints(window: Window, model: TreeModel) -> Iterator[str]:
    """Find positions that stay the same to the last bit while the rate says that they move."""
    if window.positions.shape != window.rates.shape:
        return
    still = (window.positions == window.positions[0]).all(axis=0)
    mean = 0.5 * (window.rates[1:] + window.rates[:-1])
    moved = np.abs(np.diff(window.times) @ mean)
    for joint in np.flatnonzero(still & (moved > 1e-3)):
        yield (
            f'joint {model.joint_names[joint]!r} stays at {window.positions[0, joint]:.6g} while '
            f'its rates add up to {moved[joint]:.3g}: its position sensor is frozen'
        )
    frozen = still.size > 0 and still.all() and bool((window.rates == window.rates[0]).all())
    if frozen and np.ptp(window.poses, axis=0).max() > 1e-3:
        yield 'no joint changes at all while the base moves: the joint states are frozen'


def _wrong_twist(window: Window, twist_frame: TwistFrame, step: int) -> Iterator[str]:
    """Compare the twist with the differences of its pose, in both frames it could be in."""
    R, p = window.poses[:, :3, :3], window.poses[:, :3, 3]
    time = (window.times[step:] - window.times[:-step])[:, np.newaxis]
    turn = np.swapaxes(R[:-step], 1, 2) @ R[step:]
    turned = 0.5 * np.stack(
        (
            turn[:, 2, 1] - turn[:, 1, 2],
            turn[:, 0, 2] - turn[:, 2, 0],
            turn[:, 1, 0] - turn[:, 0, 1],
        ),
        axis=1,
    )
    u, w = window.twists[:, :3, np.newaxis], window.twists[:, 3:, np.newaxis]
    raw = (R @ u)[..., 0] if twist_frame == 'world' else u[..., 0]
    raw_w = (R @ w)[..., 0] if twist_frame == 'world' else w[..., 0]
    other: TwistFrame = 'child' if twist_frame == 'world' else 'world'
    for what, measured, child, world in (
        ('linear', (p[step:] - p[:-step]) / time, (R @ raw[..., np.newaxis])[..., 0], raw),
        (
            'angular',
            turned / time,
            raw_w,
            (np.swapaxes(R, 1, 2) @ raw_w[..., np.newaxis])[..., 0],
        ),
    ):
        speed = _size(measured)
        error = {
            frame: _size(_mean_over(values, step) - measured)
            for frame, values in (('child', child), ('world', world))
        }
        if max(speed, _size(child)) < MOVING[what] or error[twist_frame] < MISMATCH * speed:
            continue
        if error[other] < 0.5 * error[twist_frame]:
            yield (
                f'the {what} odometry twist fits its pose in {other} axes (difference '
                f'{error[other]:.2g}) better than in {twist_frame} axes '
                f'({error[twist_frame]:.2g}): set odometry.twist_frame to {other!r}'
            )
        else:
            yield (
                f'the {what} odometry twist is {error[twist_frame]:.2g} away from the derivative '
                f'of its pose, which moves at {speed:.2g}: check frame and units of the odometry'
            )


def _late_odometry(window: Window, max_skew: float) -> Iterator[str]:
    skew = float(np.median(window.ages))
    if abs(skew) > LATE * max_skew:
        yield (
            f'joint states are {skew * 1e3:+.1f} ms away from their odometry all the time, near '
            f'max_skew of {max_skew * 1e3:.0f} ms: synchronize the clocks of the publishers'
        )


def _wrong_accelerations(window: Window, model: TreeModel, step: int) -> Iterator[str]:
    """Compare predicted accelerations of the base with the differences of its velocity."""
    if model.base != 'floating':
        return
    time = (window.times[step:] - window.times[:-step])[:, np.newaxis]
    R = window.poses[:, :3, :3]
    velocity = (R @ window.twists[:, :3, np.newaxis])[..., 0]
    u, w = window.twists[:, :3], window.twists[:, 3:]
    predicted = (R @ (window.accelerations[:, :3] + np.cross(w, u))[..., np.newaxis])[..., 0]
    measured = (velocity[step:] - velocity[:-step]) / time
    mean = _mean_over(predicted, step)
    error = _size(mean - measured)
    if error < max(ACCELERATING, 2.0 * MISMATCH * _size(measured)):
        return
    difference = (mean - measured).mean(axis=0)
    hint = 'check masses, efforts and their signs'
    gravity = float(np.linalg.norm(model.gravity))
    if gravity and float(difference @ model.gravity) / gravity > 0.5 * gravity:
        hint = 'it is held up by forces that the model is not told: give contacts or foot forces'
    yield (
        f'the base is predicted to accelerate at {np.linalg.norm(mean.mean(axis=0)):.2g} m/s^2 '
        f'and does so at {np.linalg.norm(measured.mean(axis=0)):.2g} m/s^2: {hint}'
    )


def _mean_over(values: Array, step: int) -> Array:
    """Return the means over each ``step + 1`` neighbouring rows, ends counted half."""
    total = np.cumsum(0.5 * (values[1:] + values[:-1]), axis=0)
    total = np.concatenate((np.zeros((1, values.shape[1])), total))
    return np.asarray((total[step:] - total[:-step]) / step, dtype=np.float64)


def _size(vectors: Array) -> float:
    """Return the root mean square length."""
    return float(np.sqrt(np.mean(np.sum(vectors * vectors, axis=1))))
