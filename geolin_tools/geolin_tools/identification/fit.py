# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The most probable numbers, given the description and the measured efforts.

Least squares with the description as prior: residuals over their standard deviation, and numbers
that have mean 0 and variance 1. How large residuals are, how long they last (consecutive
residuals of a model that is not exact are alike, and count less often), and which samples are
outliers is found from the residuals and used in the next round.

The equations are linear in inertial parameters, so that all samples are compressed, each round,
to as many rows as there are coefficients; the scipy solver works on those.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from geolin_ros.errors import UnsolvableError
from geolin_ros.optional import optional
from geolin_ros.typing import Array
from geolin_tools.identification.equations import Equations
from geolin_tools.identification.parameters import NUMBERS, JointNumber, Parameters
from geolin_tools.identification.signals import KEPT_RATE, Track

optimize = optional('scipy.optimize', extra='estimation')

ROUNDS = 8
OUTLIER = 2.5
"""Residuals beyond so many standard deviations weigh less [Huber 1964]."""
SETTLED = 1e-2  # rounds end when no number changes by more, in standard deviations of the prior
INSIDE = 0.02  # how far from its bounds a number starts
AT_BOUND = 1e-6
"""Numbers as near to their bound are at it: beyond, likelihood falls as exp(-pull x), whose
deviation is 1 / pull."""
STEP = 1.0  # most that the logarithm of a friction speed changes in a round
FIRST_NOISE = 0.02  # of residuals in the first round, as a part of the effort's
LONGEST = KEPT_RATE
"""Residuals of noise that passed the filter last half as many samples. What lasts longer is a
robot that the model cannot be; it must not hide what the data tell."""
BLOCKS = 20  # a recording is cut into so many to see how far its residuals agree with each other
LEAST_NOISE = 1e-6  # least standard deviation of residuals, as a part of the effort's

Watch = Callable[[Iterable[Any], int], Iterable[Any]]


@dataclass(frozen=True)
class Fit:
    """What was found."""

    x: Array
    """(p,) The numbers of `Parameters`."""
    information: Array
    """(p, p) J' J of the equations and bounds alone, weighted by what each row is worth; with the
    identity, the inverse of `covariance`."""

    @property
    def covariance(self) -> Array:
        """Covariance (p, p) of the numbers when all is measured."""
        return np.asarray(np.linalg.inv(self.information + np.eye(len(self.x))))


def fit(
    parameters: Parameters, equations: Equations, watch: Watch = lambda rounds, total: rounds
) -> Fit:
    """Return the most probable numbers.

    Raises `UnsolvableError` if the solver finds none.
    """
    features = Features(parameters, equations)
    x, known = np.zeros(parameters.count), np.isfinite(equations.measured)
    residual = features.predict(x) - equations.measured
    # first as if the robot could be met exactly: residuals of the description are no noise
    noise = np.maximum(FIRST_NOISE * row_sizes(equations), 1e-12) * np.ones_like(residual)
    weight = np.where(known, 1.0 / noise, 0.0)
    for _ in watch(range(ROUNDS), ROUNDS):
        before, x = x, _solve(features, features.compress(x, weight), x)
        residual = features.predict(x) - equations.measured
        noise, lasting = _noise(residual, equations)
        size = np.maximum(np.abs(np.nan_to_num(residual)) / noise, OUTLIER)
        weight = np.where(known, np.sqrt(OUTLIER / size) / (noise * np.sqrt(lasting)), 0.0)
        if np.abs(x - before).max(initial=0.0) < SETTLED:
            break
    worth = weight / np.sqrt(_inflation(features, equations, x, weight * np.nan_to_num(residual)))
    r, J = features.compressed(features.compress(x, worth), x, x)
    pull = J.T @ r + x
    pressed = np.where(x - parameters.lower < AT_BOUND, np.maximum(pull, 0.0), 0.0)
    return Fit(x, J.T @ J + np.diag(pressed**2))


class Features:
    """Rows of equations as coefficients: (described + features @ coefficients(x)) / scale.

    Coefficients: changes of inertial parameters of identified bodies, then for each joint number
    its own; Coulomb friction is linearized in the logarithm of its speed, about some numbers.
    """

    def __init__(self, parameters: Parameters, equations: Equations) -> None:
        self.parameters, self._e = parameters, equations
        self._six = parameters.model.m - parameters.model.n
        columns = [NUMBERS * i + k for i in parameters.bodies for k in range(NUMBERS)]
        self._regressor = equations.regressor[:, :, columns]
        self._scaled = {n.joint for n in parameters.joints if n.kind == 'scale'}
        self._origin = parameters.described[list(parameters.bodies)].ravel()
        rubbing = [number.joint for number in parameters.joints if number.kind == 'friction']
        self._described = equations.described - equations.friction[:, :, rubbing].sum(axis=2)

    def predict(self, x: Array) -> Array:
        """Return the efforts (N, m) that would be measured."""
        p, (coefficients, _) = self.parameters, self.coefficients(x, x)
        found: Array = self._described + self._regressor @ coefficients[: p.first]
        found += self.columns(x) @ coefficients[p.first :]
        for c in self._scaled:
            found[:, self._six + c] /= p.joint_values(x)[c, 'scale']
        return found

    def compress(self, x: Array, weight: Array) -> list[tuple[Array, int | None]]:
        """Return few rows, about ``x``, with the same squared residuals as all weighted ones.

        Each element has rows [features, described, measured], and the joint whose scale divides
        them.
        """
        columns, grams = self.columns(x), dict[int | None, Array]()
        for row in range(weight.shape[1]):
            kept = weight[:, row] > 0.0
            F = self.row_features(row, columns)[kept] * weight[kept, row, np.newaxis]
            joint = row - self._six if row - self._six in self._scaled else None
            grams[joint] = grams.get(joint, 0.0) + F.T @ F
        return [(_root(gram), joint) for joint, gram in grams.items()]

    def coefficients(self, x: Array, about: Array) -> tuple[Array, Array]:
        """Return the coefficients (p,) of the features, and their derivative (p, p)."""
        p = self.parameters
        found, J = np.zeros(p.count), np.zeros((p.count, p.count))
        found[: p.first] = p.inertial(x)[list(p.bodies)].ravel() - self._origin
        for _, part, block in p.inertial_jacobians(x):
            J[part, part] = block
        for at, number in enumerate(p.joints, p.first):
            if number.kind == 'friction_speed':
                shift = number.spread * (x[at] - about[at])
                found[at], J[at, at] = found[at - 1] * shift, found[at - 1] * number.spread
                J[at, at - 1] = J[at - 1, at - 1] * shift
            elif number.kind != 'scale':
                start = 0.0 if number.kind == 'friction' else number.start
                found[at], J[at, at] = number.value(x[at]) - start, number.slope(x[at])
        return found, J

    def compressed(
        self, rows: list[tuple[Array, int | None]], about: Array, x: Array
    ) -> tuple[Array, Array]:
        """Return the residuals of rows that were compressed about some numbers, and derivative."""
        values, residuals, derivatives = self.parameters.joint_values(x), [], []
        coefficients, slopes = self.coefficients(x, about)
        for R, joint in rows:
            scale = 1.0 if joint is None else values[joint, 'scale']
            effort = (R[:, :-2] @ coefficients + R[:, -2]) / scale
            J = R[:, :-2] @ slopes / scale
            for at, number in enumerate(self.parameters.joints, self.parameters.first):
                if number.kind == 'scale' and number.joint == joint:
                    J[:, at] = -effort * number.spread
            residuals.append(effort - R[:, -1])
            derivatives.append(J)
        return np.concatenate(residuals), np.concatenate(derivatives)

    def columns(self, x: Array) -> Array:
        """Return what a unit of each number of a joint adds to the rows, (N, m, joints).

        Of a friction speed its slope by the logarithm, at a friction of one.
        """
        p, values = self.parameters, self.parameters.joint_values(x)
        rest = p.model.tree.rest[p.model.own_coordinate]
        columns = np.zeros((*self._e.measured.shape, len(p.joints)))
        for k, number in enumerate(p.joints):
            if number.kind != 'scale':
                speed = values[number.joint, 'friction_speed']
                effort = _effort(number, speed, float(rest[number.joint]))
                columns[:, :, k] = self._e.rows_of(number.joint, effort)
        return columns

    def row_features(self, row: int, columns: Array) -> Array:
        """Return a row as [features, described, measured] (N, p + 2), by `columns`."""
        measured = np.nan_to_num(self._e.measured[:, row])
        parts = self._regressor[:, row], columns[:, row], self._described[:, row], measured
        return np.column_stack(parts)


def _effort(number: JointNumber, speed: float, rest: float) -> Callable[[Track], Array]:
    """Return the effort (N,) of a unit of a number along a motion."""
    c = number.joint

    def slope(rate: Array) -> Array:
        return np.asarray(-rate / speed * (1.0 - np.tanh(rate / speed) ** 2))

    return {
        'rotor': lambda at: at.acceleration[:, c],
        'damping': lambda at: at.rate[:, c],
        'stiffness': lambda at: at.position[:, c] - rest,
        'offset': lambda at: np.ones(len(at.time)),
        'friction': lambda at: at.of_rate(c, lambda r: np.tanh(r / speed)),
        'friction_speed': lambda at: at.of_rate(c, slope),
    }[number.kind]


def _solve(features: Features, rows: list[tuple[Array, int | None]], about: Array) -> Array:
    """Return the numbers that solve a round."""
    p = features.parameters
    lower, upper = p.lower.copy(), np.full(p.count, np.inf)
    for at, number in enumerate(p.joints, p.first):
        if number.kind == 'friction_speed':
            reach = STEP / number.spread
            lower[at], upper[at] = about[at] - reach, about[at] + reach

    def residual(x: Array) -> Array:
        return np.concatenate((features.compressed(rows, about, x)[0], x, p.room(x)[0]))

    def jacobian(x: Array) -> Array:
        return np.vstack((features.compressed(rows, about, x)[1], np.eye(p.count), p.room(x)[1]))

    # from within: the solver goes nowhere from a bound
    start = np.clip(about, lower + INSIDE, upper - INSIDE)
    found = optimize.least_squares(
        residual, start, jacobian, bounds=(lower, upper), x_scale=1.0, max_nfev=60
    )
    if not np.isfinite(found.x).all() or found.status < 0:
        raise UnsolvableError(
            f'robot {p.model.name!r}: no inertias were found ({found.message}); give more data'
        )
    return np.asarray(found.x)


def _noise(residual: Array, equations: Equations) -> tuple[Array, Array]:
    """Return standard deviations (N, m) of residuals, and how many samples they last.

    Both are those of a row of a recording: a slow one passed a lower filter, which leaves less
    noise. How long is the integrated autocorrelation up to its first negative value.
    """
    size = row_sizes(equations)
    noise, lasting = np.ones_like(residual), np.ones_like(residual)
    for part, shares in zip(equations.parts, equations.shares, strict=True):
        for row in range(residual.shape[1]):
            values = residual[part, row]
            known = values[np.isfinite(values)]
            if not known.size:
                continue
            spread = 1.4826 * float(np.median(np.abs(known - np.median(known))))
            spread = max(spread, LEAST_NOISE * size[row], 1e-12)
            noise[part, row] = spread / np.sqrt(max(float(shares[row]), 1e-6))
            lasting[part, row] = _lasting(np.clip(known / spread, -OUTLIER, OUTLIER))
    return noise, lasting


def row_sizes(equations: Equations) -> Array:
    """Return how large the efforts (m,) are that are to be met; of a base those described."""
    measured = np.where(np.isfinite(equations.measured), equations.measured, 0.0).std(axis=0)
    return np.asarray(np.where(measured > 0.0, measured, equations.described.std(axis=0)))


def _lasting(values: Array) -> float:
    count = values.size
    centred = values - values.mean()
    power = np.abs(np.fft.rfft(centred, 2 * count)) ** 2
    correlation = np.fft.irfft(power)[:count]
    if correlation[0] <= 0.0:
        return 1.0
    correlation /= correlation[0]
    negative = np.flatnonzero(correlation < 0.0)
    last = int(negative[0]) if negative.size else count
    return float(np.clip(2.0 * correlation[:last].sum() - 1.0, 1.0, LONGEST))


def _inflation(features: Features, equations: Equations, x: Array, residual: Array) -> Array:
    """Return by how much (N, m) the variance of numbers exceeds that of independent residuals.

    Of a row of a recording: the squares of what blocks of it ask of the numbers, in the directions
    that the row tells at all, by what they would be of independent weighted residuals (N, m). It
    sees a robot that the model cannot be, whose residuals last as long as its motion [Liang 1986].
    """
    found = np.ones_like(residual)
    columns, (_, slopes) = features.columns(x), features.coefficients(x, x)
    for row in range(residual.shape[1]):
        whole = features.row_features(row, columns)[:, :-2] @ slopes
        for part in equations.parts:
            error = residual[part, row]
            U, sizes, _ = np.linalg.svd(whole[part], full_matrices=False)
            U = U[:, sizes > 1e-6 * sizes[0]]
            if not error.any() or not U.shape[1]:
                continue
            edges = np.linspace(0, len(error), BLOCKS, endpoint=False).astype(int)
            asked = np.add.reduceat(U * error[:, np.newaxis], edges, axis=0)
            found[part, row] = max(float((asked**2).sum()) / U.shape[1], 1.0)
    return found


def _root(gram: Array) -> Array:
    """Return R with R' R = gram, which is positive semidefinite; rows of rounding are left out."""
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    kept = values > 1e-14 * values[-1]
    return np.asarray(np.sqrt(values[kept])[:, np.newaxis] * vectors[:, kept].T * scale)
