# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The functions of `dynamics` and their derivatives about many states in one call.

Arrays have the sample in front: states (N, 22 + n_q + n), rows of `State.data` (or N states),
accelerations (N, m), efforts (N, n). Models that only general recursions carry go through those,
state by state. Further arguments and units as in `dynamics`; in addition

wrenches
    The same in every state.
threads
    How many share a call; the results do not depend on it.

Errors are those of `dynamics`, about the first such sample.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics import derivatives, functions
from geolin_ros.dynamics.derivatives import ForwardDynamicsDerivatives, InverseDynamicsDerivatives
from geolin_ros.dynamics.functions import HybridProblem
from geolin_ros.dynamics.samples import Samples, States, Task, prepare, rows, state_rows
from geolin_ros.errors import GeolinError
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array, IntArray


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
    if batch.samples is None:
        return batch.each(functions.inverse_dynamics, (model.m,), nu_dot)
    return batch.prescribed().evaluate(batch.task({'acceleration': nu_dot}, nu_dot))


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
    if batch.samples is None:
        return batch.each(functions.forward_dynamics, (model.m,), efforts)
    return batch.samples.evaluate(batch.task({'tau': efforts}, efforts))


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

    if batch.samples is None:
        one = _one_hybrid(prescribed, first)
        found = batch.each(one, (m + (6 if base else 0) + n,), nu_dot, forces)
        return found[:, :m], found[:, m:]
    nu_dot[:, free], forces[:, ~free] = 0.0, 0.0
    given = {'the prescribed accelerations': nu_dot, 'tau': forces}
    result = batch.samples.prescribe(~free[6:], base).evaluate(batch.task(given, nu_dot + forces))
    full = np.zeros_like(nu_dot)
    full[:, 6 + n - m :] = result
    nu_dot, forces = np.where(free, full, nu_dot), np.where(free, forces, full)
    return nu_dot[:, 6 + n - m :], forces[:, first:]


def mass_matrix(model: TreeModel, states: States, threads: int = 1) -> Array:
    """Return M (N, m, m)."""
    batch = _Batch(model, states, (), threads)
    if batch.samples is None:
        return batch.each(functions.mass_matrix, (model.m, model.m))
    return batch.prescribed().mass_matrices(batch.task({}))


def mass_matrix_inverse(model: TreeModel, states: States, threads: int = 1) -> Array:
    """Return M^-1 (N, m, m)."""
    batch = _Batch(model, states, (), threads)
    if batch.samples is None:
        return batch.each(functions.mass_matrix_inverse, (model.m, model.m))
    by_force = 2 * (6 + model.n) + batch.samples.rows
    return batch.derivatives(batch.samples, batch.task({}), by_force)


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
    if batch.samples is None:
        one = _side_by_side(derivatives.inverse_dynamics_derivatives)
        shape = (model.m, 2 * model.m)
        D = batch.each(one, shape, nu_dot)
    else:
        task = batch.task({'acceleration': nu_dot}, nu_dot)
        D = batch.derivatives(batch.prescribed(), task, batch.by_state())
    return InverseDynamicsDerivatives(*batch.blocks(D))


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
    if batch.samples is None:
        one = _side_by_side(derivatives.forward_dynamics_derivatives)
        shape = (model.m, 2 * model.m + model.n)
        D = batch.each(one, shape, efforts)
    else:
        by_tau = 2 * (6 + model.n) + batch.samples.rows[model.m - model.n :]
        columns = np.concatenate((batch.by_state(), by_tau))
        D = batch.derivatives(batch.samples, batch.task({'tau': efforts}, efforts), columns)
    return ForwardDynamicsDerivatives(*batch.blocks(D), D[:, :, 2 * model.m :])


class _Batch:
    """Arguments that all functions have, checked; ``samples`` is None for a general model."""

    def __init__(
        self, model: TreeModel, states: States, wrenches: Sequence[Wrench], threads: int
    ) -> None:
        self._model, self._wrenches, self._threads = model, wrenches, threads
        self._states = state_rows(model, states)
        self.count = len(self._states)
        self.samples = _samples_of(model)

    def rows(self, name: str, values: ArrayLike, size: int) -> Array:
        """Return values (N, size)."""
        return rows(name, values, size, self._model, self.count)

    def task(self, inputs: dict[str, Array], values: Array | None = None) -> Task:
        """Return the task of a kernel; of a base that is not among the values they are zero."""
        given = np.zeros((self.count, 6 + self._model.n))
        if values is not None:
            given[:, 6 + self._model.n - values.shape[1] :] = values
        assert self.samples is not None
        wrenches = self.samples.wrenches(self._model, self._wrenches)
        return Task(self._model, self._states, given, wrenches, self._threads, inputs)

    def prescribed(self) -> Samples:
        """Return the robot of inverse dynamics."""
        assert self.samples is not None
        return self.samples.prescribe(np.ones(self._model.n), True)

    def by_state(self) -> IntArray:
        """Return the columns [H; s; v; r] of a derivative, in the order of the model."""
        assert self.samples is not None
        return np.concatenate((self.samples.rows, 6 + self._model.n + self.samples.rows))

    def derivatives(self, samples: Samples, task: Task, columns: IntArray) -> Array:
        """Return some columns of a derivative, (N, m, ...)."""
        m = self._model.m
        D, result = np.empty((self.count, m, columns.size)), np.empty((self.count, m))
        samples.differentiate(task, (columns, columns[:0]), result, (D, D[:, :, :0]))
        return D

    def blocks(self, D: Array) -> tuple[Array, Array, Array, Array]:
        """Return the columns of H, s, v and r; of a fixed base those of H and v are empty."""
        m, six = self._model.m, self._model.m - self._model.n
        return D[:, :, :six], D[:, :, six:m], D[:, :, m : m + six], D[:, :, m + six : 2 * m]

    def each(self, function: Callable[..., Any], shape: tuple[int, ...], *given: Array) -> Array:
        """Return what a function of one state returns about all of them."""
        found = np.empty((self.count, *shape))
        state = self._model.neutral_state()
        options = {'wrenches': self._wrenches} if self._wrenches else {}
        for k in range(self.count):
            state.data[:] = self._states[k]
            try:
                found[k] = function(self._model, state, *(a[k] for a in given), **options)
            except GeolinError as error:
                raise type(error)(f'sample {k}: {error}') from error
        return found


def _side_by_side(function: Callable[..., tuple[Array, ...]]) -> Callable[..., Array]:
    """Return ``function`` with its results as the columns of one matrix."""
    return lambda *given, **options: np.hstack(function(*given, **options))


def _one_hybrid(prescribed: ArrayLike, first: int) -> Callable[..., Array]:
    """Return hybrid dynamics of one state as one row of accelerations and forces."""

    def one(model: TreeModel, state: Any, nu_dot: Array, forces: Array, **options: Any) -> Array:
        found = functions.hybrid_dynamics(
            model, state, nu_dot[first:], forces[6:], prescribed, **options
        )
        return np.concatenate(found)

    return one


class _Robots(threading.local):
    """What was prepared of each robot, a thread: kernels write into its scratch.

    Values must not know their robot, which would never be let go.
    """

    def __init__(self) -> None:
        self.of: WeakKeyDictionary[TreeModel, Samples | None] = WeakKeyDictionary()


_robots = _Robots()


def _samples_of(model: TreeModel) -> Samples | None:
    if model not in _robots.of:
        _robots.of[model] = prepare(model)
    return _robots.of[model]
