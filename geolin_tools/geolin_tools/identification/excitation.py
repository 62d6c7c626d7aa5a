# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a recording can tell about a robot, before anything is identified of it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from geolin_ros.dynamics.derivatives import inverse_dynamics_regressor
from geolin_ros.errors import RecordingError
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array
from geolin_tools.identification.equations import (
    Equations,
    Likeness,
    equations_of,
    likeness,
)
from geolin_tools.identification.fit import FIRST_NOISE, row_sizes
from geolin_tools.identification.parameters import Parameters
from geolin_tools.identification.signals import (
    DEGREES,
    STILL,
    Motion,
    Signals,
    delayed_efforts,
    needed_rate,
    prepare,
)

LATEST, FINEST = 0.1, 0.004
"""Efforts are looked for within this of their motion, in steps not below that [s]."""
PLAIN = 1.2
"""The delay of a joint is clear if other delays leave so many times as much unexplained,"""
EXPLAINED = 0.5
"""and it less than this part of the effort."""
AGREED, NEARLY = 2.0, 0.5
"""Joints agree if all clear delays are within so many steps, or this part, of their median."""
OFF = 2.0
"""Efforts so many times too large or too small are in another unit,"""
ENOUGH = 0.4
"""where the description explains so much of them; smaller ones than it are anyway,"""
BEYOND = 1.5
"""or so many times the largest that the joint has."""
BACKWARDS = -0.7
"""Correlation of friction with the motion from which on it drives: the sign is wrong."""
POOR = 0.3
"""A recording that tells less than this part of what a robot's motion can tell is poor."""


@dataclass(frozen=True)
class Excitation:
    """What a recording can tell.

    Attributes
    ----------
    rate, needed_rate
        Samples a second, and how many the motion asks for [Hz].
    determined, possible
        How many combinations of inertial parameters the recording tells, if efforts are good to
        2 %, and how many any motion of the robot could.
    condition
        Condition number of the regressor of the possible ones: in units of what the description
        may be off, rows by the size of their efforts.
    delay
        By how much efforts come after the motion [s]; NaN where that is not determined.
    factors : (n,)
        Measured by described effort of each joint; NaN where they are not alike.
    problems
        What to fix, a sentence each.
    """

    rate: float
    needed_rate: float
    determined: int
    possible: int
    condition: float
    delay: float
    factors: Array
    problems: tuple[str, ...]


def examine(model: TreeModel, signals: Signals) -> Excitation:
    """Return what a recording, which passed `check`, can tell of a robot."""
    motion = prepare(signals, model)
    equations = equations_of(model, [motion])
    rate = 1.0 / float(np.median(np.diff(signals.time)))
    needed = needed_rate(signals)
    values = np.linalg.eigvalsh(information(equations, Parameters(model, equations)))[::-1]
    possible = _possible(model, equations)
    determined = int((values > 1.0).sum())
    condition = float(np.sqrt(values[0] / max(values[possible - 1], 1e-300)))
    tells = signals.effort is not None and signals.holds is None
    late = _delay(equations, motion, signals) if tells else np.nan
    alike = likeness(equations)
    problems = [
        *_of_units(model, signals, alike),
        *_of_motion(model, signals, determined, possible),
    ]
    if rate < 0.9 * needed:
        problems.append(
            f'{signals.name} has {rate:.4g} samples a second, the motion asks for {needed:.4g}: '
            'accelerations and friction are smoothed away; record faster, or move more slowly'
        )
    if abs(late) > 1.0 / rate:
        problems.append(
            f'efforts come {late * 1e3:.1f} ms after the motion they belong to; take that out '
            'with identify --delay auto'
        )
    found = rate, needed, determined, possible, condition, late, alike.factor, tuple(problems)
    return Excitation(*found)


def find_delay(model: TreeModel, signals: Signals, cutoff: float | None = None) -> float:
    """Return by how much the efforts of a recording come after its motion [s].

    The delay is where the equations of motion, with friction and rotors, explain most of the
    efforts: their multiple correlation. All joints have to agree on it: what a model lacks, as
    elastic gears, looks like a delay of one joint.

    Raises
    ------
    RecordingError
        If the recording has no efforts, or does not tell.
    """
    if signals.effort is None or signals.holds is not None:
        raise RecordingError(
            f'{signals.name} has no efforts, or has contacts, expected efforts without contacts '
            'to find a delay of; give the delay in seconds'
        )
    motion = prepare(signals, model, cutoff)
    late = _delay(equations_of(model, [motion]), motion, signals)
    if np.isnan(late):
        raise RecordingError(
            f'{signals.name} does not tell by how much efforts come after the motion, expected '
            'motions of several frequencies, and joints that agree; give the delay in seconds'
        )
    return late


def _delay(equations: Equations, motion: Motion, signals: Signals) -> float:
    """Return the delay [s], NaN if none is clearly better than others."""
    step = max(float(np.median(np.diff(signals.time))), FINEST)
    lags = np.arange(-round(LATEST / step), round(LATEST / step) + 1) * step
    n = equations.position.shape[1]
    known = np.flatnonzero(np.isfinite(equations.measured[:, -n:]).all(axis=0))
    bases = {int(c): _explaining(equations, int(c)) for c in known}
    if not bases:
        return np.nan
    size = row_sizes(equations)[-n:]
    of_joints = np.zeros((lags.size, len(bases)))
    for k, lag in enumerate(lags):
        efforts = delayed_efforts(signals, motion, lag)
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


def _possible(model: TreeModel, equations: Equations) -> int:
    """Return how many combinations the same efforts could tell of any motion."""
    rng = np.random.default_rng(0)
    spreads = spreads_of(Parameters(model, equations))
    known = np.isfinite(equations.measured).all(axis=0)
    rows = []
    for _ in range(2 + 2 * spreads.shape[1] // max(int(known.sum()), 1)):
        state, acceleration = model.random_state(rng, 2.0), rng.normal(size=model.m) * 5.0
        rows.append(inverse_dynamics_regressor(model, state, acceleration)[known])
    return int(np.linalg.matrix_rank(np.concatenate(rows) @ spreads, tol=1e-8))


def spreads_of(parameters: Parameters) -> Array:
    """Return inertial parameters (10 nb) by the numbers of bodies, at the description."""
    x = np.zeros(parameters.count)
    found = np.zeros((parameters.described.size, 10 * len(parameters.bodies)))
    for body, part, block in parameters.inertial_jacobians(x):
        found[10 * body : 10 * body + 10, part] = block
    return found


# ---- sentences


def _of_units(model: TreeModel, signals: Signals, alike: Likeness) -> Iterator[str]:
    farthest = np.abs(signals.position).max(axis=0)
    bound = np.maximum(np.abs(model.limits.lower), np.abs(model.limits.upper))
    bound = np.where(np.isfinite(bound) & (bound > 0.0), bound, 2.0 * np.pi)
    for c in np.flatnonzero((farthest > 2.0 * bound) & (farthest / DEGREES < 1.1 * bound)):
        yield (
            f'positions of joint {model.joint_names[c]!r} reach {farthest[c]:.4g}, its range is '
            f'{bound[c]:.3g} rad: they look like degrees; convert positions and rates to rad'
        )
    names = model.joint_names
    turned = (alike.factor < 0.0) | (np.isnan(alike.factor) & (alike.friction < BACKWARDS))
    for c in np.flatnonzero(turned):
        yield (
            f'efforts of joint {names[c]!r} have the sign opposite to the description; turn them, '
            'or the axis of the joint'
        )
    advice = (
        'amperes, or torques of the motor before its gear? convert them to N m, or let identify '
        '--scale {} find the factor'
    )
    size = np.where(alike.share > ENOUGH, np.abs(alike.factor), alike.size)
    other = ((alike.share > ENOUGH) & (size > OFF)) | (size < 1.0 / OFF)
    for c in np.flatnonzero(other):
        yield (
            f'efforts of joint {names[c]!r} are {size[c]:.3g} times what the description expects: '
            f'{advice.format(names[c])}'
        )
    if signals.effort is None:
        return
    reached = np.abs(np.nan_to_num(signals.effort)).max(axis=0)
    most = model.limits.effort
    for c in np.flatnonzero((most > 0.0) & (reached > BEYOND * most) & ~other):
        yield (
            f'efforts of joint {names[c]!r} reach {reached[c]:.4g}, its limit is {most[c]:.4g}: '
            f'{advice.format(names[c])}'
        )


def _of_motion(
    model: TreeModel, signals: Signals, determined: int, possible: int
) -> Iterator[str]:
    still = np.flatnonzero(np.ptp(signals.position, axis=0) < STILL)
    if still.size:
        names = ', '.join(model.joint_names[c] for c in still)
        yield f'joints {names} do not move: nothing determines their rotors and friction'
    if determined < POOR * possible:
        yield (
            f'{signals.name} determines {determined} of {possible} combinations of masses, '
            'centres of mass and inertias, expected a third or more; move all joints at once, '
            'farther, at different speeds'
        )
