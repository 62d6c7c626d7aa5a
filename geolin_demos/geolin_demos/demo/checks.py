# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The three checks of the demo: pure functions of arrays, each with its limit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from geolin_demos.demo.referee import Referee
from geolin_ros.stream.outputs.reading import ReceivedLinearization
from geolin_ros.typing import Array, IntArray

LINEARIZATION_LIMIT = 1e-6  # per block, relative to its largest entry
ROUNDING = 1e-9  # of a matrix's largest entry: blocks below are zero, as in flight that of r by H
ACCELERATION_LIMIT = 0.02  # relative to the largest acceleration of a group
ANSWERED_LIMIT = 0.95
LEAST_COMPARED = 0.5  # of the accelerations
JUMP = 20.0  # times the median acceleration of the base
SETTLING = 20_000_000  # after a jump, stiff joints shake faster than the samples can follow [ns]
LONG_GAP = 1.5  # times the median distance of samples: none is missing between neighbours
GROUPS = (('base linear', slice(0, 3)), ('base angular', slice(3, 6)), ('joints', slice(6, None)))


@dataclass(frozen=True)
class Verdict:
    """Outcome of a check."""

    passed: bool
    text: str
    details: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return one line."""
        return f'{"PASS" if self.passed else "FAIL"}  {self.text}'


def check_linearizations(received: Sequence[ReceivedLinearization], referee: Referee) -> Verdict:
    """Compare A and B, block by block, and nu_dot with the referee's.

    A block is judged by its largest deviation relative to its own largest entry. Where the
    referee's is zero but for rounding, so must be A or B. ``details`` has the worst of each block.
    """
    worst: dict[str, float] = {}
    for one in received:
        A, B, nu_dot = referee(one.state, one.tau)
        m = len(nu_dot)
        base = m - len(one.tau)
        found = {
            **block_deviations(one.A, A, m, base),
            **block_deviations(one.B, B, m, base),
            'nu_dot': deviation(one.nu_dot, nu_dot, largest(nu_dot)),
        }
        worst = {name: max(worst.get(name, 0.0), value) for name, value in found.items()}
    if not worst:
        return Verdict(False, 'A and B: no linearization came, expected some')
    name = max(worst, key=lambda block: worst[block])
    return Verdict(
        worst[name] <= LINEARIZATION_LIMIT,
        f"A and B of {len(received)} states against derivatives of Newton and Euler's equations: "
        f'worst deviation {worst[name]:.1e} (block {name}), limit {LINEARIZATION_LIMIT:.0e}',
        worst,
    )


def check_accelerations(
    stamps: IntArray,
    nu: Array,
    base_velocity: Array,
    at: IntArray,
    nu_dot: Array,
    is_fixed: bool = False,
) -> Verdict:
    """Compare accelerations with differences of the velocities around them.

    Parameters
    ----------
    stamps : (N,)
        Of the motion [ns], increasing.
    nu : (N, 6 + n)
        Body twist and joint rates.
    base_velocity : (N, 3)
        In world axes, where a throw is a jump whatever the attitude [m/s].
    at : (K,)
        Stamps of the accelerations [ns].
    nu_dot : (K, 6 + n)
        Accelerations to be judged.
    is_fixed
        Whether there is no base twist.
    """
    what = 'accelerations against differenced odometry and joint rates'
    if stamps.size < 3 or at.size == 0:
        return Verdict(
            False,
            f'{what}: {stamps.size} samples and {at.size} accelerations came, expected at least '
            '3 and 1',
        )
    gap = np.diff(stamps)
    jolt = np.linalg.norm(np.diff(base_velocity, axis=0), axis=1) / gap
    is_jump = jolt > JUMP * np.median(jolt)
    is_long = gap > LONG_GAP * np.median(gap)
    last_jump = np.maximum.accumulate(np.where(is_jump, stamps[1:], -SETTLING - 1))
    slope = parabola_slope(stamps, nu)

    index = np.searchsorted(stamps, at)
    inside = (index > 0) & (index < stamps.size - 1)
    inside[inside] = stamps[index[inside]] == at[inside]
    k = index[inside]
    jumped = is_jump[k - 1] | is_jump[k] | (stamps[k] - last_jump[k - 1] < SETTLING)
    lost = (is_long[k - 1] | is_long[k]) & ~jumped
    compared = ~(jumped | lost)
    count = int(compared.sum())
    counts = (
        f'{count} of {at.size} compared, left out {int(jumped.sum())} at {int(is_jump.sum())} '
        f'throws, {int(lost.sum())} beside lost samples'
    )
    if count < LEAST_COMPARED * at.size:
        return Verdict(
            False,
            f'{what}: {counts}, expected at least {LEAST_COMPARED:.0%}; is the machine too busy?',
        )
    worst = {}
    for name, part in (('joints', slice(None)),) if is_fixed else GROUPS:
        expected = slope[k - 1][compared][:, part]
        worst[name] = deviation(nu_dot[inside][compared][:, part], expected, largest(expected))
    name = max(worst, key=lambda group: worst[group])
    return Verdict(
        worst[name] <= ACCELERATION_LIMIT,
        f'{what}: worst deviation {worst[name]:.2%} ({name}), limit {ACCELERATION_LIMIT:.0%}; '
        f'{counts}',
        worst,
    )


def check_answered(joint_states: IntArray, answered: IntArray) -> Verdict:
    """Count the joint states from the first linearization on that have a linearization."""
    due = joint_states[joint_states >= answered.min()] if answered.size else joint_states
    if due.size == 0:
        return Verdict(False, 'joint states answered: none came, expected some')
    count = int(np.isin(due, answered).sum())
    share = count / due.size
    return Verdict(
        share >= ANSWERED_LIMIT,
        f'joint states answered: {count} of {due.size}, {share:.2%}, limit {ANSWERED_LIMIT:.0%}',
    )


def parabola_slope(stamps: IntArray, nu: Array) -> Array:
    """Return (N - 2, m) the slope at the inner samples of the parabola through three of them."""
    gap = np.diff(stamps)[:, None] * 1e-9
    slope = np.diff(nu, axis=0) / gap
    return (slope[:-1] * gap[1:] + slope[1:] * gap[:-1]) / (gap[:-1] + gap[1:])


def blocks(matrix: Array, m: int, base: int = 6) -> Iterator[tuple[str, Array]]:
    """Yield name and block of A (2 m, 2 m) or B (2 m, n), cut at [H; s; v; r]."""
    edges = {'H': (0, base), 's': (base, m), 'v': (m, m + base), 'r': (m + base, 2 * m)}
    columns = edges if matrix.shape[1] == 2 * m else {' tau': (0, matrix.shape[1])}
    for row, (top, bottom) in edges.items():
        for column, (left, right) in columns.items():
            if bottom > top and right > left:
                yield f'{row}{column}', matrix[top:bottom, left:right]


def block_deviations(actual: Array, expected: Array, m: int, base: int = 6) -> dict[str, float]:
    """Return the deviation of each block, relative to its largest entry."""
    theirs = dict(blocks(expected, m, base))
    if actual.shape != expected.shape:
        return dict.fromkeys(theirs, np.inf)
    zero, found = ROUNDING * largest(expected), {}
    for name, ours in blocks(actual, m, base):
        scale = largest(theirs[name])
        found[name] = deviation(
            ours, theirs[name], scale if scale > zero else zero / LINEARIZATION_LIMIT
        )
    return found


def deviation(actual: Array, expected: Array, scale: float) -> float:
    """Return max|actual - expected| / scale; inf where a number is not finite."""
    worst = largest(actual - expected)
    if worst == 0.0:
        return 0.0
    return worst / scale if scale > 0.0 and np.isfinite(worst) else np.inf


def largest(values: Array) -> float:
    """Return the largest absolute entry."""
    return float(np.max(np.abs(values), initial=0.0))
