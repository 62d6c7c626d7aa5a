# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics under constraints, A nu = 0: closed loops, feet on the ground [Kim 2012, section 3].

    M nu_dot + h = tau + A' lambda,    A nu_dot + c = 0,    c = dA/dt nu                  (1)

Everything is rank-revealing: rows may repeat one another, as the six of a planar loop do. The
columns of A that free velocities own are A_v = U S V'; their rank is decided beside the size of
A, and lambda = U z is of least norm. Adding N y to it, A_v' N = 0, moves nothing and loads
prescribed velocities only: y may take as much as possible off them.

Differs from the paper: ranks are asked of A_p and A_v, not of A (erratum K9).
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics import functions
from geolin_ros.dynamics.arguments import about_state, failure, truth, vector
from geolin_ros.dynamics.functions import HybridProblem
from geolin_ros.dynamics.samples import Task, robot_of
from geolin_ros.errors import (
    InfeasibleError,
    NotFiniteError,
    ShapeError,
    UnsolvableError,
    check_choice,
)
from geolin_ros.kernels.status import NOT_FINITE
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import External
from geolin_ros.typing import Array, BoolArray

Least = Literal['constraint force', 'torque']
RANK_TOLERANCE = 1e-10
"""Singular values below this part of the Frobenius norm of A count as zero."""
TOLERANCE = 1e-8
"""What equations may be off by, of their largest term; accelerations count as one at least."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """Rows A nu = 0, whose derivative is A nu_dot + c = 0 [Kim 2012, Eqs. (54), (55), (59)].

    Raises `ShapeError` if the sizes do not fit, `NotFiniteError` for NaN or inf,
    `ConfigurationError` if ``least`` is none of the two.

    Attributes
    ----------
    A : (rows, m)
        Columns as of nu = [base twist in base axes; joint rates], fixed base: the latter.
    bias : (rows,)
        c = dA/dt nu at the state; with feedback on position and velocity errors where wanted.
    names
        Of the rows, for messages; ``'row 0'``, ... by default.
    least
        What is least where forces are not unique: the norm of lambda, or that of the efforts
        (of actuated joints, or at prescribed velocities, a prescribed base included).
    """

    A: Array
    bias: Array
    names: tuple[str, ...] = ()
    least: Least = 'constraint force'

    def __post_init__(self) -> None:
        check_choice('least', self.least, get_args(Least))
        A, bias = (np.asarray(value, dtype=np.float64) for value in (self.A, self.bias))
        names = tuple(self.names) or tuple(f'row {k}' for k in range(len(A)))
        if A.ndim != 2 or bias.shape != A.shape[:1] or len(names) != len(A):
            raise ShapeError(
                f'constraints have A of shape {A.shape}, bias of shape {bias.shape} and '
                f'{len(names)} names, expected (rows, m), (rows,) and one name a row'
            )
        broken = np.flatnonzero(~np.isfinite(np.column_stack((A, bias))).all(axis=1))
        if broken.size:
            named = ', '.join(names[k] for k in broken)
            raise NotFiniteError(f'constraints {named} hold NaN or inf')
        for name, value in (('A', A), ('bias', bias), ('names', names)):
            object.__setattr__(self, name, value)

    def violated(self, nu_dot: Array) -> str:
        """Return which rows of A nu_dot + c are not zero, and by how much; empty if all are."""
        return self.name_rows(self.A @ nu_dot + self.bias, self.scale(nu_dot))

    def scale(self, nu_dot: Array) -> float:
        """Return the largest term of A nu_dot + c; with |nu_dot| at least one."""
        terms = np.abs(self.A) @ np.maximum(np.abs(nu_dot), 1.0) + np.abs(self.bias)
        return float(np.max(terms, initial=0.0))

    def name_rows(self, gap: Array, scale: float) -> str:
        """Return the rows whose ``gap`` is not small beside ``scale``."""
        broken = np.flatnonzero(np.abs(gap) > TOLERANCE * scale)
        return ', '.join(f'{self.names[k]} by {gap[k]:.3g}' for k in broken)


class ConstrainedMotion(NamedTuple):
    """A solution of (1)."""

    nu_dot: Array
    """(m,) base twist rate in base axes, then joint accelerations; fixed base: the latter."""
    tau: Array
    """(n,) joint efforts [N m or N]; with a prescribed base (6 + n,), base wrench first."""
    multipliers: Array
    """(rows,) lambda: forces along the rows of A, acting on the robot."""
    rank: int
    """Rank of A_v: constraints on velocities neither prescribed nor actuated."""
    internal: int
    """Dimension of the efforts that balance among themselves; zero if tau is unique."""


@about_state
def inverse_dynamics(
    model: TreeModel,
    state: State,
    acceleration: ArrayLike,
    constraints: Constraints,
    actuated: ArrayLike,
    *,
    passive_tau: ArrayLike | None = None,
    wrenches: External = (),
) -> ConstrainedMotion:
    """Return the efforts of actuated joints that produce an acceleration.

    [Kim 2012, Eqs. (56)-(66)]; with nothing passive (65), (66), immobile structures included.

    Raises `InfeasibleError` if the acceleration violates constraints, naming the rows;
    `UnsolvableError` if no efforts produce it, naming the passive coordinates that would need some
    (where they may move freely, `hybrid_dynamics` of this module follows the actuated ones only);
    others as `geolin_ros.hybrid_dynamics`.

    Parameters
    ----------
    model, state, acceleration, wrenches
        As of `geolin_ros.inverse_dynamics`; A nu = 0 and A nu_dot + c = 0.
    constraints
        At the state.
    actuated : (n,)
        True for each joint coordinate whose effort is asked for. A floating base is passive.
    passive_tau : (n,), optional
        Efforts of the others, read there only; zero by default.
    """
    floating = model.m - model.n
    active = truth('actuated', actuated, model)
    tau = np.zeros(model.n)
    if passive_tau is not None:
        tau[~active] = vector('passive_tau', passive_tau, model.n, model.name)[~active]
    nu_dot = vector('acceleration', acceleration, model.m, model.name)
    A = rows_of(constraints, model)
    broken = constraints.violated(nu_dot)
    if broken:
        raise _infeasible(model, 'the acceleration', broken)
    if not np.isfinite(tau).all():
        raise failure(model, NOT_FINITE, state, {'passive_tau': tau})
    needed = functions.inverse_dynamics(model, state, nu_dot, wrenches=wrenches)  # tau_r
    passive = np.concatenate((np.ones(floating, dtype=np.bool_), ~active))
    given = np.concatenate((np.zeros(floating), tau))
    reach = _Range(A, passive)
    multipliers = reach.solve(needed[passive] - given[passive])  # (57), (59)
    rest = needed - given - A.T @ multipliers
    scale = float(np.max(np.abs(needed) + np.abs(A.T) @ np.abs(multipliers), initial=0.0))
    missing = np.flatnonzero(passive & (np.abs(rest) > TOLERANCE * scale))
    if missing.size:
        labels = [*('x', 'y', 'z', 'rx', 'ry', 'rz')[:floating], *model.joint_names]
        raise UnsolvableError(
            f'robot {model.name!r}: no efforts of the actuated joints produce this acceleration, '
            'it needs '
            + ', '.join(f'{rest[k]:.3g} at {labels[k]}' for k in missing)
            + f'; {reach.rank} constraints hold {int(passive.sum())} passive coordinates: actuate '
            'more joints, or let the passive ones move: constraints.hybrid_dynamics'
        )
    tau_a, multipliers, internal = reach.relieve(
        A[:, ~passive], rest[~passive], multipliers, constraints.least
    )
    tau[active] = tau_a
    return ConstrainedMotion(nu_dot.copy(), tau, multipliers, reach.rank, internal)


@about_state
def forward_dynamics(
    model: TreeModel,
    state: State,
    tau: ArrayLike,
    constraints: Constraints,
    *,
    wrenches: External = (),
) -> ConstrainedMotion:
    """Return the acceleration that joint efforts produce, and the constraint forces.

    [Kim 2012, Eqs. (67)-(69)]: O(n) and m responses, then O(m^3).

    `hybrid_dynamics` of this module with nothing prescribed; arguments and errors as there.
    """
    given = np.zeros(model.n), tau, np.zeros(model.n, dtype=np.bool_)
    return hybrid_dynamics(model, state, *given, constraints, wrenches=wrenches)


@about_state
def hybrid_dynamics(
    model: TreeModel,
    state: State,
    acceleration: ArrayLike,
    tau: ArrayLike,
    prescribed: ArrayLike,
    constraints: Constraints,
    *,
    wrenches: External = (),
) -> ConstrainedMotion:
    """Return accelerations and efforts, given one of the two for each joint coordinate.

    [Kim 2012, Eqs. (70)-(80), (59)-(64)], with u, v for a, p where lambda is not unique.

    Arguments and errors as of `geolin_ros.hybrid_dynamics`, constraints at the state.
    `InfeasibleError` if no acceleration satisfies the constraints beside the prescribed ones, or
    the state violates repeated ones in different ways; it names the rows.
    """
    task, robot = Task.about(model, state, wrenches), robot_of(model)
    problem = HybridProblem(task, acceleration, tau, prescribed)
    free, first = problem.free, 6 + model.n - model.m
    A = np.zeros((len(constraints.bias), 6 + model.n))
    A[:, first:] = rows_of(constraints, model)
    found = np.zeros(6 + model.n)
    found[first:] = robot.hybrid(task, free)[0]
    given = task.given[0]
    loose = np.where(free, found, given), np.where(free, given, found)
    by_force = np.zeros((6 + model.n, 6 + model.n))
    by_force[first:, first:] = robot.derivatives(task, free, 2 * model.m + np.arange(model.m))[0]
    answers = (A * free) @ by_force.T  # to unit multipliers, nothing else given
    by_rows, forces_by_rows = answers * free, answers * ~free
    reach = _Range(A, free)
    gap = A @ loose[0] + constraints.bias
    scale = constraints.scale(loose[0][first:])
    left = reach.null @ (reach.null.T @ gap)  # what free velocities cannot close
    broken = constraints.name_rows(left, scale)
    if broken:
        what = 'the prescribed acceleration' if np.any(~free[first:]) else 'the state'
        raise _infeasible(model, what, broken)
    U = reach.basis
    multipliers = -U @ np.linalg.solve(U.T @ (A @ by_rows.T) @ U, U.T @ gap)  # (76)
    nu_dot = loose[0] + by_rows.T @ multipliers  # (80)
    forces = loose[1] + (forces_by_rows - A * ~free).T @ multipliers  # (79)
    forces[~free], multipliers, internal = reach.relieve(
        A[:, ~free], forces[~free], multipliers, constraints.least
    )
    results = nu_dot[problem.moving], forces[problem.asked]
    return ConstrainedMotion(*results, multipliers, reach.rank, internal)


class _Range:
    """Rank, range and null space of the columns of A that some velocities own.

    Multipliers in the range of ``basis`` (rows, rank) are those of least norm; those of ``null``,
    N (rows, rows - rank), have no effect on these velocities. Both are orthonormal.
    """

    def __init__(self, A: Array, columns: BoolArray) -> None:
        self._smallest = RANK_TOLERANCE * float(np.linalg.norm(A))
        own = A[:, columns]
        tall = own.shape[0] > own.shape[1]  # else the thin U holds the null space as well
        U, self._sigma, self._Vt = np.linalg.svd(own, full_matrices=tall)
        self.rank = int(np.sum(self._sigma > self._smallest))
        self.basis, self.null = U[:, : self.rank], U[:, self.rank :]

    def solve(self, force: Array) -> Array:
        """Return the multipliers of least norm whose forces come closest to ``force``."""
        r = self.rank
        solution: Array = self.basis @ (self._Vt[:r] @ force / self._sigma[:r])
        return solution

    def relieve(
        self, A_u: Array, tau_u: Array, multipliers: Array, least: Least
    ) -> tuple[Array, Array, int]:
        """Return efforts, multipliers and how many of the former are free, Eqs. (62)-(64)."""
        W, sigma, Vt = np.linalg.svd(A_u.T @ self.null, full_matrices=False)
        internal = int(np.sum(sigma > self._smallest))
        if least == 'torque':
            share = W[:, :internal].T @ tau_u
            tau_u = tau_u - W[:, :internal] @ share
            multipliers = multipliers + self.null @ (Vt[:internal].T @ (share / sigma[:internal]))
        return tau_u, multipliers, internal


def rows_of(constraints: Constraints, model: TreeModel) -> Array:
    """Return A, which must have a column for each velocity of the robot."""
    if constraints.A.shape[1] != model.m:
        raise ShapeError(
            f'constraints have {constraints.A.shape[1]} columns, expected {model.m} for robot '
            f'{model.name!r}'
        )
    return constraints.A


def _infeasible(model: TreeModel, what: str, broken: str) -> InfeasibleError:
    return InfeasibleError(
        f'robot {model.name!r}: {what} violates constraints A nu_dot + c = 0, {broken}; project '
        'it on them, or leave out those rows'
    )
