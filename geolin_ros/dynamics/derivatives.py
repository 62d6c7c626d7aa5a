# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of inverse, forward and hybrid dynamics [Kim 2012, section 4].

By one scalar p that may move everything at once (`Variation`), in O(n): the dynamics themselves on
complex numbers, whose imaginary parts carry the derivative [Squire 1998]; by the whole state and
the inputs; and by the inertial parameters of every body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import about_state, about_states, vector
from geolin_ros.dynamics.functions import About, HybridProblem, all_free
from geolin_ros.dynamics.samples import Task, robot_of
from geolin_ros.dynamics.variation import STEP, Varied, parameters_of_inertias
from geolin_ros.errors import NotFiniteError
from geolin_ros.kernels.packing import layout
from geolin_ros.kernels.status import NOT_FINITE
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array, BoolArray


@dataclass(frozen=True)
class Variation:
    """Derivatives of the data of a problem by a scalar p; what is left out does not depend on p.

    [Kim 2012, Eq. (92)].

    Attributes
    ----------
    pose : (6,)
        Of the base: H exp(p z), a twist in base axes [m, rad].
    positions : (n,)
        Of the joints; of a spherical, planar or inner floating joint a displacement in the axes
        of the moved link, as in `State.retract`.
    twist : (6,)
        Of the base twist.
    rates : (n,)
        Of the joint rates.
    acceleration : (m,)
        Of the accelerations that are given: all in inverse dynamics, the prescribed ones in
        hybrid dynamics; others are not read.
    efforts : (n,)
        Of the joint efforts that are given; others are not read.
    wrenches : (number of wrenches, 6)
        Of [force; moment] of each external wrench, in the axes of its kind.
    inertias
        By link: of its spatial inertia about the link frame, in link axes (6, 6), or of its ten
        parameters (10,), see `inverse_dynamics_regressor`.
    placements
        By joint: of the pose of the joint frame, a twist in its own axes (6,) [m, rad]
        (kinematic calibration).
    subspaces
        By joint: of its unit twist [linear; angular] in the joint frame (6,), for several axes
        those of its factors (rates, 6); the rate dS/dt follows. By the pitch of a helical joint
        (a; 0); by a turn w of an axis (pitch w x a; w x a). Not for spherical, se2 and floating
        joints, which have no axes.
    passive
        By joint: by name, of ``armature`` (gear_ratio^2 rotor_inertia), ``damping``, ``friction``,
        ``friction_speed``, ``stiffness``, ``rest``, as of a `Joint`.
    gravity : (3,)
        In world axes.
    """

    pose: ArrayLike | None = None
    positions: ArrayLike | None = None
    twist: ArrayLike | None = None
    rates: ArrayLike | None = None
    acceleration: ArrayLike | None = None
    efforts: ArrayLike | None = None
    wrenches: ArrayLike | None = None
    inertias: Mapping[str, ArrayLike] = field(default_factory=dict)
    placements: Mapping[str, ArrayLike] = field(default_factory=dict)
    subspaces: Mapping[str, ArrayLike] = field(default_factory=dict)
    passive: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    gravity: ArrayLike | None = None


@about_state
def inverse_dynamics_variation(
    model: TreeModel,
    state: State,
    acceleration: ArrayLike,
    variation: Variation,
    wrenches: Sequence[Wrench] | None = None,
) -> Array:
    """Return the derivative (m,) of `inverse_dynamics` by the scalar of a variation.

    [Kim 2012, Table 5].

    Errors as there, `ShapeError` also for an array of the variation; `UnknownNameError` if it
    names a joint or link that the robot does not have.
    """
    task = Task.about(model, state, wrenches)
    task.give('acceleration', acceleration, model.m)
    return _vary(task, np.zeros(6 + model.n, dtype=np.bool_), variation, wrenches)


@about_state
def forward_dynamics_variation(
    model: TreeModel,
    state: State,
    tau: ArrayLike,
    variation: Variation,
    wrenches: Sequence[Wrench] | None = None,
) -> Array:
    """Return the derivative (m,) of `forward_dynamics` by the scalar of a variation.

    [Kim 2012, Table 6]. Errors as there and of `inverse_dynamics_variation`.
    """
    nothing, zeros = np.zeros(model.n, dtype=np.bool_), np.zeros(model.n)
    return hybrid_dynamics_variation(model, state, zeros, tau, nothing, variation, wrenches)[0]


@about_state
def hybrid_dynamics_variation(
    model: TreeModel,
    state: State,
    acceleration: ArrayLike,
    tau: ArrayLike,
    prescribed: ArrayLike,
    variation: Variation,
    wrenches: Sequence[Wrench] | None = None,
) -> tuple[Array, Array]:
    """Return the derivatives of both results of `hybrid_dynamics` by the scalar of a variation.

    [Kim 2012, Table 7]. Errors as there and of `inverse_dynamics_variation`.
    """
    task = Task.about(model, state, wrenches)
    problem = HybridProblem(task, acceleration, tau, prescribed)
    full, free = np.zeros(6 + model.n), problem.free
    full[problem.moving] = _vary(task, free, variation, wrenches)
    given = _given(model, variation, free)
    nu_dot, forces = np.where(free, full, given), np.where(free, given, full)
    return nu_dot[problem.moving], forces[problem.asked]


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
    wrenches: Sequence[Wrench] | None = None,
    threads: int = 1,
) -> InverseDynamicsDerivatives:
    """Return all derivatives of `inverse_dynamics` by the state, errors as there; by nu_dot: M."""
    task, nothing = Task.about(model, state, wrenches, threads), np.zeros(6 + model.n, np.bool_)
    task.give('acceleration', acceleration, model.m)
    D = robot_of(model).derivatives(task, nothing, np.arange(2 * model.m))
    return InverseDynamicsDerivatives(*map(task.of, _blocks(model, D)))


@about_states
def forward_dynamics_derivatives(
    model: TreeModel,
    state: About,
    tau: ArrayLike,
    wrenches: Sequence[Wrench] | None = None,
    threads: int = 1,
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
    wrenches: Sequence[Wrench] | None = None,
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
    Y: Array = robot_of(model).regressors(task)[0]
    return Y


def inertial_parameters(model: TreeModel) -> Array:
    """Return the ten parameters of every body (10 nb,), see `inverse_dynamics_regressor`."""
    return parameters_of_inertias(model.tree.inertia).ravel()


def _given(model: TreeModel, variation: Variation, free: BoolArray) -> Array:
    """Return the derivative (6 + n,) of what is given."""
    accelerations, efforts = np.zeros((2, 6 + model.n))
    accelerations[6 + model.n - model.m :] = _field(model, variation, 'acceleration', model.m)
    efforts[6:] = _field(model, variation, 'efforts', model.n)
    return np.where(free, efforts, accelerations)


def _vary(
    task: Task, free: BoolArray, variation: Variation, wrenches: Sequence[Wrench] | None
) -> Array:
    """Return the derivative (m,) of accelerations where free, else of forces."""
    model, robot = task.model, robot_of(task.model)
    varied = Varied(model, robot, task.states[0], tuple(wrenches or ()))
    sizes = {'pose': 6, 'positions': model.n, 'twist': 6, 'rates': model.n}
    varied.move(*(_field(model, variation, name, size) for name, size in sizes.items()))
    gravity = _field(model, variation, 'gravity', 3)
    varied.floats[layout.GRAVITY : layout.GRAVITY + 3] += 1j * STEP * gravity
    varied.weigh(variation.inertias)
    varied.stiffen(variation.passive)
    varied.load(variation.wrenches)
    varied.shift(variation.placements)
    varied.turn(variation.subspaces)
    given = task.given[0] + 1j * STEP * _given(model, variation, free)
    arrays = varied.floats, varied.wrenches, varied.x, given
    if not all(np.isfinite(array).all() for array in arrays):
        raise task.failure(0, NOT_FINITE)
    with np.errstate(all='ignore'):
        found, status = robot.varied(arrays, free)
    if status or not np.isfinite(found).all():
        raise task.failure(0, status or NOT_FINITE)
    return np.asarray(found.imag / STEP)


def _field(model: TreeModel, variation: Variation, name: str, size: int) -> Array:
    values = getattr(variation, name)
    if values is None:
        return np.zeros(size)
    found = vector(f'variation of {name}', values, size, model.name)
    if not np.isfinite(found).all():
        raise NotFiniteError(f'variation of {name} is {found.tolist()}, expected finite numbers')
    return found
