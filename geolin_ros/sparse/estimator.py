# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Maximum a posteriori estimate of all dynamic variables from noisy and redundant sensors.

With D d + b = noise of covariance Sigma, zero on exact rows, the estimate solves

    [Sigma  D] [rho]   [-b]
    [D'     0] [ d ] = [ 0]        Cov(d) = -(K^-1)_dd                                  (1)

K stays well conditioned when rows are exact; the normal equations D' Sigma^-1 D do not exist then,
and lose all digits when rows are nearly exact. Solutions exist if the exact rows are independent
and D has full column rank. Sigma enters divided by its largest variance, which changes rho only
and keeps K regular when all variances are small.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.errors import ConfigurationError, UnsolvableError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.sparse.factorization import ThresholdLU
from geolin_ros.sparse.report import shortened, solvability
from geolin_ros.sparse.sensors import Sensor, Variable
from geolin_ros.sparse.system import BlockSystem, DynamicVariables
from geolin_ros.typing import Array, IntArray

WORST_CONDITION = 1e13


class Estimate(NamedTuple):
    """What the readings say."""

    variables: DynamicVariables
    chi_squared: float
    """Sum of squares of the residuals by their covariance."""
    degrees_of_freedom: int
    """Rows less unknowns: what ``chi_squared`` is on average if the covariances are right."""


class Estimator:
    """Estimates all dynamic variables of a robot from any sensors, with their covariance.

    Parameters
    ----------
    model
        The robot.
    sensors
        Exact and noisy ones; a prior is a sensor whose reading is the prior mean and whose
        covariance is the prior's.

    Raises
    ------
    UnsolvableError
        If the sensors leave unknowns open, or exact ones repeat one another, at every state.
    """

    def __init__(self, model: TreeModel, sensors: Sequence[Sensor]) -> None:
        self.system = BlockSystem(model, sensors)
        system = self.system
        i, j, noise = _noise_entries(system)
        row = np.concatenate((i, system.row, system.rows + system.column))
        column = np.concatenate((j, system.rows + system.column, system.row))
        self._unit = float(noise.max(initial=0.0)) or 1.0
        noise = noise / self._unit
        self._values = np.concatenate((noise, system.values, system.values))
        self._noise = noise.size
        self._noise_places = i, j
        self._right = np.zeros(system.rows + system.size)
        system.update(system.generic_state(), np.zeros(system.rows - system.equations))
        self._fill()
        try:
            # the whole column is searched for a pivot: the diagonal of K is mostly empty
            self._lu = ThresholdLU(row, column, self._values, self._right.size, threshold=1.0)
        except RuntimeError:
            raise self._unsolvable(()) from None

    def estimate(self, state: State, readings: Array) -> Estimate:
        """Return the most likely dynamic variables; the arrays are the caller's.

        Parameters
        ----------
        state
            Where, and how fast; taken as exact.
        readings : (readings,)
            In the order of the sensors; `stack` of the system makes it of a mapping.

        Raises
        ------
        ShapeError, NotFiniteError
            If the state or the readings have the wrong size or hold NaN or inf.
        UnsolvableError
            If the readings leave unknowns open at this state, or exact ones repeat one another.
        ConfigurationError
            If the covariances differ by so much that double precision does not carry both.
        """
        system = self.system
        system.update(state, readings)
        self._fill()
        if not self._lu.factor(self._values):
            self._judge(state)
        self._right[: system.rows] = -system.b
        solution = self._lu.solve_factored(self._right)
        if not np.isfinite(solution).all():
            raise self._unsolvable((state,))
        rho = solution[: system.rows]
        i, j = self._noise_places
        chi_squared = float(rho[i] @ (self._values[: self._noise] * rho[j])) / self._unit
        return Estimate(
            system.unpack(solution[system.rows :]), chi_squared, system.rows - system.size
        )

    def covariance(self, variables: Sequence[Variable]) -> Array:
        """Return the posterior covariance (k, k) of variables, at the state of the last estimate.

        One solution for each of the k components.

        Raises
        ------
        UnknownNameError
            If the model has no such variable.
        """
        columns = np.array([c for v in variables for c in self.system.columns(v)])
        unit = np.zeros((self._right.size, columns.size))
        places = self.system.rows + columns
        unit[places, np.arange(columns.size)] = 1.0
        block = -self._unit * self._lu.solve_factored(unit)[places]
        symmetric: Array = 0.5 * (block + block.T)
        return symmetric

    def _fill(self) -> None:
        entries = self.system.values.size
        self._values[self._noise : self._noise + entries] = self.system.values
        self._values[self._noise + entries :] = self.system.values

    def _judge(self, state: State) -> None:
        """Raise if the rank is deficient; otherwise the small pivots come of small covariances."""
        report = solvability(self.system, [state])
        if not report.solvable or report.exact_rank < report.exact_rows:
            raise self._unsolvable((state,))
        condition = float(np.linalg.cond(self._lu.matrix().toarray()))
        if condition > WORST_CONDITION:
            variances = np.concatenate(
                [np.diag(s.covariance) for s in self.system.sensors if s.covariance is not None]
            )
            raise ConfigurationError(
                f'robot {self.system.model.name!r}: variances from {variances.min():.1e} to '
                f'{variances.max():.1e} give a system of condition {condition:.1e}, expected at '
                f'most {WORST_CONDITION:.0e}; make the best sensors exact, or leave out the worst'
            )

    def _unsolvable(self, states: Sequence[State]) -> UnsolvableError:
        report = solvability(self.system, states)
        cause = f'the sensors do not determine {shortened(report.undetermined)}'
        cure = 'add sensors or priors of these'
        if report.solvable:
            cause = 'exact sensors repeat one another or the equations'
            cure = 'leave some out, or give them covariances'
        return UnsolvableError(f'robot {self.system.model.name!r}: {cause}; {cure}\n{report}')


def _noise_entries(system: BlockSystem) -> tuple[IntArray, IntArray, Array]:
    """Return the entries of Sigma (rows, rows)."""
    rows, columns, values = [], [], []
    for sensor in system.sensors:
        if sensor.covariance is None:
            continue
        start = system.sensor_rows[sensor.name].start
        i, j = np.nonzero(sensor.covariance)
        rows.append(start + i)
        columns.append(start + j)
        values.append(np.asarray(sensor.covariance, dtype=np.float64)[i, j])
    if not rows:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
