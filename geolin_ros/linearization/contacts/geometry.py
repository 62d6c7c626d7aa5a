# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What contacts and loops admit at a state: their Jacobian, and how it changes."""

from collections.abc import Sequence

import numpy as np

from geolin_ros.dynamics.functions import mass_matrix
from geolin_ros.kernels.packing.types import make_workspace
from geolin_ros.kernels.recursions.inverse_dynamics_derivatives import differentiate_motion
from geolin_ros.kernels.recursions.jacobians import kinematics
from geolin_ros.linearization.contacts.constraints import Constraint, Motion
from geolin_ros.linearization.result import Geometry
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array


def geometry_of(model: TreeModel, constraints: Sequence[Constraint], state: State) -> Geometry:
    """Return what the constraints admit at a state."""
    return Geometry(*rows_at(model, constraints, state), mass_matrix(model, state))


def rows_at(
    model: TreeModel, constraints: Sequence[Constraint], state: State
) -> tuple[Array, Array]:
    """Return J (rows, m), and the derivative (rows, 2 m) of J nu by z."""
    tree, workspace = model.tree, make_workspace(model.tree)
    J, J_dot = np.zeros((2, len(model.body_names), 6 + model.n, 6))
    kinematics(tree, workspace, state.data, model.gravity, J, J_dot)
    differentiate_motion(tree, workspace, workspace.x, workspace.nu_dot)
    motion = Motion(model, workspace, J)
    rows, changes = [np.zeros((0, model.m))], [np.zeros((0, 2 * model.m))]
    for constraint in constraints:
        ends = constraint.ends(motion)
        rows.append(constraint.rows(*ends)[0])
        changes.append(constraint.differentiate(*ends, *constraint.changes(motion, ends))[1])
    return np.vstack(rows), np.vstack(changes)
