# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A motion of an arm, within its limits, for what a recording did not determine.

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
from geolin_tools.identification.equations import equations_of
from geolin_tools.identification.excitation import information, spreads_of
from geolin_tools.identification.fit import FIRST_NOISE, Watch
from geolin_tools.identification.parameters import Parameters
from geolin_tools.identification.signals import Signals, prepare

linalg = optional('scipy.linalg', extra='estimation')
optimize = optional('scipy.optimize', extra='estimation')

PERIOD, HARMONICS = 10.0, 6
"""Of the series [s]."""
STARTS, ROUNDS, STEPS = 20, 8, 3
"""The best of so many random motions is improved so often, by so many steps each."""
LEAD = 5.0
"""In this time the arm goes from where it is to where the motion begins [s]."""
KEPT = 0.9
"""Most of a limit that the motion takes."""
SHARES = np.linspace(1.0, 0.0, 101)
RANGE, SPEED = 1.5, 1.5
"""Taken where a joint has no limit [rad or m, rad/s or m/s]."""
COARSE, FINE, KNOTS = 0.2, 0.02, 0.1
"""Steps of time at which it is judged while it is improved, in the end, and written [s]."""
COST = 100.0
"""Of a sample that is beyond a limit by as much again."""
APART = 0.02
"""Of samples whose noise counts as independent [s]."""


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
