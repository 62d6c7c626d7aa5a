# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Contacts and loops at a state as rows A nu = 0, for `geolin_ros.dynamics.constraints`."""

from collections.abc import Sequence

import numpy as np

from geolin_ros.dynamics.constraints import Constraints
from geolin_ros.dynamics.kinematics import check_state
from geolin_ros.kernels.kinematics.jacobians import kinematics
from geolin_ros.kernels.packing.types import make_workspace
from geolin_ros.linearization.contacts.constraints import Constraint, Motion
from geolin_ros.linearization.contacts.description import Closure, wrench_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel


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
    workspace = make_workspace(model.tree)
    J, J_dot = np.zeros((2, len(model.body_names), 6 + model.n, 6))
    kinematics(model.tree, workspace, state.data, model.gravity, J, J_dot)
    motion = Motion(model, workspace, J)
    constraints = [Constraint(model, contact) for contact in active]
    pairs = [constraint.rows(*constraint.ends(motion)) for constraint in constraints]
    return Constraints(
        np.vstack([np.zeros((0, model.m)), *(rows for rows, _ in pairs)]),
        np.concatenate([np.zeros(0), *(bias for _, bias in pairs)]),
        tuple(label.name for label in wrench_labels(active)),
    )
