# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a recording can tell about a robot, and a motion of an arm for what it does not.

Joints follow Fourier series [Swevers 1997] from rest to rest, of many random ones that with the
largest log det(1 + I + I(motion)): I is what the recording tells about inertial parameters, in
deviations of the prior (Bayesian D-optimality), so that what it did not determine counts most.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.dynamics.derivatives import inverse_dynamics_regressor
from geolin_ros.dynamics.functions import inverse_dynamics
from geolin_ros.errors import UnsolvableError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array
from geolin_tools.identification.equations import Equations, Likeness, equations_of, likeness
from geolin_tools.identification.fit import FIRST_NOISE, Watch, row_sizes
from geolin_tools.identification.parameters import Parameters
from geolin_tools.identification.signals import (
    FASTEST,
    STILL,
    Motion,
    Signals,
    even_times,
    prepare,
    resampled,
    wanted_cutoff,
)

linalg = optional('scipy.linalg', extra='estimation')

LATEST, FINEST = 0.1, 0.004
"""Efforts are looked for within this of their motion, in steps not below that [s]."""
PLAIN = 1.2
"""The delay of a joint is clear if other delays leave so many times as much unexplained,"""
EXPLAINED = 0.5  # and it less than this part of the effort
AGREED, NEARLY = 2.0, 0.5
"""Joints agree if all clear delays are within so many steps, or this part, of their median."""
OFF = 2.0  # efforts so many times too large or too small are in another unit,
ENOUGH = 0.4  # where the description explains so much of them; smaller ones than it are anyway,
BEYOND = 1.5  # or so many times the largest that the joint has
BACKWARDS = -0.7
"""Correlation of friction with the motion from which on it drives: the sign is wrong."""
POOR = 0.3  # a recording that tells less than this part of what a robot's motion can tell is poor


class Excitation(NamedTuple):
    """What a recording can tell."""

    rate: float
    needed_rate: float
    """Samples a second, and how many the motion asks for [Hz]."""
    determined: int
    possible: int
    """How many combinations of inertial parameters the recording tells, if efforts are good to
    2 %, and how many any motion of the robot could."""
    condition: float
    """Condition number of the regressor of the possible ones: in units of what the description
    may be off, rows by the size of their efforts."""
    delay: float
    """By how much efforts come after the motion [s]; NaN where that is not determined."""
    factors: Array
    """(n,) Measured by described effort of each joint; NaN where they are not alike."""
    problems: tuple[str, ...]
    """What to fix, a sentence each."""


def examine(model: TreeModel, signals: Signals) -> Excitation:
    """Return what a recording, which passed `check`, can tell of a robot."""
    motion = prepare(signals, model)
    equations = equations_of(model, [motion])
    parameters, alike = Parameters(model, equations), likeness(equations)
    values = np.linalg.eigvalsh(information(equations, parameters))[::-1]
    possible = _possible(model, equations, spreads_of(parameters))
    found = Excitation(
        rate=1.0 / even_times(signals)[0],
        needed_rate=wanted_cutoff(signals) / FASTEST,
        determined=int((values > 1.0).sum()),
        possible=possible,
        condition=float(np.sqrt(values[0] / max(values[possible - 1], 1e-300))),
        delay=_delay(equations, motion, signals),
        factors=alike.factor,
        problems=(),
    )
    problems = *_of_units(model, signals, alike), *_of_motion(model, signals, found)
    return found._replace(problems=problems)


def find_delay(model: TreeModel, signals: Signals, cutoff: float | None = None) -> float:
    """Return by how much the efforts of a recording come after its motion [s].

    The delay is where the equations of motion, with friction and rotors, explain most of the
    efforts: their multiple correlation. All joints have to agree on it: what a model lacks, as
    elastic gears, looks like a delay of one joint. NaN if a recording does not tell: without
    efforts, with contacts, by a motion of one frequency, or where joints do not agree.
    """
    motion = prepare(signals, model, cutoff)
    return _delay(equations_of(model, [motion]), motion, signals)


def _delay(equations: Equations, motion: Motion, signals: Signals) -> float:
    """Return the delay [s], NaN without efforts or if none is clearly better than others."""
    if signals.effort is None or signals.holds is not None:
        return np.nan
    period, even = even_times(signals)
    step = max(period, FINEST)
    lags = np.arange(-round(LATEST / step), round(LATEST / step) + 1) * step
    n = equations.position.shape[1]
    known = np.flatnonzero(np.isfinite(equations.measured[:, -n:]).all(axis=0))
    bases = {int(c): _explaining(equations, int(c)) for c in known}
    if not bases:
        return np.nan
    size = row_sizes(equations)[-n:]
    of_joints = np.zeros((lags.size, len(bases)))
    for k, lag in enumerate(lags):
        efforts = motion.grid.smooth(resampled(signals.time - lag, signals.effort, even))
        for j, (c, Q) in enumerate(bases.items()):
            effort = efforts[:, c] / max(float(size[c]), 1e-12)
            of_joints[k, j] = float(np.mean((effort - Q @ (Q.T @ effort)) ** 2))
    least = of_joints.min(axis=0)
    is_clear = (of_joints.max(axis=0) > PLAIN**2 * least + 1e-12) & (least < EXPLAINED**2)
    if not is_clear.any():
        return np.nan
    own = lags[of_joints[:, is_clear].argmin(axis=0)]
    middle = float(np.median(own))
    if np.abs(own - middle).max() > max(AGREED * step, NEARLY * abs(middle)) + 1e-9:
        return np.nan
    left = of_joints[:, is_clear].mean(axis=1)
    best = int(left.argmin())
    if not 0 < best < lags.size - 1:
        return np.nan
    before, at, after = left[best - 1 : best + 2]
    bend = before - 2.0 * at + after
    return float(lags[best] + 0.5 * step * (before - after) / bend)


def _explaining(equations: Equations, c: int) -> Array:
    """Return an orthonormal basis of what can explain the effort of a joint."""
    six = equations.measured.shape[1] - equations.position.shape[1]
    rate, way = equations.rate[:, c], equations.direction(c)
    own = equations.acceleration[:, c], rate, way, np.ones(len(rate))
    columns = np.column_stack((equations.regressor[:, six + c], *own))
    columns = columns[:, np.abs(columns).max(axis=0) > 0.0]
    U, s, _ = np.linalg.svd(columns / np.linalg.norm(columns, axis=0), full_matrices=False)
    return np.asarray(U[:, s > 1e-6 * s[0]])


def information(equations: Equations, parameters: Parameters) -> Array:
    """Return J' J (p, p) of the numbers of bodies: how well they are determined.

    Where eigenvalues are above 1 the efforts say more than the description.
    """
    weight = 1.0 / np.maximum(FIRST_NOISE * row_sizes(equations), 1e-12)
    weight = np.where(np.isfinite(equations.measured).all(axis=0), weight, 0.0)
    rows = (equations.regressor * weight[:, np.newaxis]).reshape(-1, equations.regressor.shape[2])
    J = rows @ spreads_of(parameters)
    return np.asarray(J.T @ J)


def _possible(model: TreeModel, equations: Equations, spreads: Array) -> int:
    """Return how many combinations the same efforts could tell of any motion."""
    rng = np.random.default_rng(0)
    known = np.isfinite(equations.measured).all(axis=0)
    rows = []
    for _ in range(2 + 2 * spreads.shape[1] // max(int(known.sum()), 1)):
        state, acceleration = model.random_state(rng, speed=2.0), rng.normal(size=model.m) * 5.0
        rows.append(inverse_dynamics_regressor(model, state, acceleration)[known])
    return int(np.linalg.matrix_rank(np.concatenate(rows) @ spreads, tol=1e-8))


def spreads_of(parameters: Parameters) -> Array:
    """Return inertial parameters (10 nb) by the numbers of bodies, at the description."""
    found = np.zeros((parameters.described.size, 10 * len(parameters.bodies)))
    for body, part, block in parameters.inertial_jacobians(np.zeros(parameters.count)):
        found[10 * body : 10 * body + 10, part] = block
    return found


def _of_units(model: TreeModel, signals: Signals, alike: Likeness) -> Iterator[str]:
    names, limits = model.joint_names, model.limits
    farthest = np.abs(signals.position).max(axis=0)
    bound = np.maximum(np.abs(limits.lower), np.abs(limits.upper))
    bound = np.where(np.isfinite(bound) & (bound > 0.0), bound, 2.0 * np.pi)
    for c in np.flatnonzero((farthest > 2.0 * bound) & (np.deg2rad(farthest) < 1.1 * bound)):
        yield (
            f'positions of joint {names[c]!r} reach {farthest[c]:.4g}, its range is '
            f'{bound[c]:.3g} rad: they look like degrees; convert positions and rates to rad'
        )
    turned = (alike.factor < 0.0) | (np.isnan(alike.factor) & (alike.friction < BACKWARDS))
    for c in np.flatnonzero(turned):
        yield (
            f'efforts of joint {names[c]!r} have the sign opposite to the description; turn them, '
            'or the axis of the joint'
        )
    size = np.where(alike.share > ENOUGH, np.abs(alike.factor), alike.size)
    other = ((alike.share > ENOUGH) & (size > OFF)) | (size < 1.0 / OFF)
    measured = np.zeros(model.n) if signals.effort is None else signals.effort
    reached = np.abs(np.nan_to_num(np.atleast_2d(measured))).max(axis=0)
    beyond = (limits.effort > 0.0) & (reached > BEYOND * limits.effort)
    for c in np.flatnonzero(other | beyond):
        what = f'are {size[c]:.3g} times what the description expects'
        if not other[c]:
            what = f'reach {reached[c]:.4g}, its limit is {limits.effort[c]:.4g}'
        yield (
            f'efforts of joint {names[c]!r} {what}: amperes, or torques of the motor before its '
            f'gear? convert them to N m, or let identify --scale {names[c]} find the factor'
        )


def _of_motion(model: TreeModel, signals: Signals, found: Excitation) -> Iterator[str]:
    still = np.flatnonzero(np.ptp(signals.position, axis=0) < STILL)
    if still.size:
        names = ', '.join(model.joint_names[c] for c in still)
        yield f'joints {names} do not move: nothing determines their rotors and friction'
    if found.determined < POOR * found.possible:
        yield (
            f'{signals.name} determines {found.determined} of {found.possible} combinations of '
            'masses, centres of mass and inertias, expected a third or more; move all joints at '
            'once, farther, at different speeds'
        )
    if found.rate < 0.9 * found.needed_rate:
        yield (
            f'{signals.name} has {found.rate:.4g} samples a second, the motion asks for '
            f'{found.needed_rate:.4g}: accelerations and friction are smoothed away; record '
            'faster, or move more slowly'
        )
    if abs(found.delay) > 1.0 / found.rate:
        yield (
            f'efforts come {found.delay * 1e3:.1f} ms after the motion they belong to; take that '
            'out with identify --delay auto'
        )


PERIOD, HARMONICS, TRIES = 10.0, 6, 100  # of the series [s]; the best of so many is taken
LEAD = 5.0  # in this time the arm goes from where it is to where the motion begins [s]
KEPT = 0.9  # most of a limit that the motion takes
RANGE, SPEED = 1.5, 1.5  # taken where a joint has no limit [rad or m, rad/s or m/s]
STEP = 0.1  # from point to point [s]
APART = 0.02  # of samples whose noise counts as independent [s]


class Trajectory(NamedTuple):
    """A motion for an arm."""

    message: dict[str, Any]
    """The fields of a trajectory_msgs/JointTrajectory that starts at once."""
    determined: int
    """How many combinations of inertial parameters recording and motion tell together."""


def propose(
    model: TreeModel, signals: Signals, watch: Watch = lambda tries, total: tries
) -> Trajectory:
    """Return a motion of an arm for what a recording, which passed `check`, did not determine.

    It does not know of obstacles, nor of the shape of the arm. ``watch`` wraps the tries. Raises
    `UnsolvableError` if the robot is no arm on a fixed base, or effort limits do not hold it in
    the middle of its range.
    """
    if model.base != 'fixed' or model.positions.groups:
        raise UnsolvableError(
            f'robot {model.name!r} has a floating base or joints of several axes, expected an '
            'arm, for which motions are proposed: -p base:=fixed'
        )
    limits, rng, best, gain = model.limits, np.random.default_rng(0), Trajectory({}, 0), -np.inf
    is_bounded = np.isfinite(limits.lower) & np.isfinite(limits.upper)
    lower = np.where(is_bounded, limits.lower, -RANGE)
    upper = np.where(is_bounded, limits.upper, RANGE)
    middle, room = 0.5 * (lower + upper), 0.5 * (upper - lower)
    speed = np.where(np.isfinite(limits.velocity), limits.velocity, SPEED)
    centre = np.stack((middle, 0.0 * middle, 0.0 * middle))[:, np.newaxis]
    held = np.abs(_along(model, centre)[1][0])
    for c in np.flatnonzero(~(held < KEPT * limits.effort))[:1]:
        raise UnsolvableError(
            f'joint {model.joint_names[c]!r} takes {held[c]:.3g} [N m or N] to hold the arm in '
            f'the middle of its range, expected less than {KEPT:.0%} of its effort limit '
            f'{limits.effort[c]:.3g}; correct the limits of the description, or lock joints where '
            'they are held more easily'
        )
    equations = equations_of(model, [prepare(signals, model)])
    parameters = Parameters(model, equations)
    known, spreads = information(equations, parameters), spreads_of(parameters)
    time = np.arange(0.0, PERIOD + 0.5 * STEP, STEP)
    wave = 2.0 * np.pi / PERIOD * np.arange(1, HARMONICS + 1)
    turns = np.outer(time, wave) + 0.5 * np.pi * np.arange(3)[:, np.newaxis, np.newaxis]
    factor = wave ** np.arange(3)[:, np.newaxis, np.newaxis]
    basis = np.concatenate((factor * np.sin(turns), factor * np.cos(turns)), axis=2)
    free = linalg.null_space(basis[1:, 0])  # where rates and accelerations begin and end as zero
    for _ in watch(range(TRIES), TRIES):
        motion = basis @ free @ rng.normal(size=(free.shape[1], model.n))
        farthest, fastest, _ = np.abs(motion).max(axis=1)
        motion *= KEPT * np.minimum(room / farthest, speed / fastest)
        states, effort = _along(model, centre + motion)
        while (np.abs(effort) > KEPT * limits.effort).any():
            motion *= KEPT
            states, effort = _along(model, centre + motion)
        noise = FIRST_NOISE * np.maximum(effort.std(axis=0), 1e-9)[:, np.newaxis]
        rows = [
            inverse_dynamics_regressor(model, state, acceleration) / noise
            for state, acceleration in zip(states, motion[2], strict=True)
        ]
        J = np.concatenate(rows) @ spreads
        values = np.linalg.eigvalsh(known + J.T @ J * (STEP / APART))
        size = float(np.log1p(np.maximum(values, 0.0)).sum())
        if size > gain:
            message = _message(model, time, centre + motion)
            best, gain = Trajectory(message, int((values > 1.0).sum())), size
    return best


def _along(model: TreeModel, motion: Array) -> tuple[list[State], Array]:
    """Return states and efforts (N, n) along positions, rates and accelerations (3, N, n)."""
    position, rate, acceleration = motion
    states = [
        model.state(np.eye(4), s, np.zeros(6), r) for s, r in zip(position, rate, strict=True)
    ]
    return states, inverse_dynamics(model, np.array([at.data for at in states]), acceleration)


def _message(model: TreeModel, time: Array, motion: Array) -> dict[str, Any]:
    points = []
    for t, row in zip(time, np.round(motion, 6).swapaxes(0, 1).tolist(), strict=True):
        seconds, rest = divmod(round((LEAD + t) * 1e9), 10**9)
        point = dict(zip(('positions', 'velocities', 'accelerations'), row, strict=True))
        points.append(point | {'time_from_start': {'sec': seconds, 'nanosec': rest}})
    return {'joint_names': list(model.joint_names), 'points': points}
