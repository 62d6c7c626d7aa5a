# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What contacts and loops admit at a state: their Jacobian, and how it changes."""

from collections.abc import Sequence

import numpy as np

from geolin_ros.dynamics.functions import mass_matrix
from geolin_ros.kernels.packing import contact_layout, layout
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


def rows_left(
    model: TreeModel, contacts: contact_layout.Contacts, workspace: Array, state: State
) -> tuple[Array, Array] | None:
    """Return what `rows_at` does, of what the engine, which was last there, has left behind.

    The engine may have been there with other velocities. None for joints of several turns, whose
    axes are no coordinates, and for loops that move.
    """
    packed, table = model.packed, contact_layout.site_table(contacts)
    loops, velocity = table[:, contact_layout.LOOP], np.concatenate((state.v, state.r))
    if packed is None or packed.groups or (loops.any() and velocity.any()):
        return None
    n, mimics = int(packed.ints[layout.NB]) - 1, packed.mimics
    T = None
    if not np.array_equal(mimics.leaders, np.arange(1, n + 1)):  # other joints, or another order
        bodies = packed.ints[layout.INT_HEADER :][: (1 + n) * layout.BODY_INTS]
        joints = bodies.reshape(1 + n, -1)[1:, layout.COORDINATE]
        T = np.zeros((6 + n, 6 + model.n))
        T[:6, :6] = np.eye(6)
        T[6 + np.arange(n), 6 + mimics.masters[joints]] = mimics.rule[0, joints]
        velocity = T @ velocity
    J, by_position = contact_layout.rows_of(contacts, workspace, velocity)
    if loops.any():
        D = contact_layout.differences(table[:, contact_layout.WIDTH], loops)
        J, by_position = D @ J, D @ by_position
    if T is not None:
        J, by_position = J @ T, by_position @ T
    first = 6 + model.n - model.m
    return J[:, first:], np.hstack((by_position[:, first:], J[:, first:]))


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
