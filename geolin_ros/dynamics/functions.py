# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse, forward and hybrid dynamics, mass matrix and bias force of a robot.

    M(s) nu_dot + h(H, s, v, r) = [base wrench; tau]

with nu_dot = [base twist rate; joint accelerations], m = 6 + n rows, those of the base in base
axes; m = n with a fixed base. h holds gravity, Coriolis and centrifugal forces, damping, friction
and springs, less what external wrenches do. All in O(n) recursions in body frames [Kim 2012,
section 2]; trees with mimic joints, whose M is that of the independent joints, by a dense
factorization where forces are given.

Functions answer about one `State`, or about many in one call: rows (N, 22 + n_s + n) of
`State.data` or N states, with the sample in front of all other arrays and results; external
wrenches are the same in every state. Errors are then about the first such sample, and ``threads``
says how many share the call; the results do not depend on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import about_state, about_states, truth
from geolin_ros.dynamics.samples import Robot, States, Task, robot_of
from geolin_ros.model.labels import state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import External
from geolin_ros.typing import Array, BoolArray

About = State | States
SMALL_SHARE = 1e-8
"""Below it half of the sixteen digits of a number are lost."""
SURE = 1e-10
"""Above it the inverse of a matrix has a digit of each share."""


@about_states
def inverse_dynamics(
    model: TreeModel,
    state: About,
    acceleration: ArrayLike,
    *,
    wrenches: External = (),
    threads: int = 1,
) -> Array:
    """Return the forces that produce an acceleration (RNEA).

    [Kim 2012, Table 2]; [Featherstone 2008], Table 5.1. Raises `ShapeError` if an array has not
    the size of the robot, `NotFiniteError` if an input holds NaN or inf.

    Parameters
    ----------
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
    """
    robot = robot_of(model)
    if robot.is_for_engine(state, wrenches):
        return robot.engine.inverse_dynamics(model, state, acceleration)
    task = Task.about(model, state, wrenches, threads)
    task.give('acceleration', acceleration, model.m)
    return task.of(robot.hybrid(task, np.zeros(6 + model.n, np.bool_)))


@about_state
def bias_force(model: TreeModel, state: State, *, wrenches: External = ()) -> Array:
    """Return h (m,), the forces that keep the acceleration zero: `inverse_dynamics` at zero.

    [Kim 2012, Eq. (32)].

    Gravity, Coriolis and centrifugal forces, damping, friction and springs, less the external
    wrenches. Arguments, units and errors as there, about one state.
    """
    return inverse_dynamics(model, state, np.zeros(model.m), wrenches=wrenches)


@about_states
def forward_dynamics(
    model: TreeModel, state: About, tau: ArrayLike, *, wrenches: External = (), threads: int = 1
) -> Array:
    """Return the acceleration (m,) that joint efforts (n,) produce (ABA).

    [Kim 2012, Table 3]; [Featherstone 2008], Table 7.1.

    No force acts on the base but external wrenches. Arguments, units and errors as of
    `inverse_dynamics`; `SingularInertiaError` if a joint has no inertia to move at this state.
    """
    robot = robot_of(model)
    if robot.is_for_engine(state, wrenches):
        return robot.engine.forward_dynamics(model, state, tau)
    task = Task.about(model, state, wrenches, threads)
    task.give('tau', tau, model.n)
    return task.of(robot.hybrid(task, all_free(model)))


@about_states
def hybrid_dynamics(
    model: TreeModel,
    state: About,
    acceleration: ArrayLike,
    tau: ArrayLike,
    prescribed: ArrayLike,
    *,
    wrenches: External = (),
    threads: int = 1,
) -> tuple[Array, Array]:
    """Return all accelerations and forces, given one of the two for each joint coordinate.

    [Kim 2012, Table 4]: with nothing prescribed forward dynamics, with everything inverse. Errors
    as of these; `InputError` if ``prescribed`` holds anything but truth values.

    Parameters
    ----------
    acceleration : (n,) or (6 + n,)
        Of joints, read where prescribed. With the base twist rate in base axes in front the base
        is prescribed too; else it moves freely.
    tau : (n,)
        Joint efforts [N m or N], read where not prescribed. With the base prescribed it may be
        (6 + n,), as returned; the base wrench is not read.
    prescribed : (n,)
        True where the acceleration of a joint coordinate is given, False where its effort is;
        the same in every state.

    Returns
    -------
    nu_dot : (m,)
        Base twist rate, then joint accelerations; fixed base: the latter alone.
    tau : (n,) or (6 + n,)
        Joint efforts; with the base prescribed the wrench that it takes [N, N m] comes first.
    """
    task = Task.about(model, state, wrenches, threads)
    problem = HybridProblem(task, acceleration, tau, prescribed)
    nu_dot, forces = problem.results(robot_of(model).hybrid(task, problem.free), task.given)
    return task.of(nu_dot), task.of(forces)


@about_states
def mass_matrix(model: TreeModel, state: About, *, threads: int = 1) -> Array:
    """Return M (m, m) by composite rigid bodies (CRBA), rotors included [kg, kg m, kg m^2].

    [Kim 2012, Eq. (32)]; [Featherstone 2008], Table 6.2. Errors as of `inverse_dynamics`.
    """
    robot = robot_of(model)
    if robot.is_for_engine(state):
        return robot.engine.mass_matrix(model, state)
    task = Task.about(model, state, threads=threads)
    return task.of(robot.mass_matrices(task))


@about_states
def mass_matrix_inverse(model: TreeModel, state: About, *, threads: int = 1) -> Array:
    """Return M^-1 (m, m) [1/kg, 1/(kg m), 1/(kg m^2)]; errors as of `forward_dynamics`."""
    task, by_given = Task.about(model, state, threads=threads), 2 * model.m + np.arange(model.m)
    return task.of(robot_of(model).derivatives(task, all_free(model), by_given))


class Conditioning(NamedTuple):
    """How near a mass matrix is to a singular one."""

    share: float
    """Smallest part of the inertia at a velocity that is left where all others are free."""
    velocity: str
    """The velocity that has it."""

    @property
    def warning(self) -> str:
        """What to think of it, as a sentence; empty if nothing is wrong."""
        if self.share >= SMALL_SHARE:
            return ''
        return (
            f'of the inertia at {self.velocity} only {self.share:.1e} is left where all others '
            f'are free, expected {SMALL_SHARE:.0e} or more: nu_dot, A and B lose '
            f'{-np.log10(self.share):.0f} of 16 digits; leave the posture, or give the links '
            'behind that joint, or its rotor, more inertia'
        )


@about_state
def conditioning(model: TreeModel, state: State) -> Conditioning:
    """Return how near the mass matrix M (m, m) is to a singular one.

    The share of velocity c is 1 / (M_cc (M^-1)_cc), whatever the units. Its inverse is at most the
    condition number of M, however rows and columns are scaled; with a diagonal of ones that number
    is at most m^2 times as large.

    Errors as of `mass_matrix_inverse`: one that names the joint if M is singular to working
    precision.
    """
    M = mass_matrix(model, state)
    scale = np.sqrt(M.diagonal())
    with np.errstate(divide='ignore', invalid='ignore'):
        try:
            shares = 1.0 / np.linalg.inv(M / np.outer(scale, scale)).diagonal()
        except np.linalg.LinAlgError:
            shares = np.zeros(model.m)
    if not np.all(shares > SURE):  # what is left may be rounding alone
        shares = 1.0 / (M.diagonal() * mass_matrix_inverse(model, state).diagonal())
    c = int(np.argmin(shares))
    return Conditioning(float(shares[c]), str(state_labels(model)[model.m + c]))


class Dynamics:
    """`inverse_dynamics`, `forward_dynamics` and `mass_matrix` in a workspace (one per thread).

    Arguments, units and errors are those of the functions.

    Examples
    --------
    >>> import numpy as np
    >>> from geolin_ros import Dynamics, TreeModel, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> Dynamics(model).mass_matrix(model.neutral_state()).shape
    (18, 18)
    """

    def __init__(self, model: TreeModel) -> None:
        self.model, self._robot = model, Robot(model)

    def inverse_dynamics(
        self, state: State, acceleration: ArrayLike, *, wrenches: External = ()
    ) -> Array:
        """Return the forces (m,) that produce an acceleration (m,)."""
        if self._robot.is_for_engine(state, wrenches):
            return self._robot.engine.inverse_dynamics(self.model, state, acceleration)
        return inverse_dynamics(self.model, state, acceleration, wrenches=wrenches)

    def forward_dynamics(self, state: State, tau: ArrayLike, *, wrenches: External = ()) -> Array:
        """Return the acceleration (m,) that efforts (n,) produce."""
        if self._robot.is_for_engine(state, wrenches):
            return self._robot.engine.forward_dynamics(self.model, state, tau)
        return forward_dynamics(self.model, state, tau, wrenches=wrenches)

    def mass_matrix(self, state: State) -> Array:
        """Return M (m, m)."""
        if self._robot.is_for_engine(state):
            return self._robot.engine.mass_matrix(self.model, state)
        return mass_matrix(self.model, state)


def all_free(model: TreeModel) -> BoolArray:
    """Return which velocities (6 + n,) move in forward dynamics: all but those of a fixed base."""
    return np.arange(6 + model.n) >= 6 + model.n - model.m


class HybridProblem:
    """What is given to `hybrid_dynamics`, checked and put into a task.

    ``free`` (6 + n,) velocities move under forces; ``moving`` and ``asked`` have results.
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
        rates, forces = np.zeros((2, task.count, 6 + n))
        name = 'acceleration of the joints' if first else 'acceleration'
        rates[:, first:] = task.take(name, acceleration, 6 + n - first)
        forces[:, 6:] = task.take('tau', tau, n)
        rates[:, self.free], forces[:, ~self.free] = 0.0, 0.0
        task.given = rates + forces
        task.inputs = {'the prescribed accelerations': rates, 'tau': forces}

    def results(self, found: Array, given: Array) -> tuple[Array, Array]:
        """Return accelerations and forces of what is found (..., m) and given (..., 6 + n)."""
        full = np.zeros_like(given)
        full[..., self.moving] = found
        nu_dot, forces = np.where(self.free, full, given), np.where(self.free, given, full)
        return nu_dot[..., self.moving], forces[..., self.asked]
