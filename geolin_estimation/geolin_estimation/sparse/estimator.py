# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Solve for all dynamic variables: from exact sensors, or by noisy and redundant ones.

`DynamicsSolver` wants as many exact readings as are needed. `Estimator` finds the maximum a
posteriori estimate of

    D d + b = noise of covariance Sigma, zero on exact rows

Exact rows are solved exactly, never weighted: `Elimination` leaves d = T (1; z), and constraints
E (1; z) = 0 that z still has to meet leave z = z_0 + Z y, the range of Z orthogonal to that of
E_z'. With Sigma = L L' of the noisy rows C (1; z),

    L^-1 C_z Z = Q R,   y = -R^-1 Q' L^-1 C (1; z_0),   Cov(d) = (T_z Z R^-1) (T_z Z R^-1)'     (1)

the solution of [[Sigma, D], [D', 0]] (rho; d) = (-b; 0). Normal equations D' Sigma^-1 D do not
exist for exact rows, and lose all digits where rows are nearly exact. Solutions exist if the exact
rows are independent and D has full column rank.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_estimation.sparse.elimination import Elimination
from geolin_estimation.sparse.report import shortened, solvability
from geolin_estimation.sparse.sensors import Sensor, Variable
from geolin_estimation.sparse.system import BlockSystem, DynamicVariables, check_covariance
from geolin_ros.errors import ConfigurationError, UnsolvableError, unknown_name
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array

linalg = optional('scipy.linalg', extra='estimation')
lapack = optional('scipy.linalg.lapack', extra='estimation')

SMALLEST = 1e-11
"""Of the diagonal of a triangle, over its largest entry, for the system to be determined."""


class Estimate(NamedTuple):
    """What the readings say."""

    variables: DynamicVariables
    chi_squared: float
    """Sum of squares of the residuals by their covariance."""
    degrees_of_freedom: int
    """Rows less unknowns: what ``chi_squared`` is on average if the covariances are right."""


class Estimator:
    """Estimates all dynamic variables of a robot from any sensors, with their covariance.

    Raises `UnsolvableError` if the sensors leave unknowns open, or exact ones repeat one another,
    at every state.

    Parameters
    ----------
    model
        The robot.
    sensors
        Exact and noisy ones; a prior is a sensor whose reading is the prior mean and whose
        covariance is the prior's. The fewer fx and qdd are open, that is without an exact sensor,
        the faster: cubic in their number.
    """

    def __init__(self, model: TreeModel, sensors: Sequence[Sensor]) -> None:
        self.system = system = BlockSystem(model, sensors)
        self._elimination = Elimination(system)
        noisy = self._elimination.noisy
        self._place = np.searchsorted(noisy, np.arange(system.rows + 1))
        self._scale = np.ones((noisy.size, 1))
        self._mixing: dict[str, tuple[slice, Array]] = {}
        for sensor in system.sensors:
            if sensor.covariance is not None:
                self._weigh(sensor.name, np.asarray(sensor.covariance, dtype=np.float64))
        self._one_z = np.ones(self._elimination.T.shape[1])
        self._Z: Array = np.zeros((0, 0))
        self._R: Array = np.zeros((0, 0))
        self._chi_squared = 0.0
        system.update(system.generic_state(), np.zeros(system.rows - system.equations))
        if not self._solve():
            self._judge(())

    def set_covariance(self, name: str, covariance: ArrayLike) -> None:
        """Give the noise of the sensor ``name`` another covariance (k, k) from now on.

        Raises `UnknownNameError` if no noisy sensor has this name; `ConfigurationError` if the
        covariance is not symmetric and positive definite.
        """
        noisy = {s.name: s for s in self.system.sensors if s.covariance is not None}
        if name not in noisy:
            raise unknown_name('noisy sensor', name, noisy, 'the estimator')
        new = np.array(covariance, dtype=np.float64)
        check_covariance(replace(noisy[name], covariance=new))
        self._weigh(name, new)

    def estimate(self, state: State, readings: Array) -> Estimate:
        """Return the most likely dynamic variables; the arrays are the caller's.

        Raises `ShapeError` or `NotFiniteError` if the state or the readings have the wrong size or
        hold NaN or inf; `UnsolvableError` if the readings leave unknowns open at this state, or
        exact ones repeat one another; `ConfigurationError` if the covariances differ by so much
        that double precision does not carry both.

        Parameters
        ----------
        state
            Where, and how fast; taken as exact.
        readings : (readings,)
            In the order of the sensors; `stack` of the system makes it of a mapping.
        """
        system = self.system
        system.update(state, readings)
        if not self._solve():
            self._judge((state,))
        d = self._elimination.T @ self._one_z
        return Estimate(system.unpack(d), self._chi_squared, system.rows - system.size)

    def covariance(self, variables: Sequence[Variable]) -> Array:
        """Return the posterior covariance (k, k) of variables, at the state of the last estimate.

        Raises `UnknownNameError` if the model has no such variable.
        """
        columns = [c for v in variables for c in self.system.columns(v)]
        sensitivity = self._elimination.T[columns, 1:] @ self._Z
        root = linalg.solve_triangular(self._R, sensitivity.T, trans='T', check_finite=False)
        return np.asarray(root.T @ root)

    def _weigh(self, name: str, covariance: Array) -> None:
        """Let L^-1 of a covariance L L' scale the rows of a sensor, or mix them."""
        rows = self.system.sensor_rows[name]
        place = slice(self._place[rows.start], self._place[rows.stop])
        deviations = np.sqrt(np.diag(covariance))
        self._scale[place, 0] = 1.0 / deviations
        correlation = covariance / np.outer(deviations, deviations)
        self._mixing.pop(name, None)
        if np.any(correlation != np.eye(len(correlation))):
            self._mixing[name] = place, np.linalg.inv(np.linalg.cholesky(correlation))

    def _solve(self) -> bool:
        """Find z at the last state and readings; return whether all is well determined."""
        elimination, z = self._elimination, self._one_z[1:]
        elimination.update()
        E, C = elimination.constraints, elimination.residuals * self._scale
        for place, mixing in self._mixing.values():
            C[place] = mixing @ C[place]
        p, free = len(E), z.size - len(E)
        if not 0 <= free <= len(C):
            return False
        Q, of_E = np.linalg.qr(E[:, 1:].T, mode='complete')
        if not _is_regular(of_E):
            return False
        z_0 = Q[:, :p] @ linalg.solve_triangular(of_E[:p], -E[:, 0], trans='T', check_finite=False)
        self._Z = Q[:, p:]
        rows = np.column_stack((C[:, 1:] @ self._Z, C[:, 0] + C[:, 1:] @ z_0))
        triangle = np.asarray(np.linalg.qr(rows, mode='r'))
        self._R = triangle[:free, :free]
        if not _is_regular(self._R):
            return False
        y = linalg.solve_triangular(self._R, -triangle[:free, free], check_finite=False)
        z[:] = z_0 + self._Z @ y
        self._chi_squared = float(np.sum(triangle[free:, free] ** 2))
        return True

    def _judge(self, states: Sequence[State]) -> None:
        """Raise: the rank is deficient, or the covariances are too far apart."""
        system = self.system
        report = solvability(system, states)
        if report.solvable and report.exact_rank == report.exact_rows:
            variances = np.concatenate(
                [np.diag(s.covariance) for s in system.sensors if s.covariance is not None]
            )
            raise ConfigurationError(
                f'robot {system.model.name!r}: variances from {variances.min():.1e} to '
                f'{variances.max():.1e} are too far apart for double precision; make the best '
                'sensors exact, or leave out the worst'
            )
        cause = f'the sensors do not determine {shortened(report.undetermined)}'
        cure = 'add sensors or priors of these'
        if report.solvable:
            cause = 'exact sensors repeat one another or the equations'
            cure = 'leave some out, or give them covariances'
        raise UnsolvableError(f'robot {system.model.name!r}: {cause}; {cure}\n{report}')


def _is_regular(triangle: Array) -> bool:
    """Whether no entry of the diagonal is negligible beside another, or NaN."""
    sizes = np.abs(triangle.diagonal())
    return not sizes.size or bool(sizes.min() > SMALLEST * sizes.max())


class DynamicsSolver:
    """Dynamics of a robot with exact sensors that make the equations square [Nori, Eq. (16)].

    `Elimination` leaves the fx and qdd that no sensor gives: none in inverse dynamics, the m
    accelerations in forward dynamics. What is left of the other sensors is solved for these by a
    dense LU; the fewer they are, the faster.

    Raises `ConfigurationError` if a sensor has noise, see `Estimator`, or the number of readings
    is wrong. Raises `UnsolvableError` if the readings determine not all unknowns; it names those.

    Parameters
    ----------
    sensors
        As many readings as there are unknowns less equations; `sensors.inverse_dynamics` and its
        neighbours make the classical sets.

    Examples
    --------
    >>> from geolin_ros import TreeModel, robots
    >>> from geolin_estimation.sparse import DynamicsSolver, forward_dynamics
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> solver = DynamicsSolver(model, forward_dynamics(model))
    >>> readings = np.zeros(6 * 13 + 18)
    >>> np.round(solver.solve(model.neutral_state(), readings).nu_dot[:3], 2).tolist()
    [0.0, 0.0, -9.81]
    """

    def __init__(self, model: TreeModel, sensors: Sequence[Sensor]) -> None:
        self.system = system = BlockSystem(model, sensors)
        for sensor in system.sensors:
            if sensor.covariance is not None:
                raise ConfigurationError(
                    f'sensor {sensor.name!r} has a covariance, expected exact sensors; use '
                    'Estimator'
                )
        if system.rows != system.size:
            raise ConfigurationError(
                f'robot {model.name!r}: {system.rows - system.equations} readings, expected '
                f'{system.size - system.equations}; print solvability(BlockSystem(...)), or give '
                'the sensors covariances and use Estimator'
            )
        self._elimination = Elimination(system)
        largest = abs(system.matrix()[self._elimination.constrained]).max(axis=1)
        self._scale = largest.toarray()
        self._d = np.zeros(system.size)
        self._result = system.unpack(self._d)
        system.update(system.generic_state(), np.zeros(system.rows - system.equations))
        if not self._solve():
            self._judge(())

    def solve(self, state: State, readings: Array) -> DynamicVariables:
        """Return all dynamic variables; the arrays are valid until the next call.

        Raises `ShapeError` or `NotFiniteError` if the state or the readings have the wrong size or
        hold NaN or inf. Raises `UnsolvableError` if the system is singular at this state; it names
        what is not determined.

        Parameters
        ----------
        state
            Where, and how fast.
        readings : (readings,)
            In the order of the sensors; `stack` of the system makes it of a mapping.
        """
        self.system.update(state, readings)
        if not self._solve():
            self._judge((state,))
        return self._result

    def _solve(self) -> bool:
        """Fill d; return False if a pivot is suspiciously small, or d not finite."""
        self._elimination.update()
        T, d = self._elimination.T, self._d
        if T.shape[1] == 1:
            d[:] = T[:, 0]
            return bool(np.isfinite(d).all())
        rows = self._elimination.constraints / self._scale
        lu, _, z, singular = lapack.dgesv(rows[:, 1:], -rows[:, 0])
        d[:] = T[:, 0] + T[:, 1:] @ z
        return bool(not singular and _is_regular(lu) and np.isfinite(d).all())

    def _judge(self, states: Sequence[State]) -> None:
        """Raise if the rank is deficient; otherwise the small pivots were harmless."""
        report = solvability(self.system, states)
        if not report.solvable or not np.isfinite(self._d).all():
            raise UnsolvableError(
                f'robot {self.system.model.name!r}: the sensors do not determine '
                f'{shortened(report.undetermined)}; add sensors of these, or priors with '
                f'Estimator\n{report}'
            )
