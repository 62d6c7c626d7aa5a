# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a recording can tell about a robot, and a motion of an arm for what it does not.

Joints follow Fourier series [Swevers 1997] from rest to rest, whose coefficients maximize
log det(1 + I + I(motion)): I is the information of the recording about inertial parameters, in
deviations of the prior (Bayesian D-optimality), so that what it did not determine counts most.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.dynamics.derivatives import inverse_dynamics_regressor
from geolin_ros.dynamics.functions import inverse_dynamics
from geolin_ros.errors import UnsolvableError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array
from geolin_tools.identification.equations import (
    Equations,
    Likeness,
    equations_of,
    likeness,
)
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
optimize = optional('scipy.optimize', extra='estimation')


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
        state, acceleration = model.random_state(rng, 2.0), rng.normal(size=model.m) * 5.0
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


PERIOD, HARMONICS = 10.0, 6  # of the series [s]
STARTS, ROUNDS, STEPS = 20, 8, 3
"""The best of so many random motions is improved so often, by so many steps each."""
LEAD = 5.0  # in this time the arm goes from where it is to where the motion begins [s]
KEPT = 0.9  # most of a limit that the motion takes
SHARES = np.linspace(1.0, 0.0, 101)
RANGE, SPEED = 1.5, 1.5  # taken where a joint has no limit [rad or m, rad/s or m/s]
COARSE, FINE, KNOTS = 0.2, 0.02, 0.1
"""Steps of time at which it is judged while it is improved, in the end, and written [s]."""
COST = 100.0  # of a sample that is beyond a limit by as much again
APART = 0.02  # of samples whose noise counts as independent [s]


class Trajectory(NamedTuple):
    """Rows (N, ...) over time [s] of joints in the order of the model."""

    time: Array
    position: Array
    rate: Array
    acceleration: Array
    """(N, n) [rad or m, and their derivatives by time]"""
    eigenvalues: Array
    """(p,) Of the information of recording and motion about combinations of inertial parameters,
    the largest first: above 1 they are determined better than by the description."""

    def message(self, names: Sequence[str]) -> dict[str, Any]:
        """Return it as the fields of a trajectory_msgs/JointTrajectory that starts at once."""
        rows = [
            np.round(part, 6).tolist() for part in (self.position, self.rate, self.acceleration)
        ]
        points = []
        for t, *motion in zip(self.time, *rows, strict=True):
            point = dict(zip(('positions', 'velocities', 'accelerations'), motion, strict=True))
            seconds, rest = divmod(round((LEAD + t) * 1e9), 10**9)
            points.append(point | {'time_from_start': {'sec': seconds, 'nanosec': rest}})
        return {'joint_names': list(names), 'points': points}


def propose(
    model: TreeModel,
    signals: Signals,
    watch: Watch = lambda rounds, total: rounds,
) -> Trajectory:
    """Return a motion for what a recording, which passed `check`, did not determine.

    It does not know of obstacles, nor of the shape of the arm.

    Raises `UnsolvableError` if the robot is no arm, or effort limits do not hold it in the middle
    of its range.

    Parameters
    ----------
    model
        An arm on a fixed base.
    signals
        What was measured of it.
    watch
        Wraps the rounds.
    """
    series, rng = _Series(model), np.random.default_rng(0)
    series.within(np.zeros(series.size), np.zeros(1))  # refuses what efforts do not hold, at once
    equations = equations_of(model, [prepare(signals, model)])
    parameters = Parameters(model, equations)
    known, spreads = information(equations, parameters), spreads_of(parameters)
    noise = FIRST_NOISE * _effort_sizes(model, rng)
    coarse = np.arange(0.0, PERIOD, COARSE)

    def information_with(x: Array) -> Array:
        position, rate, acceleration = series.at(x, coarse)
        J = np.concatenate(
            [
                inverse_dynamics_regressor(model, state, a) @ spreads / noise[:, np.newaxis]
                for state, a in zip(_states(model, position, rate), acceleration, strict=True)
            ]
        )
        return np.asarray(known + J.T @ J * (COARSE / APART))

    def cost(x: Array) -> float:
        over = np.maximum(series.used(x, coarse) / KEPT - 1.0, 0.0)
        gain = np.linalg.slogdet(np.eye(len(known)) + information_with(x))[1]
        return float(COST * (over**2).sum(axis=1).mean() - gain)

    x = min((0.5 * rng.normal(size=series.size) for _ in range(STARTS)), key=cost)
    for _ in watch(range(ROUNDS), ROUNDS):
        x = optimize.minimize(cost, x, method='L-BFGS-B', options={'maxiter': STEPS}).x
    x = series.within(x, np.arange(0.0, PERIOD, FINE))
    time = np.arange(0.0, PERIOD + 0.5 * KNOTS, KNOTS)
    eigenvalues = np.asarray(np.linalg.eigvalsh(information_with(x))[::-1])
    return Trajectory(time, *series.at(x, time), eigenvalues)


class _Series:
    """Fourier series about the middle of each joint's range, at rest at both ends.

    Their coefficients (2 HARMONICS) are what n of them `free` make of x, which is of order one
    where a series takes the whole range or speed.
    """

    def __init__(self, model: TreeModel) -> None:
        limits = model.limits
        is_bounded = np.isfinite(limits.lower) & np.isfinite(limits.upper)
        lower = np.where(is_bounded, limits.lower, -RANGE)
        upper = np.where(is_bounded, limits.upper, RANGE)
        if model.base != 'fixed' or model.positions.groups:
            raise UnsolvableError(
                f'robot {model.name!r} has a floating base or joints of several axes, expected an '
                'arm, for which motions are proposed: -p base:=fixed'
            )
        self._model = model
        self._middle, self._room = 0.5 * (lower + upper), 0.5 * (upper - lower)
        self._speed = np.where(np.isfinite(limits.velocity), limits.velocity, SPEED)
        self._waves = 2.0 * np.pi / PERIOD * np.arange(1, HARMONICS + 1)
        rate, acceleration = (self._basis(np.zeros(1), k)[0] for k in (1, 2))
        self._free = linalg.null_space(np.stack((rate, acceleration)))
        self.size = model.n * self._free.shape[1]

    def at(self, x: Array, time: Array) -> tuple[Array, Array, Array]:
        """Return positions, rates and accelerations (N, n)."""
        own = self._free @ x.reshape(-1, self._model.n)
        own *= np.minimum(self._room, self._speed / self._waves[HARMONICS // 2])
        position, rate, acceleration = (self._basis(time, k) @ own for k in range(3))
        return self._middle + position, rate, acceleration

    def used(self, x: Array, time: Array) -> Array:
        """Return which part of limits of position, rate and effort is used, (N, 3 n)."""
        position, rate, acceleration = self.at(x, time)
        effort = [
            inverse_dynamics(self._model, state, a) / self._model.limits.effort
            for state, a in zip(_states(self._model, position, rate), acceleration, strict=True)
        ]
        parts = (position - self._middle) / self._room, rate / self._speed, np.array(effort)
        return np.abs(np.hstack(parts))

    def within(self, x: Array, time: Array) -> Array:
        """Return coefficients, made smaller where they are beyond limits.

        Raises `UnsolvableError` if effort limits do not hold the arm in the middle of its range.
        """
        for share in SHARES:
            if self.used(share * x, time).max() <= KEPT:
                return np.asarray(share * x)
        held = self.used(0.0 * x, time).max(axis=0)[-self._model.n :]
        c = int(held.argmax())
        raise UnsolvableError(
            f'joint {self._model.joint_names[c]!r} takes {held[c]:.0%} of its effort limit to '
            f'hold the arm in the middle of its range, expected less than {KEPT:.0%}; correct '
            'the limits of the description, or lock joints where they are held more easily'
        )

    def _basis(self, time: Array, derivative: int) -> Array:
        """Return what coefficients of sines and cosines stand with, or its derivative, (N, 2k)."""
        angle = np.outer(time, self._waves) + 0.5 * np.pi * derivative
        waves = np.tile(self._waves, 2) ** derivative
        return np.asarray(np.hstack((np.sin(angle), np.cos(angle))) * waves)


def _states(model: TreeModel, position: Array, rate: Array) -> Iterator[State]:
    for s, r in zip(position, rate, strict=True):
        yield model.state(np.eye(4), s, np.zeros(6), r)


def _effort_sizes(model: TreeModel, rng: np.random.Generator) -> Array:
    """Return root mean square efforts (n,) of random motions [N m or N]."""
    states = (model.random_state(rng, 1.0) for _ in range(50))
    efforts = [inverse_dynamics(model, state, 3.0 * rng.normal(size=model.n)) for state in states]
    return np.asarray(np.maximum(np.sqrt(np.mean(np.square(efforts), axis=0)), 1e-9))
