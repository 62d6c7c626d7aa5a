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
from geolin_tools.identification.bodies import NUMBERS
from geolin_tools.identification.equations import Equations
from geolin_tools.identification.parameters import JointNumber, Parameters
from geolin_tools.identification.signals import KEPT_RATE, Track

optimize = optional('scipy.optimize', extra='estimation')

ROUNDS = 8
OUTLIER = 2.5
"""Residuals beyond so many standard deviations weigh less [Huber 1964]."""
SETTLED = 1e-2
"""Rounds end when no number changes by more, in standard deviations of the prior."""
INSIDE = 0.02
"""How far from its bounds a number starts."""
AT_BOUND = 1e-6
"""Numbers as near to their bound are at it: beyond, likelihood falls as exp(-pull x), whose
deviation is 1 / pull."""
STEP = 1.0
"""Most that the logarithm of a friction speed changes in a round."""
FIRST_NOISE = 0.02
"""The same in the first round."""
LONGEST = KEPT_RATE
"""Residuals of noise that passed the filter last half as many samples. What lasts longer is a
robot that the model cannot be; it must not hide what the data tell."""
BLOCKS = 20
"""A recording is cut into so many to see how far its residuals agree with each other."""
LEAST_NOISE = 1e-6
"""Least standard deviation of residuals, as a part of the effort's."""

Watch = Callable[[Iterable[Any], int], Iterable[Any]]


@dataclass(frozen=True)
class Fit:
    """What was found.

    Attributes
    ----------
    x : (p,)
        The numbers of `Parameters`.
    information : (p, p)
        J' J of the equations and bounds alone, weighted by what each row is worth; with the
        identity, the inverse of `covariance`.
    """

    x: Array
    information: Array

    @property
    def covariance(self) -> Array:
        """Covariance (p, p) of the numbers when all is measured."""
        return np.asarray(np.linalg.inv(self.information + np.eye(len(self.x))))


def fit(
    parameters: Parameters,
    equations: Equations,
    watch: Watch = lambda rounds, total: rounds,
) -> Fit:
    """Return the most probable numbers.

    Raises
    ------
    UnsolvableError
        If the solver finds none.
    """
    features = _Features(parameters, equations)
    x, known = np.zeros(parameters.count), np.isfinite(equations.measured)
    residual = features.residual(x)
    # first as if the robot could be met exactly: residuals of the description are no noise
    noise = np.maximum(FIRST_NOISE * row_sizes(equations), 1e-12) * np.ones_like(residual)
    lasting = np.ones_like(noise)
    for k in watch(range(ROUNDS), ROUNDS):
        outliers = _weights(residual, noise) if k else 1.0
        weight = np.where(known, outliers / (noise * np.sqrt(lasting)), 0.0)
        compressed = features.compress(x, weight)
        before, x = x, _solve(features, compressed, x)
        residual = features.residual(x)
        noise, lasting = _noise(residual, equations)
        if np.abs(x - before).max(initial=0.0) < SETTLED:
            break
    weight = np.where(known, _weights(residual, noise) / (noise * np.sqrt(lasting)), 0.0)
    worth = weight / np.sqrt(_inflation(features, equations, x, weight * np.nan_to_num(residual)))
    compressed = features.compress(x, worth)
    J = features.jacobian(compressed, x)
    pull = J.T @ features.compressed_residual(compressed, x) + x
    pressed = np.where(x - parameters.lower < AT_BOUND, np.maximum(pull, 0.0), 0.0)
    return Fit(x, J.T @ J + np.diag(pressed**2))


def predict(parameters: Parameters, equations: Equations, x: Array) -> Array:
    """Return the efforts (N, m) that would be measured with numbers ``x``."""
    return _Features(parameters, equations).predict(x)


class _Features:
    """Rows of equations as coefficients: (described + features @ coefficients(x)) / scale.

    Coefficients: changes of inertial parameters of identified bodies, then for each joint number
    its own; Coulomb friction is linearized in the logarithm of its speed, see `compress`.
    """

    def __init__(self, parameters: Parameters, equations: Equations) -> None:
        self._p, self._e = parameters, equations
        model = parameters.model
        self._six = model.m - model.n
        self._inertial = NUMBERS * len(parameters.bodies)
        columns = [NUMBERS * i + k for i in parameters.bodies for k in range(NUMBERS)]
        self._regressor = equations.regressor[:, :, columns]
        self._own = model.own_coordinate
        self._scaled = {n.joint for n in parameters.joints if n.kind == 'scale'}
        self._speed_at = {
            n.joint: self._inertial + k
            for k, n in enumerate(parameters.joints)
            if n.kind == 'friction_speed'
        }
        self._origin = parameters.described[list(parameters.bodies)].ravel()
        rubbing = [number.joint for number in parameters.joints if number.kind == 'friction']
        self._described = equations.described - equations.friction[:, :, rubbing].sum(axis=2)

    def predict(self, x: Array) -> Array:
        values, coefficients = self._p.joint_values(x), self.coefficients(x, x)
        found: Array = self._described + self._regressor @ coefficients[: self._inertial]
        found += self._columns(values) @ coefficients[self._inertial :]
        for c in self._scaled:
            found[:, self._six + c] /= values[c, 'scale']
        return found

    def residual(self, x: Array) -> Array:
        """Return predicted minus measured efforts (N, m), NaN where not measured."""
        return self.predict(x) - self._e.measured

    def compress(self, x: Array, weight: Array) -> list[tuple[Array, int | None, Array]]:
        """Return few rows, about ``x``, with the same squared residuals as all weighted ones.

        Each element has rows [features, described, measured], the joint whose scale divides them,
        and the speeds of friction about which the features are linearized.
        """
        columns = self._columns(self._p.joint_values(x))
        groups: dict[int | None, list[int]] = {}
        for row in range(self._e.measured.shape[1]):
            c = row - self._six
            groups.setdefault(c if c in self._scaled else None, []).append(row)
        found = []
        for scaled, members in groups.items():
            gram = np.zeros((self._p.count + 2, self._p.count + 2))
            for row in members:
                F = self.row_features(row, columns)
                F *= weight[:, row, np.newaxis]
                F = F[weight[:, row] > 0.0]
                gram += F.T @ F
            found.append((_root(gram), scaled, x))
        return found

    def coefficients(self, x: Array, about: Array) -> Array:
        """Return the coefficients (p,) of the features."""
        values = self._p.joint_values(x)
        own = np.zeros(len(self._p.joints))
        for k, number in enumerate(self._p.joints):
            c = number.joint
            own[k] = values[c, number.kind] - number.start
            if number.kind == 'friction':
                own[k] = values[c, 'friction']
            elif number.kind == 'friction_speed':
                at = self._speed_at[c]
                own[k] = values[c, 'friction'] * number.spread * (x[at] - about[at])
            elif number.kind == 'scale':
                own[k] = 0.0
        inertial = self._p.inertial(x)[list(self._p.bodies)].ravel()
        return np.concatenate((inertial - self._origin, own))

    def coefficient_jacobian(self, x: Array, about: Array) -> Array:
        """Return the derivative (p, p) of `coefficients`."""
        J = np.zeros((self._p.count, self._p.count))
        for p, (_, part, block) in enumerate(self._p.inertial_jacobians(x)):
            J[NUMBERS * p : NUMBERS * (p + 1), part] = block
        values = self._p.joint_values(x)
        friction_at = 0
        for k, number in enumerate(self._p.joints):
            at = self._inertial + k
            if number.kind == 'friction':
                friction_at = at
            if number.kind == 'friction_speed':
                friction = values[number.joint, 'friction']
                J[at, at] = friction * number.spread
                slope = self._p.joints[friction_at - self._inertial].slope(x[friction_at])
                J[at, friction_at] = slope * number.spread * (x[at] - about[at])
            elif number.kind != 'scale':
                J[at, at] = number.slope(x[at])
        return J

    def compressed_residual(
        self, compressed: list[tuple[Array, int | None, Array]], x: Array
    ) -> Array:
        """Return the residuals of compressed rows."""
        values = self._p.joint_values(x)
        parts = []
        for R, scaled, about in compressed:
            scale = 1.0 if scaled is None else values[scaled, 'scale']
            coefficients = self.coefficients(x, about) / scale
            parts.append(R[:, :-2] @ coefficients + R[:, -2] / scale - R[:, -1])
        return np.concatenate(parts)

    def jacobian(self, compressed: list[tuple[Array, int | None, Array]], x: Array) -> Array:
        """Return the derivative of `compressed_residual`."""
        values, parts = self._p.joint_values(x), []
        for R, scaled, about in compressed:
            scale = 1.0 if scaled is None else values[scaled, 'scale']
            J = R[:, :-2] @ self.coefficient_jacobian(x, about) / scale
            for k, number in enumerate(self._p.joints):
                if number.kind == 'scale' and number.joint == scaled:
                    torque = R[:, :-2] @ self.coefficients(x, about) + R[:, -2]
                    J[:, self._inertial + k] = -torque / scale * number.spread
            parts.append(J)
        return np.concatenate(parts)

    def _columns(self, values: dict[tuple[int, str], float]) -> Array:
        """Return what a unit of each number of a joint adds to the rows, (N, m, joints).

        Of a friction speed its slope by the logarithm, at a friction of one.
        """
        rest = self._p.model.tree.rest[self._own]
        columns = np.zeros((*self._e.measured.shape, len(self._p.joints)))
        for k, number in enumerate(self._p.joints):
            if number.kind != 'scale':
                speed = values.get((number.joint, 'friction_speed'), 1.0)
                effort = _effort(number, speed, float(rest[number.joint]))
                columns[:, :, k] = self._e.rows_of(number.joint, effort)
        return columns

    def row_features(self, row: int, columns: Array) -> Array:
        """Return a row as [features, described, measured] (N, p + 2), by `columns`."""
        F = np.empty((len(self._described), self._p.count + 2))
        F[:, : self._inertial] = self._regressor[:, row]
        F[:, self._inertial : -2] = columns[:, row]
        F[:, -2] = self._described[:, row]
        F[:, -1] = np.nan_to_num(self._e.measured[:, row])
        return F


def _effort(number: JointNumber, speed: float, rest: float) -> Callable[[Track], Array]:
    """Return the effort (N,) of a unit of a number along a motion."""
    c = number.joint

    def sign(rate: Array) -> Array:
        return np.asarray(np.tanh(rate / speed))

    return {
        'rotor': lambda at: at.acceleration[:, c],
        'damping': lambda at: at.rate[:, c],
        'stiffness': lambda at: at.position[:, c] - rest,
        'offset': lambda at: np.ones(len(at.time)),
        'friction': lambda at: at.of_rate(c, sign),
        'friction_speed': lambda at: at.of_rate(c, lambda r: -r / speed * (1.0 - sign(r) ** 2)),
    }[number.kind]


def _solve(features: _Features, compressed: Any, x: Array) -> Array:
    """Return the numbers that solve a round."""
    p = features._p
    lower, upper = p.lower.copy(), np.full(p.count, np.inf)
    for at in features._speed_at.values():
        reach = STEP / p.joints[at - NUMBERS * len(p.bodies)].spread
        lower[at], upper[at] = x[at] - reach, x[at] + reach
    # from within: the solver goes nowhere from a bound
    start = np.clip(x, lower + INSIDE, upper - INSIDE)
    found = optimize.least_squares(
        lambda x: np.concatenate(
            (features.compressed_residual(compressed, x), x, p.room_residual(x))
        ),
        start,
        lambda x: np.vstack(
            (features.jacobian(compressed, x), np.eye(p.count), p.room_jacobian(x))
        ),
        bounds=(lower, upper),
        x_scale=1.0,
        max_nfev=60,
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
    size, ends = row_sizes(equations), [*equations.start[1:], len(residual)]
    noise, lasting = np.ones_like(residual), np.ones_like(residual)
    for begin, end, shares in zip(equations.start, ends, equations.shares, strict=True):
        for row in range(residual.shape[1]):
            values = residual[begin:end, row]
            known = values[np.isfinite(values)]
            if not known.size:
                continue
            spread = 1.4826 * float(np.median(np.abs(known - np.median(known))))
            spread = max(spread, LEAST_NOISE * size[row], 1e-12)
            noise[begin:end, row] = spread / np.sqrt(max(float(shares[row]), 1e-6))
            lasting[begin:end, row] = _lasting(np.clip(known / spread, -OUTLIER, OUTLIER))
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


def _inflation(features: _Features, equations: Equations, x: Array, residual: Array) -> Array:
    """Return by how much (N, m) the variance of numbers exceeds that of independent residuals.

    Of a row of a recording: the squares of what blocks of it ask of the numbers, in the directions
    that the row tells at all, by what they would be of independent weighted residuals (N, m). It
    sees a robot that the model cannot be, whose residuals last as long as its motion [Liang 1986].
    """
    found = np.ones_like(residual)
    columns = features._columns(features._p.joint_values(x))
    slopes = features.coefficient_jacobian(x, x)
    for begin, end in zip(equations.start, [*equations.start[1:], len(residual)], strict=True):
        for row in range(residual.shape[1]):
            error = residual[begin:end, row]
            if not error.any():
                continue
            J = features.row_features(row, columns)[begin:end, :-2] @ slopes
            U, sizes, _ = np.linalg.svd(J, full_matrices=False)
            U = U[:, sizes > 1e-6 * sizes[0]]
            if not U.shape[1]:
                continue
            edges = np.linspace(0, end - begin, BLOCKS, endpoint=False).astype(int)
            asked = np.add.reduceat(U * error[:, np.newaxis], edges, axis=0)
            found[begin:end, row] = max(float((asked**2).sum()) / U.shape[1], 1.0)
    return found


def _weights(residual: Array, noise: Array) -> Array:
    """Return the roots of Huber's weights."""
    size = np.abs(np.nan_to_num(residual)) / noise
    return np.sqrt(np.where(size > OUTLIER, OUTLIER / np.maximum(size, 1e-300), 1.0))


def _root(gram: Array) -> Array:
    """Return R with R' R = gram, which is positive semidefinite; rows of rounding are left out."""
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    kept = values > 1e-14 * values[-1]
    return np.asarray(np.sqrt(values[kept])[:, np.newaxis] * vectors[:, kept].T * scale)
