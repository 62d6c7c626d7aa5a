# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Solve for all dynamic variables from as many exact readings as are needed."""

from collections.abc import Sequence

import numpy as np

from geolin_ros.errors import ConfigurationError, UnsolvableError
from geolin_ros.estimation.sparse.factorization import CheckedLU, FixedLU, Substitution
from geolin_ros.estimation.sparse.minimum_fill import minimum_fill_order
from geolin_ros.estimation.sparse.ordering import Order, articulated_body_order, peel
from geolin_ros.estimation.sparse.report import shortened, solvability
from geolin_ros.estimation.sparse.sensors import Sensor
from geolin_ros.estimation.sparse.system import BlockSystem, DynamicVariables
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array

_SAFE_PIVOT = 1e-6  # substitution needs pivots that are no rounding errors, not large ones


class DynamicsSolver:
    """Dynamics of a robot with exact sensors that make the equations square [Nori, Eq. (16)].

    The order is found once, here: if D can be permuted into a triangle, by forward substitution
    (inverse dynamics can); if every fx and one of qdd and tau of every joint are given, by our
    own LU in the order of the articulated-body algorithm; otherwise by our own LU in an order of
    little fill, and by SuperLU at states where that loses digits.

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
    >>> from geolin_ros.estimation.sparse import DynamicsSolver, forward_dynamics
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> solver = DynamicsSolver(model, forward_dynamics(model))
    >>> readings = np.zeros(6 * 13 + 18)
    >>> np.round(solver.solve(model.neutral_state(), readings).nu_dot[:3], 2).tolist()
    [0.0, 0.0, -9.81]
    """

    def __init__(self, model: TreeModel, sensors: Sequence[Sensor]) -> None:
        self.system = BlockSystem(model, sensors)
        for sensor in self.system.sensors:
            if sensor.covariance is not None:
                raise ConfigurationError(
                    f'sensor {sensor.name!r} has a covariance, expected exact sensors; use '
                    'Estimator'
                )
        system = self.system
        if system.rows != system.size:
            raise ConfigurationError(
                f'robot {model.name!r}: {system.rows - system.equations} readings, expected '
                f'{system.size - system.equations}; print solvability(BlockSystem(...)), or give '
                'the sensors covariances and use Estimator'
            )
        self._method = self._choose()
        self._d = np.zeros(system.size)
        self._result = system.unpack(self._d)

    @property
    def method(self) -> str:
        """Which of the three ways serves the sensors."""
        return self._method.name

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
        system = self.system
        system.update(state, readings)
        if not self._method.solve(system.values, system.b, self._d):
            self._judge(state)
        return self._result

    def _judge(self, state: State) -> None:
        """Raise if the rank is deficient; otherwise the small pivots were harmless."""
        report = solvability(self.system, [state])
        if not report.solvable or not np.isfinite(self._d).all():
            raise _unsolvable(self.system, report.undetermined, f'\n{report}')

    def _choose(self) -> Substitution | FixedLU | CheckedLU:
        system = self.system
        triangle = peel(system.row, system.column, system.rows, system.size)
        if triangle.rows.size == system.size and _has_safe_pivots(system, triangle):
            return Substitution(system, triangle)
        order = articulated_body_order(system)
        if order is not None:
            return FixedLU(system, order)
        try:
            order = minimum_fill_order(system)
            system.update(system.generic_state(), np.zeros(system.rows - system.equations))
            return CheckedLU(system, order)
        except (RuntimeError, ValueError):
            report = solvability(system)
            raise _unsolvable(system, report.undetermined, f'\n{report}') from None


def _unsolvable(system: BlockSystem, names: Sequence[str], report: str) -> UnsolvableError:
    return UnsolvableError(
        f'robot {system.model.name!r}: the sensors do not determine {shortened(names)}; add '
        f'sensors of these, or priors with Estimator{report}'
    )


def _has_safe_pivots(system: BlockSystem, order: Order) -> bool:
    """Whether the diagonal is constant and not small beside the constants of its rows."""
    place = dict(zip(order.rows.tolist(), order.columns.tolist(), strict=True))
    constant = system.source < 0
    largest, pivot = np.zeros(system.rows), np.zeros(system.rows)
    np.maximum.at(largest, system.row[constant], np.abs(system.values[constant]))
    for i, j, value, fixed in zip(system.row, system.column, system.values, constant, strict=True):
        if fixed and place[int(i)] == j:
            pivot[i] = abs(value)
    return bool(np.all(pivot > 0.0) and np.all(pivot >= _SAFE_PIVOT * largest))
