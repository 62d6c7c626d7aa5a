# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Given accelerations instead of efforts: do they fit, and A and B about them.

Accelerations nu_dot = (a_0; rdot) of a floating base need a base wrench tau_b that nothing
provides, unless they are consistent: tau_b = 0 [Bos 2022, Definition 3.1]. Measured ones never
quite are. Either the base acceleration is replaced by the consistent one (third remark of Table
4), or tau_b is kept, constant in base axes, and A and B are those of the robot under this wrench.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.functions import inverse_dynamics, mass_matrix
from geolin_ros.dynamics.kinematics import check_state
from geolin_ros.errors import ConfigurationError, NotFiniteError, ShapeError
from geolin_ros.linearization.about import Reference
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.result import Linearization
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array


class Effort(NamedTuple):
    """What a motion takes: M nu_dot + h - sum of J' f = [base_wrench; tau]."""

    nu_dot: Array
    """(6 + n,) base acceleration in base axes, joint accelerations."""
    base_wrench: Array
    """(6,) tau_b in base axes [N, N m]; zero if the motion is consistent."""
    tau: Array
    """(n,) joint efforts [N m or N]."""


def required_effort(
    model: TreeModel,
    state: State,
    joint_acceleration: ArrayLike,
    base_acceleration: ArrayLike | None = None,
    wrenches: Sequence[Wrench] = (),
) -> Effort:
    """Return base wrench and efforts that a motion takes.

    Parameters
    ----------
    model
        Robot with a floating base.
    state
        Where.
    joint_acceleration : (n,)
        rdot [rad/s^2 or m/s^2].
    base_acceleration : (6,), optional
        a_0 = d/dt of the base's body twist [m/s^2, rad/s^2]. Without it the consistent one,
        a_0 = -M_11^-1 tau_b(a_0 = 0), which leaves no base wrench.
    wrenches
        External wrenches on links.

    Raises
    ------
    ConfigurationError
        If the base is fixed: it has no acceleration to be consistent.
    ShapeError
        If an array does not match the model.
    NotFiniteError
        If an input holds NaN or inf.

    References
    ----------
    [Bos 2022, Eq. (39), Definition 3.1, third remark of Table 4].
    """
    if model.base == 'fixed':
        raise ConfigurationError(
            f'robot {model.name!r} has a fixed base, expected a floating one: only then can '
            'accelerations be inconsistent'
        )
    check_state(model, state)
    nu_dot = np.zeros(6 + model.n)
    nu_dot[6:] = _numbers('joint_acceleration', joint_acceleration, model.n)
    if base_acceleration is not None:
        nu_dot[:6] = _numbers('base_acceleration', base_acceleration, 6)
    taubar = inverse_dynamics(model, state, nu_dot, wrenches=wrenches)
    if base_acceleration is None:
        nu_dot[:6] = -np.linalg.solve(mass_matrix(model, state)[:6, :6], taubar[:6])
        taubar = inverse_dynamics(model, state, nu_dot, wrenches=wrenches)
    return Effort(nu_dot, taubar[:6], taubar[6:])


def linearize_motion(
    linearizer: Linearizer,
    state: State,
    joint_acceleration: ArrayLike,
    base_acceleration: ArrayLike | None = None,
    reference: Reference = 'moving',
    wrenches: Sequence[Wrench] = (),
) -> Linearization:
    """Return A and B about a state and its accelerations, efforts as `required_effort` says.

    With an inconsistent ``base_acceleration`` the base wrench that it takes acts too, constant in
    base axes; ``nu_dot`` of the result is the given motion either way.

    Parameters
    ----------
    linearizer
        Of a robot with a floating base.
    state, joint_acceleration, base_acceleration, wrenches
        See `required_effort`.
    reference
        See `Linearization`.

    Returns
    -------
    Linearization
        Of the linearizer.

    Raises
    ------
    ConfigurationError, ShapeError, NotFiniteError, SingularInertiaError
        As `required_effort` and `Linearizer`.
    """
    model = linearizer.model
    effort = required_effort(model, state, joint_acceleration, base_acceleration, wrenches)
    if base_acceleration is not None:
        f = effort.base_wrench
        wrenches = (*wrenches, Wrench(model.base_link, f[:3], f[3:]))
    L = linearizer(state, effort.tau, wrenches=wrenches)
    return L if reference == 'moving' else L.frozen()


def _numbers(name: str, value: ArrayLike, size: int) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.shape != (size,):
        raise ShapeError(f'{name} has shape {array.shape}, expected ({size},)')
    if not np.isfinite(array).all():
        raise NotFiniteError(f'{name} is {array.tolist()}, expected finite numbers')
    return array
