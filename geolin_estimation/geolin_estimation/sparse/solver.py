# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Solve for all dynamic variables from as many exact readings as are needed."""

from collections.abc import Sequence

import numpy as np

from geolin_estimation.sparse.elimination import Elimination
from geolin_estimation.sparse.report import shortened, solvability
from geolin_estimation.sparse.sensors import Sensor
from geolin_estimation.sparse.system import BlockSystem, DynamicVariables
from geolin_ros.errors import ConfigurationError, UnsolvableError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array

lapack = optional('scipy.linalg.lapack', extra='estimation')

SUSPECT = 1e-11  # smallest pivot over the largest one: the rank is then looked at


class DynamicsSolver:
    """Dynamics of a robot with exact sensors that make the equations square [Nori, Eq. (16)].

    `Elimination` leaves the fx and qdd that no sensor gives: none in inverse dynamics, the m
    accelerations in forward dynamics. What is left of the other sensors is solved for these by a
    dense LU; the fewer they are, the faster.

    Parameters
    ----------
    sensors
        As many readings as there are unknowns less equations; `sensors.inverse_dynamics` and its
        neighbours make the classical sets.

    Raises
    ------
    ConfigurationError
        If a sensor has noise, see `Estimator`, or the number of readings is wrong.
    UnsolvableError
        If the readings determine not all unknowns; it names those.

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

        Parameters
        ----------
        state
            Where, and how fast.
        readings : (readings,)
            In the order of the sensors; `stack` of the system makes it of a mapping.

        Raises
        ------
        ShapeError, NotFiniteError
            If the state or the readings have the wrong size or hold NaN or inf.
        UnsolvableError
            If the system is singular at this state; it names what is not determined.
        """
        self.system.update(state, readings)
        if not self._solve():
            self._judge((state,))
        return self._result

    def _solve(self) -> bool:
        """Fill d; return False if a pivot is suspiciously small or d not finite."""
        self._elimination.update()
        T, d = self._elimination.T, self._d
        if T.shape[1] == 1:
            d[:] = T[:, 0]
            return bool(np.isfinite(d).all())
        rows = self._elimination.constraints / self._scale
        lu, _, z, singular = lapack.dgesv(rows[:, 1:], -rows[:, 0])
        pivots = np.abs(lu.diagonal())
        d[:] = T[:, 0] + T[:, 1:] @ z
        is_sure = not singular and pivots.min() > SUSPECT * pivots.max()
        return bool(is_sure and np.isfinite(d).all())

    def _judge(self, states: Sequence[State]) -> None:
        """Raise if the rank is deficient; otherwise the small pivots were harmless."""
        report = solvability(self.system, states)
        if not report.solvable or not np.isfinite(self._d).all():
            raise UnsolvableError(
                f'robot {self.system.model.name!r}: the sensors do not determine '
                f'{shortened(report.undetermined)}; add sensors of these, or priors with '
                f'Estimator\n{report}'
            )
