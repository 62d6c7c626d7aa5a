# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The functions of `dynamics` and their derivatives about many states in one call.

Arrays have the sample in front: states (N, 22 + n_s + n), rows of `State.data` (or N states),
accelerations (N, m), efforts (N, n). Further arguments and units as in `dynamics`; in addition

wrenches
    The same in every state.
threads
    How many share a call; the results do not depend on it.

Errors are those of `dynamics`, about the first such sample.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.derivatives import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    of_forward_dynamics,
    of_inverse_dynamics,
)
from geolin_ros.dynamics.functions import HybridProblem, all_free, by_given
from geolin_ros.dynamics.samples import States, Task, robot_of, rows, state_rows
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array


def inverse_dynamics(
    model: TreeModel,
    states: States,
    accelerations: ArrayLike,
    wrenches: Sequence[Wrench] = (),
    threads: int = 1,
) -> Array:
    """Return the forces (N, m) that produce accelerations (N, m)."""
    batch = _Batch(model, states, wrenches, threads)
    nu_dot = batch.rows('acceleration', accelerations, model.m)
    return batch.robot.inverse(batch.task({'acceleration': nu_dot}, nu_dot))


def forward_dynamics(
    model: TreeModel,
    states: States,
    tau: ArrayLike,
    wrenches: Sequence[Wrench] = (),
    threads: int = 1,
) -> Array:
    """Return the accelerations (N, m) that joint efforts (N, n) produce."""
    batch = _Batch(model, states, wrenches, threads)
    efforts = batch.rows('tau', tau, model.n)
    return batch.robot.hybrid(batch.task({'tau': efforts}, efforts), all_free(model))


def hybrid_dynamics(
    model: TreeModel,
    states: States,
    acceleration: ArrayLike,
    tau: ArrayLike,
    prescribed: ArrayLike,
    wrenches: Sequence[Wrench] = (),
    threads: int = 1,
) -> tuple[Array, Array]:
    """Return all accelerations (N, m), and efforts (N, n) or, with the base's, (N, 6 + n).

    ``acceleration`` is (N, n), or (N, 6 + n) with the base prescribed too, ``tau`` (N, n);
    ``prescribed`` (n,) is the same in every state.
    """
    batch, n, m = _Batch(model, states, wrenches, threads), model.n, model.m
    nu_dot, forces = np.zeros((batch.count, 6 + n)), np.zeros((batch.count, 6 + n))
    base = model.base == 'floating' and np.shape(acceleration)[-1:] == (6 + n,)
    first = 0 if base else 6
    nu_dot[:, first:] = batch.rows('acceleration', acceleration, 6 + n - first)
    forces[:, 6:] = batch.rows('tau', tau, n)
    free = HybridProblem(model, np.zeros(6 + n - first), np.zeros(n), prescribed).free
    nu_dot[:, free], forces[:, ~free] = 0.0, 0.0
    given = {'the prescribed accelerations': nu_dot, 'tau': forces}
    full = np.zeros_like(nu_dot)
    full[:, 6 + n - m :] = batch.robot.hybrid(batch.task(given, nu_dot + forces), free)
    nu_dot, forces = np.where(free, full, nu_dot), np.where(free, forces, full)
    return nu_dot[:, 6 + n - m :], forces[:, first:]


def mass_matrix(model: TreeModel, states: States, threads: int = 1) -> Array:
    """Return M (N, m, m)."""
    batch = _Batch(model, states, (), threads)
    return batch.robot.mass_matrices(batch.task({}))


def mass_matrix_inverse(model: TreeModel, states: States, threads: int = 1) -> Array:
    """Return M^-1 (N, m, m)."""
    batch = _Batch(model, states, (), threads)
    return batch.robot.derivatives(batch.task({}), all_free(model), by_given(model))


def inverse_dynamics_derivatives(
    model: TreeModel,
    states: States,
    accelerations: ArrayLike,
    wrenches: Sequence[Wrench] = (),
    threads: int = 1,
) -> InverseDynamicsDerivatives:
    """Return the derivatives of `inverse_dynamics` by the state, each (N, m, ...)."""
    batch = _Batch(model, states, wrenches, threads)
    nu_dot = batch.rows('acceleration', accelerations, model.m)
    task = batch.task({'acceleration': nu_dot}, nu_dot)
    return of_inverse_dynamics(model, task)


def forward_dynamics_derivatives(
    model: TreeModel,
    states: States,
    tau: ArrayLike,
    wrenches: Sequence[Wrench] = (),
    threads: int = 1,
) -> ForwardDynamicsDerivatives:
    """Return the derivatives of `forward_dynamics` by state and efforts, each (N, m, ...)."""
    batch = _Batch(model, states, wrenches, threads)
    efforts = batch.rows('tau', tau, model.n)
    return of_forward_dynamics(model, batch.task({'tau': efforts}, efforts))


class _Batch:
    """Arguments that all functions have, checked."""

    def __init__(
        self, model: TreeModel, states: States, wrenches: Sequence[Wrench], threads: int
    ) -> None:
        self._model, self._threads, self.robot = model, threads, robot_of(model)
        self._states = state_rows(model, states)
        self._wrenches = self.robot.wrenches(model, wrenches)
        self.count = len(self._states)

    def rows(self, name: str, values: ArrayLike, size: int) -> Array:
        """Return values (N, size)."""
        return rows(name, values, size, self._model, self.count)

    def task(self, inputs: dict[str, Array], values: Array | None = None) -> Task:
        """Return the task of a kernel; of a base that is not among the values they are zero."""
        given = np.zeros((self.count, 6 + self._model.n))
        if values is not None:
            given[:, 6 + self._model.n - values.shape[1] :] = values
        return Task(self._model, self._states, given, self._wrenches, self._threads, inputs)
