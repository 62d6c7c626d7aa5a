# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Accelerations and forces of a robot in contact, and contacts as rows A nu = 0.

[Featherstone 2008, chapter 8].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import about_state
from geolin_ros.dynamics.constraints import Constraints
from geolin_ros.dynamics.kinematics import check_state
from geolin_ros.linearization.contacts.constraints import Constraint, Motion
from geolin_ros.linearization.contacts.description import Closure, wrench_labels
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array


@about_state
def constrained_forward_dynamics(
    model: TreeModel,
    state: State,
    tau: ArrayLike,
    contacts: Sequence[Closure],
    wrenches: Sequence[Wrench] = (),
    length: float = 0.1,
) -> tuple[Array, Array]:
    """Return the accelerations and contact forces that joint efforts produce.

    Parameters
    ----------
    model, state, wrenches
        As in `dynamics.inverse_dynamics`.
    tau : (n,)
        Joint efforts [N m or N].
    contacts
        What constrains the robot; those that are not active do not.
    length
        What a torque is divided by to compare it with a force where contacts are redundant [m].

    Returns
    -------
    nu_dot : (m,)
        Base twist rate in base axes, then joint accelerations; fixed base: the latter alone.
    wrenches : (rows,)
        On the robot, 3 or 6 a contact, in axes of and about the contact frame [N, N m].

    Raises
    ------
    ShapeError, NotFiniteError, SingularInertiaError
        As `dynamics.forward_dynamics`.
    UnknownNameError, ConfigurationError
        If a contact does not fit the robot, see `Contact`.
    """
    found = Linearizer(model, contacts, length=length)(state, tau, wrenches=wrenches)
    return found.nu_dot.copy(), found.wrenches.copy()


def constraints_of(model: TreeModel, state: State, contacts: Sequence[Closure]) -> Constraints:
    """Return the rows of what holds a robot, and their bias with its feedback.

    [Kim 2012, Eqs. (54), (55)].

    Parameters
    ----------
    model, state
        The robot and where it is.
    contacts
        Contacts and loops; those that are not active have no rows.

    Returns
    -------
    Constraints
        3 or 6 rows a contact, in axes of the contact frame; multipliers are forces [N] and
        torques [N m] there.

    Raises
    ------
    UnknownNameError, ConfigurationError
        If a contact does not fit the robot, see `Contact`.
    ShapeError, NotFiniteError, InputError
        If the state does not fit the robot, see `kinematics.Kinematics`.
    """
    check_state(model, state)
    active = [contact for contact in contacts if contact.active]
    constraints, motion = [Constraint(model, contact) for contact in active], Motion(model, state)
    found = [constraint.rows(motion) for constraint in constraints]
    return Constraints(
        np.vstack([np.zeros((0, model.m)), *(rows.J for rows in found)]),
        np.concatenate([np.zeros(0), *(rows.c for rows in found)]),
        tuple(label.name for label in wrench_labels(active)),
    )
