# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of inverse, forward and hybrid dynamics [Kim 2012, section 4].

By one scalar p that may move everything at once (`Variation`), in O(n): the dynamics themselves on
complex numbers, whose imaginary parts carry the derivative [Squire 1998]; by the whole state and
the inputs; and by the inertial parameters of every body.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import about_state, about_states
from geolin_ros.dynamics.functions import About, HybridProblem, all_free
from geolin_ros.dynamics.samples import Task, robot_of
from geolin_ros.dynamics.variation import STEP, Variation, change, parameters_of_inertias, vary
from geolin_ros.kernels.status import NOT_FINITE
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import External
from geolin_ros.renamed import old_names
from geolin_ros.typing import Array, BoolArray

__getattr__ = old_names(__name__)


@about_state
def inverse_dynamics_variation(
    model: TreeModel,
    state: State,
    acceleration: ArrayLike,
    variation: Variation,
    *,
    wrenches: External = (),
) -> Array:
    """Return the derivative (m,) of `inverse_dynamics` by the scalar of a variation.

    [Kim 2012, Table 5]. In the units of its result, by that of the scalar.

    Errors as there, `ShapeError` also for an array of the variation; `UnknownNameError` if it
    names a joint or link that the robot does not have.
    """
    task = Task.about(model, state, wrenches)
    task.give('acceleration', acceleration, model.m)
    return _vary(task, np.zeros(6 + model.n, dtype=np.bool_), variation, wrenches)[0]


@about_state
def forward_dynamics_variation(
    model: TreeModel,
    state: State,
    tau: ArrayLike,
    variation: Variation,
    *,
    wrenches: External = (),
) -> Array:
    """Return the derivative (m,) of `forward_dynamics` by the scalar of a variation.

    [Kim 2012, Table 6]. In the units of its result, by that of the scalar.

    Errors as there and of `inverse_dynamics_variation`.
    """
    given = np.zeros(model.n), tau, np.zeros(model.n, dtype=np.bool_)
    return hybrid_dynamics_variation(model, state, *given, variation, wrenches=wrenches)[0]


@about_state
def hybrid_dynamics_variation(
    model: TreeModel,
    state: State,
    acceleration: ArrayLike,
    tau: ArrayLike,
    prescribed: ArrayLike,
    variation: Variation,
    *,
    wrenches: External = (),
) -> tuple[Array, Array]:
    """Return the derivatives of both results of `hybrid_dynamics` by the scalar of a variation.

    [Kim 2012, Table 7]. In the units of these results, by that of the scalar.

    Errors as there and of `inverse_dynamics_variation`.
    """
    task = Task.about(model, state, wrenches)
    problem = HybridProblem(task, acceleration, tau, prescribed)
    return problem.results(*_vary(task, problem.free, variation, wrenches))


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


class HybridDynamicsDerivatives(NamedTuple):
    """Derivatives of both results by [H; s; v; r; given]; with a fixed base [s; r; given].

    ``given`` (m,): accelerations of the velocities that are prescribed, forces on the others.
    """

    dnu_dot: Array
    """(m, 3 m)"""
    dtau: Array
    """(n, 3 m), with the base prescribed (6 + n, 3 m)."""


@about_states
def inverse_dynamics_derivatives(
    model: TreeModel,
    state: About,
    acceleration: ArrayLike,
    *,
    wrenches: External = (),
    threads: int = 1,
) -> InverseDynamicsDerivatives:
    """Return all derivatives of `inverse_dynamics` by the state, errors as there; by nu_dot: M."""
    task, nothing = Task.about(model, state, wrenches, threads), np.zeros(6 + model.n, np.bool_)
    task.give('acceleration', acceleration, model.m)
    D = robot_of(model).derivatives(task, nothing, np.arange(2 * model.m))
    return InverseDynamicsDerivatives(*map(task.of, _blocks(model, D)))


@about_states
def forward_dynamics_derivatives(
    model: TreeModel, state: About, tau: ArrayLike, *, wrenches: External = (), threads: int = 1
) -> ForwardDynamicsDerivatives:
    """Return all derivatives of `forward_dynamics` by state and efforts, errors as there."""
    task, m, n = Task.about(model, state, wrenches, threads), model.m, model.n
    task.give('tau', tau, n)
    columns = np.concatenate((np.arange(2 * m), 3 * m - n + np.arange(n)))
    D = robot_of(model).derivatives(task, all_free(model), columns)
    return ForwardDynamicsDerivatives(*map(task.of, (*_blocks(model, D), D[:, :, 2 * m :])))


@about_states
def hybrid_dynamics_derivatives(
    model: TreeModel,
    state: About,
    acceleration: ArrayLike,
    tau: ArrayLike,
    prescribed: ArrayLike,
    *,
    wrenches: External = (),
    threads: int = 1,
) -> HybridDynamicsDerivatives:
    """Return all derivatives of `hybrid_dynamics` by state and what is given, errors as there."""
    task, m = Task.about(model, state, wrenches, threads), model.m
    problem = HybridProblem(task, acceleration, tau, prescribed)
    D, free = robot_of(model).derivatives(task, problem.free), problem.free[problem.moving]
    by_itself, free = np.eye(m, 3 * m, 2 * m), free[:, np.newaxis]
    nu_dot, forces = np.zeros((2, task.count, 6 + model.n, 3 * m))
    nu_dot[:, problem.moving] = np.where(free, D, by_itself)
    forces[:, problem.moving] = np.where(free, by_itself, D)
    results = nu_dot[:, problem.moving], forces[:, problem.asked]
    return HybridDynamicsDerivatives(*map(task.of, results))


def _blocks(model: TreeModel, D: Array) -> tuple[Array, Array, Array, Array]:
    """Return the columns of H, s, v and r; of a fixed base those of H and v are empty."""
    m, six = model.m, model.m - model.n
    return D[:, :, :six], D[:, :, six:m], D[:, :, m : m + six], D[:, :, m + six : 2 * m]


@about_state
def inverse_dynamics_regressor(model: TreeModel, state: State, acceleration: ArrayLike) -> Array:
    """Return Y (m, 10 nb): inverse dynamics = Y @ inertial_parameters(model) + passive torques.

    [Atkeson 1986].

    The Jacobian to the ten parameters of every body, bodies in the order of ``model.body_names``:
    mass m [kg], first moment m c [kg m], and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin of the
    body frame [kg m^2]. Passive torques are those of rotors, damping, friction and springs.
    Arguments and errors as of `inverse_dynamics`.
    """
    task = Task.about(model, state)
    task.give('acceleration', acceleration, model.m)
    return robot_of(model).regressor(task)


def inertial_parameters(model: TreeModel) -> Array:
    """Return the ten parameters of every body (10 nb,), see `inverse_dynamics_regressor`."""
    return parameters_of_inertias(model.tree.inertia).ravel()


def _vary(
    task: Task, free: BoolArray, variation: Variation, wrenches: External
) -> tuple[Array, Array]:
    """Return derivatives: of accelerations where free, else of forces (m,); of what is given."""
    model, robot = task.model, robot_of(task.model)
    accelerations, efforts = np.zeros((2, 6 + model.n))
    accelerations[6 + model.n - model.m :] = change(model, variation, 'acceleration', model.m)
    efforts[6:] = change(model, variation, 'efforts', model.n)
    given = np.where(free, efforts, accelerations)
    varied = vary(model, robot, task.states[0], variation, wrenches or ())
    arrays = *varied, task.given[0] + 1j * STEP * given
    if not all(np.isfinite(array).all() for array in arrays):
        raise task.failure(0, NOT_FINITE)
    with np.errstate(all='ignore'):
        found, status = robot.varied(*arrays, free)
    if status or not np.isfinite(found).all():
        raise task.failure(0, status or NOT_FINITE)
    return np.asarray(found.imag / STEP), given
