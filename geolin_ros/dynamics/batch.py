# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The functions of `dynamics` and their derivatives about many states in one call.

Arrays have the sample in front: states (N, 22 + n_s + n), rows of `State.data` (or N states),
accelerations (N, m), efforts (N, n). Further arguments and units as in `dynamics`; in addition

wrenches
    The same in every state.
threads
    How many share a call; the results do not depend on it.

Errors are those of `dynamics`, about the first such sample. One `State` alone is taken as N = 1.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import truth
from geolin_ros.dynamics.samples import States, Task, robot_of
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array, BoolArray

About = State | States


def inverse_dynamics(
    model: TreeModel,
    states: About,
    accelerations: ArrayLike,
    wrenches: Sequence[Wrench] | None = None,
    threads: int = 1,
) -> Array:
    """Return the forces (N, m) that produce accelerations (N, m)."""
    task = Task.about(model, states, wrenches, threads)
    task.give('acceleration', accelerations, model.m)
    return robot_of(model).hybrid(task, np.zeros(6 + model.n, np.bool_))


def forward_dynamics(
    model: TreeModel,
    states: About,
    tau: ArrayLike,
    wrenches: Sequence[Wrench] | None = None,
    threads: int = 1,
) -> Array:
    """Return the accelerations (N, m) that joint efforts (N, n) produce."""
    task = Task.about(model, states, wrenches, threads)
    task.give('tau', tau, model.n)
    return robot_of(model).hybrid(task, _all_free(model))


def hybrid_dynamics(
    model: TreeModel,
    states: About,
    acceleration: ArrayLike,
    tau: ArrayLike,
    prescribed: ArrayLike,
    wrenches: Sequence[Wrench] | None = None,
    threads: int = 1,
) -> tuple[Array, Array]:
    """Return all accelerations (N, m), and efforts (N, n) or, with the base's, (N, 6 + n).

    ``acceleration`` is (N, n), or (N, 6 + n) with the base prescribed too, ``tau`` (N, n);
    ``prescribed`` (n,) is the same in every state.
    """
    task = Task.about(model, states, wrenches, threads)
    problem = HybridProblem(task, acceleration, tau, prescribed)
    return problem.solved(robot_of(model).hybrid(task, problem.free))


def mass_matrix(model: TreeModel, states: About, threads: int = 1) -> Array:
    """Return M (N, m, m)."""
    return robot_of(model).mass_matrices(Task.about(model, states, threads=threads))


def mass_matrix_inverse(model: TreeModel, states: About, threads: int = 1) -> Array:
    """Return M^-1 (N, m, m)."""
    by_given = 2 * model.m + np.arange(model.m)
    task = Task.about(model, states, threads=threads)
    return robot_of(model).derivatives(task, _all_free(model), by_given)


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of the forces at constant acceleration; with a fixed base by s and r only."""

    dtau_dH: Array
    """(m, 6) by the base pose, H exp(z); fixed base: (m, 0)."""
    dtau_ds: Array
    """(m, n)"""
    dtau_dv: Array
    """(m, 6) by the base twist; fixed base: (m, 0)."""
    dtau_dr: Array
    """(m, n)"""


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of the accelerations; with a fixed base by s, r and tau only."""

    dnu_dot_dH: Array
    """(m, 6) by the base pose, H exp(z); fixed base: (m, 0)."""
    dnu_dot_ds: Array
    """(m, n)"""
    dnu_dot_dv: Array
    """(m, 6) by the base twist; fixed base: (m, 0)."""
    dnu_dot_dr: Array
    """(m, n)"""
    dnu_dot_dtau: Array
    """(m, n)"""


def inverse_dynamics_derivatives(
    model: TreeModel,
    states: About,
    accelerations: ArrayLike,
    wrenches: Sequence[Wrench] | None = None,
    threads: int = 1,
) -> InverseDynamicsDerivatives:
    """Return the derivatives of `inverse_dynamics` by the state, each (N, m, ...)."""
    task, nothing = Task.about(model, states, wrenches, threads), np.zeros(6 + model.n, np.bool_)
    task.give('acceleration', accelerations, model.m)
    D = robot_of(model).derivatives(task, nothing, np.arange(2 * model.m))
    return InverseDynamicsDerivatives(*_blocks(model, D))


def forward_dynamics_derivatives(
    model: TreeModel,
    states: About,
    tau: ArrayLike,
    wrenches: Sequence[Wrench] | None = None,
    threads: int = 1,
) -> ForwardDynamicsDerivatives:
    """Return the derivatives of `forward_dynamics` by state and efforts, each (N, m, ...)."""
    task, m, n = Task.about(model, states, wrenches, threads), model.m, model.n
    task.give('tau', tau, n)
    columns = np.concatenate((np.arange(2 * m), 3 * m - n + np.arange(n)))
    D = robot_of(model).derivatives(task, _all_free(model), columns)
    return ForwardDynamicsDerivatives(*_blocks(model, D), D[:, :, 2 * m :])


def _blocks(model: TreeModel, D: Array) -> tuple[Array, Array, Array, Array]:
    """Return the columns of H, s, v and r; of a fixed base those of H and v are empty."""
    m, six = model.m, model.m - model.n
    return D[:, :, :six], D[:, :, six:m], D[:, :, m : m + six], D[:, :, m + six : 2 * m]


def _all_free(model: TreeModel) -> BoolArray:
    """Return which velocities (6 + n,) move in forward dynamics: all but those of a fixed base."""
    return np.arange(6 + model.n) >= 6 + model.n - model.m


class HybridProblem:
    """What is given to `hybrid_dynamics`, checked and put into a task.

    Attributes
    ----------
    free : (6 + n,)
        Which velocities move under forces; those of a fixed base do not.
    nu_dot, tau : (N, 6 + n)
        Given entries, zero elsewhere.
    moving, asked
        Which accelerations and forces there are results of.
    """

    def __init__(
        self, task: Task, acceleration: ArrayLike, tau: ArrayLike, prescribed: ArrayLike
    ) -> None:
        model, n = task.model, task.model.n
        floating, mask = model.base == 'floating', truth('prescribed', prescribed, model)
        moves_base = floating and np.shape(acceleration)[-1:] == (6 + n,)
        first = 0 if moves_base else 6
        self.moving, self.asked = slice(6 + n - model.m, None), slice(first, None)
        self.free: BoolArray = np.concatenate((np.full(6, floating and not moves_base), ~mask))
        if moves_base and np.shape(tau)[-1:] == (6 + n,):
            tau = np.asarray(tau)[..., 6:]
        self.nu_dot, self.tau = np.zeros((2, task.count, 6 + n))
        name = 'acceleration of the joints' if first else 'acceleration'
        self.nu_dot[:, first:] = task.take(name, acceleration, 6 + n - first)
        self.tau[:, 6:] = task.take('tau', tau, n)
        self.nu_dot[:, self.free], self.tau[:, ~self.free] = 0.0, 0.0
        task.given = self.nu_dot + self.tau
        task.inputs = {'the prescribed accelerations': self.nu_dot, 'tau': self.tau}

    def solved(self, found: Array) -> tuple[Array, Array]:
        """Return all accelerations and forces, given what was found of them, (N, m)."""
        full = np.zeros_like(self.tau)
        full[:, self.moving] = found
        nu_dot = np.where(self.free, full, self.nu_dot)
        return nu_dot[:, self.moving], np.where(self.free, self.tau, full)[:, self.asked]
