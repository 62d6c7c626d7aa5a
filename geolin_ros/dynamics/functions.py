# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse, forward and hybrid dynamics, mass matrix and bias force of a robot.

    M(s) nu_dot + h(H, s, v, r) = [base wrench; tau]

with nu_dot = [base twist rate; joint accelerations], m = 6 + n rows, those of the base in base
axes; m = n with a fixed base. h holds gravity, Coriolis
and centrifugal forces, damping, friction and springs, less what external wrenches do. All in
O(n) recursions in body frames [Kim 2012, section 2]; trees with mimic joints, whose M is that of
the independent joints, by a dense factorization where forces are given.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.about_state import about_state
from geolin_ros.dynamics.arguments import truth, vector, with_base
from geolin_ros.dynamics.samples import Robot, one, robot_of
from geolin_ros.errors import ShapeError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array, BoolArray, IntArray


@about_state
def inverse_dynamics(
    model: TreeModel,
    state: State,
    acceleration: ArrayLike,
    wrenches: Sequence[Wrench] | None = None,
) -> Array:
    """Return the forces that produce an acceleration (RNEA).

    Parameters
    ----------
    model
        The robot.
    state
        Where it is.
    acceleration : (m,)
        Base twist rate in base axes [m/s^2, rad/s^2], then joint accelerations; fixed base: the
        latter alone.
    wrenches
        External wrenches on links.

    Returns
    -------
    (m,)
        Wrench on the base in base axes [N, N m], then joint efforts [N m or N]; fixed base: the
        latter alone.

    Raises
    ------
    ShapeError
        If an array has not the size of the robot.
    NotFiniteError
        If an input holds NaN or inf.

    References
    ----------
    [Kim 2012, Table 2]; [Featherstone 2008], Table 5.1.

    Examples
    --------
    >>> from geolin_ros import TreeModel, inverse_dynamics, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> weight = inverse_dynamics(model, model.neutral_state(), np.zeros(model.m))[2]
    >>> bool(np.isclose(weight, 9.81 * model.total_mass))
    True
    """
    robot = robot_of(model)
    if robot.engine is not None and not wrenches:
        return robot.engine.inverse_dynamics(model, state, acceleration).copy()
    nu_dot = with_base(model, vector('acceleration', acceleration, model.m, model.name))
    found: Array = robot.inverse(one(model, state, nu_dot, wrenches, {'acceleration': nu_dot}))[0]
    return found


@about_state
def bias_force(model: TreeModel, state: State, wrenches: Sequence[Wrench] | None = None) -> Array:
    """Return h (m,), the forces that keep the acceleration zero: `inverse_dynamics` at zero.

    [Kim 2012, Eq. (32)].

    Gravity, Coriolis and centrifugal forces, damping, friction and springs, less the external
    wrenches. Arguments, units and errors as in `inverse_dynamics`.
    """
    return inverse_dynamics(model, state, np.zeros(model.m), wrenches)


@about_state
def forward_dynamics(
    model: TreeModel, state: State, tau: ArrayLike, wrenches: Sequence[Wrench] | None = None
) -> Array:
    """Return the acceleration that joint efforts produce (ABA).

    Parameters
    ----------
    model, state, wrenches
        As in `inverse_dynamics`.
    tau : (n,)
        Joint efforts [N m or N]; no force acts on the base but external wrenches.

    Returns
    -------
    (m,)
        Base twist rate in base axes, then joint accelerations; fixed base: the latter alone.

    Raises
    ------
    ShapeError, NotFiniteError
        As in `inverse_dynamics`.
    SingularInertiaError
        If a joint has no inertia to move at this state.

    References
    ----------
    [Kim 2012, Table 3]; [Featherstone 2008], Table 7.1.
    """
    robot = robot_of(model)
    if robot.engine is not None and not wrenches:
        return robot.engine.forward_dynamics(model, state, tau).copy()
    nothing = np.zeros(model.n, dtype=np.bool_)
    return hybrid_dynamics(model, state, np.zeros(model.n), tau, nothing, wrenches=wrenches)[0]


@about_state
def hybrid_dynamics(
    model: TreeModel,
    state: State,
    acceleration: ArrayLike,
    tau: ArrayLike,
    prescribed: ArrayLike,
    wrenches: Sequence[Wrench] | None = None,
) -> tuple[Array, Array]:
    """Return all accelerations and forces, given one of the two for each joint coordinate.

    Parameters
    ----------
    model, state, wrenches
        As in `inverse_dynamics`.
    acceleration : (n,) or (6 + n,)
        Of joints, read where prescribed. With the base twist rate in base axes in front the base
        is prescribed too; else it moves freely.
    tau : (n,)
        Joint efforts [N m or N], read where not prescribed. With the base prescribed it may be
        (6 + n,), as returned; the base wrench is not read.
    prescribed : (n,)
        True where the acceleration of a joint coordinate is given, False where its effort is.

    Returns
    -------
    nu_dot : (m,)
        Base twist rate, then joint accelerations; fixed base: the latter alone.
    tau : (n,) or (6 + n,)
        Joint efforts; with the base prescribed the wrench that it takes [N, N m] comes first.

    Raises
    ------
    ShapeError, NotFiniteError
        As in `inverse_dynamics`.
    InputError
        If ``prescribed`` holds anything but truth values.
    SingularInertiaError
        If a joint that is not prescribed has no inertia to move at this state.

    References
    ----------
    [Kim 2012, Table 4]: with nothing prescribed forward dynamics, with everything inverse.
    """
    problem = HybridProblem(model, acceleration, tau, prescribed)
    task = one(model, state, problem.nu_dot + problem.tau, wrenches, problem.inputs)
    return problem.solved(robot_of(model).hybrid(task, problem.free)[0])


@about_state
def mass_matrix(model: TreeModel, state: State) -> Array:
    """Return M (m, m) by composite rigid bodies (CRBA), rotors included [kg, kg m, kg m^2].

    [Kim 2012, Eq. (32)].

    Raises
    ------
    ShapeError, NotFiniteError
        As in `inverse_dynamics`.

    References
    ----------
    [Featherstone 2008], Table 6.2.
    """
    robot = robot_of(model)
    if robot.engine is not None:
        return robot.engine.mass_matrix(model, state).copy()
    found: Array = robot.mass_matrices(one(model, state, np.zeros(6 + model.n), (), {}))[0]
    return found


@about_state
def mass_matrix_inverse(model: TreeModel, state: State) -> Array:
    """Return M^-1 (m, m).

    Raises
    ------
    ShapeError, NotFiniteError
        As in `inverse_dynamics`.
    SingularInertiaError
        If a joint has no inertia to move at this state.
    """
    task = one(model, state, np.zeros(6 + model.n), (), {})
    found: Array = robot_of(model).derivatives(task, all_free(model), by_given(model))[0]
    return found


class Dynamics:
    """`inverse_dynamics`, `forward_dynamics` and `mass_matrix` in a workspace (one per thread).

    Arguments, units and errors are those of the functions.

    Parameters
    ----------
    model
        The robot.

    Examples
    --------
    >>> import numpy as np
    >>> from geolin_ros import Dynamics, TreeModel, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> Dynamics(model).mass_matrix(model.neutral_state()).shape
    (18, 18)
    """

    def __init__(self, model: TreeModel) -> None:
        self.model, self._engine = model, Robot(model).engine

    def inverse_dynamics(
        self, state: State, acceleration: ArrayLike, wrenches: Sequence[Wrench] = ()
    ) -> Array:
        """Return the forces (m,) that produce an acceleration (m,), valid until the next call."""
        if self._engine is not None and not wrenches:
            return self._engine.inverse_dynamics(self.model, state, acceleration)
        return inverse_dynamics(self.model, state, acceleration, wrenches)

    def forward_dynamics(
        self, state: State, tau: ArrayLike, wrenches: Sequence[Wrench] = ()
    ) -> Array:
        """Return the acceleration (m,) that efforts (n,) produce, valid until the next call."""
        if self._engine is not None and not wrenches:
            return self._engine.forward_dynamics(self.model, state, tau)
        return forward_dynamics(self.model, state, tau, wrenches)

    def mass_matrix(self, state: State) -> Array:
        """Return M (m, m), valid until the next call."""
        if self._engine is not None:
            return self._engine.mass_matrix(self.model, state)
        return mass_matrix(self.model, state)


def all_free(model: TreeModel) -> BoolArray:
    """Return which velocities (6 + n,) move in forward dynamics: all but those of a fixed base."""
    free = np.ones(6 + model.n, dtype=np.bool_)
    free[: 6 + model.n - model.m] = False
    return free


def by_given(model: TreeModel) -> IntArray:
    """Return the columns (m,) of a derivative by what is given."""
    return 2 * model.m + np.arange(model.m)


class HybridProblem:
    """Arguments of `hybrid_dynamics`, checked, as kernels want them: (6 + n,) with the base.

    Attributes
    ----------
    free
        Which velocities move under forces; those of a fixed base do not.
    nu_dot, tau
        Given entries, zero elsewhere.
    """

    def __init__(
        self, model: TreeModel, acceleration: ArrayLike, tau: ArrayLike, prescribed: ArrayLike
    ) -> None:
        n, floating = model.n, model.base == 'floating'
        mask = truth('prescribed', prescribed, model)
        given = np.asarray(acceleration, dtype=np.float64)
        moves_base = floating and given.shape == (6 + n,)
        if given.shape != (n,) and not moves_base:
            raise ShapeError(
                f'acceleration has shape {given.shape}, expected ({n},), that of joints'
                f'{f", or ({6 + n},) with the base in front," * floating} for robot '
                f'{model.name!r}'
            )
        first = 0 if moves_base else 6
        self._first_nu_dot, self._first_tau = 0 if floating else 6, first
        self.free: BoolArray = np.empty(6 + n, dtype=np.bool_)
        self.free[:6] = floating and not moves_base
        self.free[6:] = ~mask
        self.nu_dot, self.tau = np.zeros(6 + n), np.zeros(6 + n)
        self.nu_dot[first:] = given
        if moves_base and np.shape(tau) == (6 + n,):
            tau = np.asarray(tau)[6:]
        self.tau[6:] = vector('tau', tau, n, model.name)
        self.nu_dot[self.free], self.tau[~self.free] = 0.0, 0.0
        self.inputs = {'the prescribed accelerations': self.nu_dot.copy(), 'tau': self.tau.copy()}

    def solved(self, found: Array) -> tuple[Array, Array]:
        """Return all accelerations and forces, given what was found of them, (m,)."""
        full = np.zeros_like(self.tau)
        full[full.size - found.size :] = found
        return self.own(
            np.where(self.free, full, self.nu_dot), np.where(self.free, self.tau, full)
        )

    def own(self, nu_dot: Array, tau: Array) -> tuple[Array, Array]:
        """Return accelerations and forces, or rows of both, without those not asked for."""
        return nu_dot[self._first_nu_dot :], tau[self._first_tau :]
