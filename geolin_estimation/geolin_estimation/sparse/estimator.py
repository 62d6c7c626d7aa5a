# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Solve for all dynamic variables: from exact sensors, or by noisy and redundant ones.

The maximum a posteriori estimate of

    D d + b = noise of covariance Sigma, zero on exact rows

Exact rows are solved exactly, never weighted. Those fx and qdd that no exact sensor gives, z, stay
open, and forward substitution of the model's equations [Nori, Property 1] yields

    d = T (1; z)                                                                         (1)

Constraints E (1; z) = 0 of the other exact sensors leave z = z_0 + Z y, the range of Z orthogonal
to that of E_z'. With Sigma = L L' of the noisy rows C (1; z),

    L^-1 C_z Z = Q R,   y = -R^-1 Q' L^-1 C (1; z_0),   Cov(d) = (T_z Z R^-1) (T_z Z R^-1)'     (2)

the solution of [[Sigma, D], [D', 0]] (rho; d) = (-b; 0). Normal equations D' Sigma^-1 D do not
exist for exact rows, and lose all digits where rows are nearly exact. Solutions exist if the exact
rows are independent and D has full column rank.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_estimation.sparse.sensors import Sensor, Variable
from geolin_estimation.sparse.system import BlockSystem, DynamicVariables, check_covariance
from geolin_ros.errors import ConfigurationError, UnsolvableError, unknown_name
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array

sparse = optional('scipy.sparse', extra='estimation')
csgraph = optional('scipy.sparse.csgraph', extra='estimation')

SMALLEST = 1e-11
"""Of the diagonal of a triangle, over its largest entry, for the system to be determined."""
RANK_TOLERANCE, ROUNDING = 1e-10, 1e-14
"""Singular values below this part of the largest one count as zero; so do entries of rows."""
SHARE = 1e-6
"""Of a vector of the null space: unknowns with more are named."""
NAMED = 12
"""At most so many unknowns, in this order."""
KINDS = ('tau', 'qdd', 'fx', 'f', 'a')


class Solvability(NamedTuple):
    """What D (rows, unknowns) determines."""

    rows: int
    unknowns: int
    structural_rank: int
    """The highest rank that the pattern allows."""
    ranks: tuple[int, ...]
    """Numerical rank at each of the states."""
    undetermined: tuple[str, ...]
    """Unknowns that the readings leave open at some of the states, joints first."""
    exact_rows: int
    exact_rank: int
    """Rows without noise, and their lowest numerical rank; below: some of the readings that count
    as exact repeat or contradict others."""

    @property
    def solvable(self) -> bool:
        """Whether every unknown is determined at every one of the states."""
        return min(self.ranks) == self.unknowns


def solvability(system: BlockSystem, states: Sequence[State] = ()) -> Solvability:
    """Report what the sensors of a system determine; three generic states by default.

    Ranks are by singular values of D with its rows scaled to a largest entry of one: some
    seconds with a thousand unknowns.
    """
    ranks, exact_ranks = [], []
    is_open = np.zeros(system.size, dtype=bool)
    pattern = np.abs(_scaled_matrix(system, system.generic_state())) > ROUNDING
    for state in states or [system.generic_state(seed) for seed in range(3)]:
        D = _scaled_matrix(system, state)
        _, sigma, V = np.linalg.svd(D)
        ranks.append(_rank(sigma))
        is_open |= np.any(np.abs(V[ranks[-1] :]) > SHARE, axis=0)
        _, sigma, _ = np.linalg.svd(D[system.exact], full_matrices=False)
        exact_ranks.append(_rank(sigma))
    names = np.array(system.labels)[is_open].tolist()
    return Solvability(
        rows=system.rows,
        unknowns=system.size,
        structural_rank=int(csgraph.structural_rank(sparse.csr_matrix(pattern))),
        ranks=tuple(ranks),
        undetermined=tuple(sorted(names, key=lambda name: KINDS.index(name.partition('[')[0]))),
        exact_rows=int(system.exact.sum()),
        exact_rank=min(exact_ranks),
    )


def _scaled_matrix(system: BlockSystem, state: State) -> Array:
    system.update(state, np.zeros(system.rows - system.equations))
    D = system.matrix().toarray()
    return np.asarray(D / np.abs(D).max(axis=1, keepdims=True))


def _rank(sigma: Array) -> int:
    return int(np.sum(sigma > RANK_TOLERANCE * sigma.max(initial=0.0)))


class Estimate(NamedTuple):
    """What the readings say."""

    variables: DynamicVariables
    chi_squared: float
    """Sum of squares of the residuals by their covariance."""
    degrees_of_freedom: int
    """Rows less unknowns: what ``chi_squared`` is on average if the covariances are right."""


class Estimator:
    """Estimates all dynamic variables of a robot from any sensors, with their covariance.

    As many exact sensors as are needed make it a solver of the equations [Nori, Eq. (16)]: for the
    classical problems those of `sensors.inverse_dynamics` and its neighbours.

    Raises `UnsolvableError` if the sensors leave unknowns open, or exact ones repeat one another,
    at every state.

    Sensors are exact or noisy; a prior is a sensor whose reading is the prior mean and whose
    covariance is the prior's. The fewer fx and qdd are open, that is without an exact sensor, the
    faster: cubic in their number.

    Examples
    --------
    >>> from geolin_ros import TreeModel, robots
    >>> from geolin_estimation.sparse import Estimator, forward_dynamics
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> estimator = Estimator(model, forward_dynamics(model))
    >>> found = estimator.estimate(model.neutral_state(), np.zeros(6 * 13 + 18))
    >>> np.round(found.variables.nu_dot[:3], 2).tolist()
    [0.0, 0.0, -9.81]
    """

    def __init__(self, model: TreeModel, sensors: Sequence[Sensor]) -> None:
        self.system = system = BlockSystem(model, sensors)
        nb, size, m, C = system.nb, system.size, system.m, system.C
        exact, inputs = system.exact[system.equations :], np.r_[12 * nb : 18 * nb, size - m : size]
        row, column = (C == 1.0).nonzero()
        found = np.isin(column, inputs) & (exact & (np.diff(C.indptr) == 1))[row]
        self._known, first = np.unique(column[found], return_index=True)
        self._known_rows = row[found][first]  # exact, and of one fx or qdd alone
        self._open = np.setdiff1d(inputs, self._known)
        self._T = np.zeros((size, 1 + self._open.size))
        self._T[self._open, 1 + np.arange(self._open.size)] = 1.0
        constraints = np.setdiff1d(np.flatnonzero(exact), self._known_rows)
        noisy, self._constraints = np.flatnonzero(~exact), len(constraints)
        self._order = np.r_[constraints, noisy]
        self._C = C[self._order]
        self._place = len(constraints) + np.searchsorted(noisy, np.arange(exact.size + 1))
        self._scale = np.ones((len(self._order), 1))
        self._scale[: len(constraints)] /= abs(C[constraints]).max(axis=1).toarray()
        self._mixing: dict[str, tuple[slice, Array]] = {}
        for sensor in system.sensors:
            if sensor.covariance is not None:
                self._weigh(sensor.name, np.asarray(sensor.covariance, dtype=np.float64))
        self._one_z = np.ones(1 + self._open.size)
        self._Z: Array = np.zeros((0, 0))
        self._R: Array = np.zeros((0, 0))
        self._chi_squared = 0.0
        system.update(system.generic_state(), np.zeros(exact.size))
        self._solve_or_raise(())

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

        The state is taken as exact; readings (readings,) are in the order of the sensors:
        ``places`` of the system says where.
        """
        system = self.system
        system.update(state, readings)
        self._solve_or_raise((state,))
        d = self._T @ self._one_z
        if not np.isfinite(d).all():
            raise UnsolvableError(
                f'robot {system.model.name!r}: no finite solution for the state and readings as '
                f'large as {np.abs(readings).max():g}; give them in SI units'
            )
        return Estimate(system.unpack(d), self._chi_squared, system.rows - system.size)

    def covariance(self, variables: Sequence[Variable]) -> Array:
        """Return the posterior covariance (k, k) of variables, at the state of the last estimate.

        Raises `UnknownNameError` if the model has no such variable.
        """
        columns = [c for v in variables for c in self.system.columns(v)]
        sensitivity = self._T[columns, 1:] @ self._Z
        root = sensitivity @ np.linalg.inv(self._R)
        return np.asarray(root @ root.T)

    def _weigh(self, name: str, covariance: Array) -> None:
        """Let L^-1 of a covariance L L' scale the rows of a sensor, or mix them."""
        own = self.system.places[name]
        place = slice(self._place[own.start], self._place[own.stop])
        deviations = np.sqrt(np.diag(covariance))
        self._scale[place, 0] = 1.0 / deviations
        correlation = covariance / np.outer(deviations, deviations)
        self._mixing.pop(name, None)
        if np.any(correlation != np.eye(len(correlation))):
            self._mixing[name] = place, np.linalg.inv(np.linalg.cholesky(correlation))

    def _solve_or_raise(self, states: Sequence[State]) -> None:
        """Solve at the last state, the only one of ``states``, or raise what the reports say."""
        system = self.system
        try:
            if self._solve():
                return
        except np.linalg.LinAlgError:  # a zero on a diagonal
            pass
        report = solvability(system, states)
        if report.solvable and report.exact_rank == report.exact_rows:
            variances = self._scale[self._constraints :] ** -2
            if not variances.size:
                return  # small pivots, of readings in small units, that do no harm
            raise ConfigurationError(
                f'robot {system.model.name!r}: variances from {variances.min():.1e} to '
                f'{variances.max():.1e} are too far apart for double precision; make the best '
                'sensors exact, or leave out the worst'
            )
        names, more = report.undetermined[:NAMED], len(report.undetermined) - NAMED
        rest = f' and {more} more' if more > 0 else ''
        cause = f'the sensors do not determine {", ".join(names)}{rest}'
        cure = 'add sensors or priors of these'
        if report.solvable:
            cause = 'exact sensors repeat one another or the equations'
            cure = 'leave some out, or give them covariances'
        raise UnsolvableError(f'robot {system.model.name!r}: {cause}; {cure}')

    def _solve(self) -> bool:
        """Find z at the last state and readings; return whether all is well determined."""
        system, T, z = self.system, self._T, self._one_z[1:]
        z[:] = np.nan
        T[self._known, 0] = -system.b[system.equations + self._known_rows]
        system.expand(T)
        residuals = self._C @ T
        residuals[:, 0] += system.b[system.equations + self._order]
        residuals *= self._scale
        for place, mixing in self._mixing.values():
            residuals[place] = mixing @ residuals[place]
        p, free = self._constraints, z.size - self._constraints
        E, C = residuals[:p], residuals[p:]
        if not 0 <= free <= len(C):
            return False
        Q, of_E = np.linalg.qr(E[:, 1:].T, mode='complete')
        z_0 = Q[:, :p] @ np.linalg.solve(of_E[:p].T, -E[:, 0])
        self._Z = Q[:, p:]
        rows = np.column_stack((C[:, 1:] @ self._Z, C[:, 0] + C[:, 1:] @ z_0))
        triangle = np.asarray(np.linalg.qr(rows, mode='r'))
        self._R = triangle[:free, :free]
        y = np.linalg.solve(self._R, -triangle[:free, free])
        z[:] = z_0 + self._Z @ y
        self._chi_squared = float(np.sum(triangle[free:, free] ** 2))
        return _is_regular(of_E) and _is_regular(self._R)


def _is_regular(triangle: Array) -> bool:
    """Whether no entry of the diagonal is negligible beside another, or NaN."""
    sizes = np.abs(triangle.diagonal())
    return not sizes.size or bool(sizes.min() > SMALLEST * sizes.max())
