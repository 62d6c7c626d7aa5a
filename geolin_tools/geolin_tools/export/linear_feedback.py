# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains as a linear_feedback_controller_msgs/Control, for the controller of that name.

It computes feedforward + feedback_gain (x_desired - x_measured) with Pinocchio's difference,
log(q^-1 q_desired) for the base, which is -log(q_desired^-1 q): our -z, so that feedback_gain is
K itself. Its state is [base; joints; base twist; joint rates] as ours, with joints in its order.
Messages are filled without being imported.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from geolin_ros.control.lqr import Gains
from geolin_ros.errors import ConfigurationError
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.message_fields import write_pose, write_twist
from geolin_ros.typing import Array


def write_control(
    message: Any,
    model: TreeModel,
    gains: Gains,
    new_dimension: Any,
    new_contact: Any,
    joint_order: Sequence[str] | None = None,
) -> None:
    """Fill a linear_feedback_controller_msgs/Control with gains; its headers are left alone.

    Parameters
    ----------
    gains
        Without actuation delay.
    new_dimension, new_contact
        Classes std_msgs/MultiArrayDimension and linear_feedback_controller_msgs/Contact.
    joint_order
        Joints of the controller, ``moving_joint_names`` in the order of its model; by default
        those of the robot.

    Raises
    ------
    ConfigurationError
        If the gains need past inputs, for which the message has no place, or some of the robot's
        joints are not actuated or not the controller's.
    UnknownNameError
        If the controller has a joint that the robot has not.
    """
    names = list(model.joint_names if joint_order is None else joint_order)
    order = np.array([model.joint_index(name) for name in names], dtype=np.int64)
    if sorted(names) != sorted(model.joint_names) or model.actuated_joints != model.joint_names:
        raise ConfigurationError(
            f'the controller moves {len(names)} joints, robot {model.name!r} has {model.n}, '
            f'{len(model.actuated_joints)} of them actuated, expected the same joints, all '
            'actuated in their order; lock joints that the controller does not move'
        )
    if gains.K_past.size or model.n_s != model.n:
        raise ConfigurationError(
            f'gains of robot {model.name!r} act on past inputs or joints with several axes, for '
            'which linear_feedback_controller_msgs/Control has no place; design with delay=0'
        )
    velocities = np.concatenate((np.arange(6), 6 + order))
    columns = np.concatenate((velocities, model.m + velocities))
    K = (gains.K + gains.K_complement)[np.ix_(order, columns)]
    _write_matrix(message.feedback_gain, K, new_dimension)
    _write_matrix(message.feedforward, gains.feedforward[order][:, None], new_dimension)
    start, state = message.initial_state, gains.state
    write_pose(start.base_pose, state.H)
    write_twist(start.base_twist, state.v)
    start.joint_state.name = names
    start.joint_state.position = state.s[order].tolist()
    start.joint_state.velocity = state.r[order].tolist()
    start.joint_state.effort = gains.feedforward[order].tolist()
    contacts = []
    for support in gains.supports:
        contact = new_contact()
        contact.active, contact.name = True, support.frame
        contacts.append(contact)
    start.contacts = contacts


def _write_matrix(message: Any, matrix: Array, new_dimension: Any) -> None:
    rows, columns = new_dimension(), new_dimension()
    rows.label, rows.size, rows.stride = 'rows', matrix.shape[0], matrix.size
    columns.label, columns.size, columns.stride = 'cols', matrix.shape[1], matrix.shape[1]
    message.layout.dim, message.layout.data_offset = [rows, columns], 0
    message.data = matrix.ravel().tolist()
