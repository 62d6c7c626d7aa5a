# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Quadratic programs over the horizon of a linear time-varying system, with their gains.

    minimize    sum_k z_k'Q_k z_k/2 + q_k'z_k + w_k'S_k z_k + w_k'R_k w_k/2 + r_k'w_k
                + z_N'Q_N z_N/2 + q_N'z_N
    subject to  z_{k+1} = A_k z_k + B_k w_k + c_k,    z_0 given,
                C_k z_k + D_k w_k + e_k <= 0,    lower_k <= w_k <= upper_k

By `geolin_control.kernels.stages`; the gains K_k are what the law between two solutions needs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from geolin_control.kernels import stages as kernels
from geolin_ros.errors import ConfigurationError, ShapeError
from geolin_ros.typing import Array

WORDS = {
    kernels.SOLVED: 'solved',
    kernels.UNSETTLED: 'unsettled: the set of active rows still changes; allow more newton_steps',
    kernels.INFEASIBLE: 'infeasible: nothing within the bounds satisfies all rows; z, w and K are '
    'of a compromise by their weights',
    kernels.INDEFINITE: "no unique minimum: R_k + B_k'P B_k is not positive definite at a stage; "
    'weigh all inputs, or rows less',
    kernels.OVERFLOWED: 'overflow: the system grows beyond finite numbers over the horizon',
}


@dataclass(frozen=True, eq=False)
class Solution:
    """What the solver found; arrays are copies.

    Attributes
    ----------
    is_finite
        Whether z, w and K may be used at all.
    status
        In words; ``'solved'`` is about the problem as penalized: see the violations. One that
        begins with ``'infeasible'`` is proved, for inputs without bounds up to a thousand times
        the largest found.
    z, w, K : (N + 1, n_x), (N, n_u), (N, n_u, n_x)
        w = w_k + K_k (z - z_k), with the inequalities that are active kept so.
    multipliers : (N, rows)
    violations
        The largest of C z + D w + e of each kind of rows, and of w beyond its ``'bounds'``, or 0.
    steps
        Riccati recursions.
    """

    is_finite: bool
    status: str
    z: Array
    w: Array
    K: Array
    multipliers: Array
    violations: dict[str, float]
    steps: int


class StageProblem:
    """A problem of fixed sizes, solved again and again in memory of its own.

    Write into its arrays, then call `solve`. All are zero at first, bounds infinite.

    Parameters
    ----------
    N, n_x, n_u
        Numbers of stages, states, inputs.
    rows
        Of what kind each inequality of a stage is, or their number; rows of zeros are none.

    Attributes
    ----------
    A, B, c : (N, n_x, n_x), (N, n_x, n_u), (N, n_x)
    Q, q : (N + 1, n_x, n_x), (N + 1, n_x)
    S, R, r : (N, n_u, n_x), (N, n_u, n_u), (N, n_u)
    C, D, e : (N, rows, n_x), (N, rows, n_u), (N, rows)
    lower, upper : (N, n_u)
    row_weights, bound_weights : (rows,), (n_u,)
        mu: squares of what is violated are added to the cost times mu/2.

    Examples
    --------
    A cart of 1 kg at 1 m, pushed back by at most 0.5 N:

    >>> problem = StageProblem(30, 2, 1)
    >>> problem.A[:], problem.B[:] = [[1.0, 0.1], [0.0, 1.0]], [[0.0], [0.1]]
    >>> problem.Q[:], problem.R[:] = np.eye(2), 0.1
    >>> problem.lower[:], problem.upper[:], problem.bound_weights[:] = -0.5, 0.5, 100.0
    >>> solution = problem.solve([1.0, 0.0], rounds=10)
    >>> solution.status, round(float(solution.w.min()), 3)
    ('solved', -0.5)
    """

    def __init__(self, N: int, n_x: int, n_u: int, rows: int | Sequence[str] = 0) -> None:
        if min(N, n_x, n_u) < 1 or (not isinstance(rows, Sequence) and rows < 0):
            raise ConfigurationError(
                f'a problem has {N} stages, {n_x} states, {n_u} inputs and {rows} rows, expected '
                'at least one of the first three'
            )
        kinds = tuple(rows) if isinstance(rows, Sequence) else ('rows',) * int(rows)
        rows = len(kinds)
        self._kinds = {kind: np.array([kind == one for one in kinds]) for kind in sorted({*kinds})}
        self._sizes = sizes = kernels.sizes_of(N, n_x, n_u, rows)
        self._memory = memory = kernels.make_memory(sizes)
        z, w, last = slice(0, n_x), slice(n_x, n_x + n_u), n_x + n_u
        F = _matrices(memory.F, N, sizes.F, sizes.stride)
        self.A, self.B, self.c = F[:, :n_x, z], F[:, :n_x, w], F[:, :n_x, last]
        H = _matrices(memory.H, N + 1, sizes.H, sizes.stride)
        self.Q, self.q = H[:, z, z], H[:, z, last]
        self.S, self.R, self.r = H[:N, w, z], H[:N, w, w], H[:N, w, last]
        G = _matrices(memory.G, N, sizes.G, sizes.stride)
        self.C, self.D, self.e = G[:, :rows, z], G[:, :rows, w], G[:, :rows, last]
        self.lower, self.upper = memory.lower.reshape(N, n_u), memory.upper.reshape(N, n_u)
        self.row_weights, self.bound_weights = np.ones(rows), np.ones(n_u)
        self._mirrored, self._mu = H[:N, z, w], memory.mu.reshape(N, -1)
        self._x = memory.x.reshape(N + 1, sizes.stride)
        self._z, self.w = self._x[:, z], self._x[:N, w]
        self._K = _matrices(memory.K, N, sizes.K, sizes.stride)[:, :n_u, z]
        self._multipliers = memory.multipliers.reshape(N, -1)

    def shift(self, stages: int) -> None:
        """Start the next solution from this one, so many stages later, its end repeated."""
        if stages > 0:
            for array in (self.w, self._multipliers):
                array[:-stages] = array[stages:].copy()
                array[-stages:] = array[-1]

    def forget(self) -> None:
        """Start the next solution from nothing."""
        self._x[:], self._multipliers[:] = 0.0, 0.0

    def solve(
        self, z0: ArrayLike, rounds: int = 2, newton_steps: int = 5, most: int | None = None
    ) -> Solution:
        """Solve from the inputs and multipliers of the last solution.

        There are ``rounds`` updates of the multipliers, violations shrink with each; and at most
        ``newton_steps`` recursions in a round, ``most`` in all: it bounds the time.

        Raises `ShapeError` if the first state z0 (n_x,) has another size. A solution that is not
        finite makes this problem `forget`.
        """
        first, sizes = np.asarray(z0, dtype=np.float64), self._sizes
        if first.shape != (sizes.n_x,):
            raise ShapeError(f'z0 has shape {first.shape}, expected ({sizes.n_x},)')
        self._z[0] = first
        most = rounds * newton_steps if most is None else most
        self._mirrored[:] = self.S.transpose(0, 2, 1)
        self._mu[:] = np.concatenate((self.row_weights, *[self.bound_weights] * 2))
        status, steps = kernels.solve(sizes, self._memory, rounds, newton_steps, most)
        g = self._memory.g.reshape(sizes.N, -1)
        of_rows, of_bounds = g[:, : sizes.rows], g[:, sizes.rows :]
        arrays = self._z, self.w, self._K, self._multipliers, of_rows
        if status <= kernels.INFEASIBLE and not all(np.isfinite(one).all() for one in arrays):
            status = kernels.OVERFLOWED
        is_finite = status <= kernels.INFEASIBLE
        violated = {kind: of_rows[:, own] for kind, own in self._kinds.items()}
        violated['bounds'] = of_bounds
        found = Solution(
            is_finite,
            WORDS[status],
            self._z.copy(),
            self.w.copy(),
            self._K.copy(),
            self._multipliers[:, : sizes.rows].copy(),
            {kind: float(own.max(initial=0.0)) for kind, own in violated.items()},
            steps,
        )
        if not is_finite:
            self.forget()
        return found


def _matrices(memory: Array, count: int, size: int, stride: int) -> Array:
    """Return the matrices of all stages as a view (count, rows, columns)."""
    return memory[: count * size].reshape(count, size // stride, stride)


def warm_up() -> None:
    """Compile, or load from the cache, what problems are solved by."""
    problem = StageProblem(2, 1, 1)
    problem.R[:] = 1.0
    problem.solve([0.0])
