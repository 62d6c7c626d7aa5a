# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse, forward and hybrid dynamics, mass matrix and bias force of a robot.

    M(s) nu_dot + h(H, s, v, r) = [base wrench; tau]

with nu_dot = [base twist rate; joint accelerations], m = 6 + n rows, those of the base in base
axes; m = n with a fixed base. h holds gravity, Coriolis and centrifugal forces, damping, friction
and springs, less what external wrenches do. All in O(n) recursions in body frames [Kim 2012,
section 2]; trees with mimic joints, whose M is that of the independent joints, by a dense
factorization where forces are given. ``model`` and ``state``: the robot, and where it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics import batch
from geolin_ros.dynamics.arguments import about_state
from geolin_ros.dynamics.samples import Robot, robot_of
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array


@about_state
def inverse_dynamics(
    model: TreeModel,
    state: State,
    acceleration: ArrayLike,
    wrenches: Sequence[Wrench] | None = None,
) -> Array:
    """Return the forces that produce an acceleration (RNEA).

    [Kim 2012, Table 2]; [Featherstone 2008], Table 5.1.

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

    Raises
    ------
    ShapeError
        If an array has not the size of the robot.
    NotFiniteError
        If an input holds NaN or inf.

    Examples
    --------
    >>> from geolin_ros import TreeModel, inverse_dynamics, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> weight = inverse_dynamics(model, model.neutral_state(), np.zeros(model.m))[2]
    >>> bool(np.isclose(weight, 9.81 * model.total_mass))
    True
    """
    engine = robot_of(model).engine
    if engine is not None and not wrenches:
        return engine.inverse_dynamics(model, state, acceleration).copy()
    found: Array = batch.inverse_dynamics(model, state, acceleration, wrenches)[0]
    return found


@about_state
def bias_force(model: TreeModel, state: State, wrenches: Sequence[Wrench] | None = None) -> Array:
    """Return h (m,), the forces that keep the acceleration zero: `inverse_dynamics` at zero.

    [Kim 2012, Eq. (32)].

    Gravity, Coriolis and centrifugal forces, damping, friction and springs, less the external
    wrenches. Arguments, units and errors as there.
    """
    return inverse_dynamics(model, state, np.zeros(model.m), wrenches)


@about_state
def forward_dynamics(
    model: TreeModel, state: State, tau: ArrayLike, wrenches: Sequence[Wrench] | None = None
) -> Array:
    """Return the acceleration (m,) that joint efforts (n,) produce (ABA).

    [Kim 2012, Table 3]; [Featherstone 2008], Table 7.1.

    No force acts on the base but external wrenches. Arguments, units and errors as of
    `inverse_dynamics`; `SingularInertiaError` if a joint has no inertia to move at this state.
    """
    engine = robot_of(model).engine
    if engine is not None and not wrenches:
        return engine.forward_dynamics(model, state, tau).copy()
    found: Array = batch.forward_dynamics(model, state, tau, wrenches)[0]
    return found


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

    [Kim 2012, Table 4]: with nothing prescribed forward dynamics, with everything inverse.

    Parameters
    ----------
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
        As `inverse_dynamics`.
    InputError
        If ``prescribed`` holds anything but truth values.
    SingularInertiaError
        If a joint that is not prescribed has no inertia to move at this state.
    """
    given = acceleration, tau, prescribed
    (nu_dot,), (efforts,) = batch.hybrid_dynamics(model, state, *given, wrenches)
    return nu_dot, efforts


@about_state
def mass_matrix(model: TreeModel, state: State) -> Array:
    """Return M (m, m) by composite rigid bodies (CRBA), rotors included [kg, kg m, kg m^2].

    [Kim 2012, Eq. (32)]; [Featherstone 2008], Table 6.2. Errors as of `inverse_dynamics`.
    """
    engine = robot_of(model).engine
    if engine is not None:
        return engine.mass_matrix(model, state).copy()
    found: Array = batch.mass_matrix(model, state)[0]
    return found


@about_state
def mass_matrix_inverse(model: TreeModel, state: State) -> Array:
    """Return M^-1 (m, m); errors as of `forward_dynamics`."""
    found: Array = batch.mass_matrix_inverse(model, state)[0]
    return found


class Dynamics:
    """`inverse_dynamics`, `forward_dynamics` and `mass_matrix` in a workspace (one per thread).

    Arguments, units and errors are those of the functions; results are valid until the next call.

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
        """Return the forces (m,) that produce an acceleration (m,)."""
        if self._engine is not None and not wrenches:
            return self._engine.inverse_dynamics(self.model, state, acceleration)
        return inverse_dynamics(self.model, state, acceleration, wrenches)

    def forward_dynamics(
        self, state: State, tau: ArrayLike, wrenches: Sequence[Wrench] = ()
    ) -> Array:
        """Return the acceleration (m,) that efforts (n,) produce."""
        if self._engine is not None and not wrenches:
            return self._engine.forward_dynamics(self.model, state, tau)
        return forward_dynamics(self.model, state, tau, wrenches)

    def mass_matrix(self, state: State) -> Array:
        """Return M (m, m)."""
        if self._engine is not None:
            return self._engine.mass_matrix(self.model, state)
        return mass_matrix(self.model, state)
