# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A contact from and into geolin_msgs/ContactState."""

import dataclasses
from typing import Any

import numpy as np

from geolin_ros.errors import InputError
from geolin_ros.linearization.contacts import Contact, ContactKind, Loop
from geolin_ros.linearization.contacts.constraints import Constraint
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.message_fields import pose_numbers, read_pose, word_of, write_pose
from geolin_ros.typing import Array

KINDS: dict[ContactKind, int] = {'point': 1, 'surface': 2}


def write_contact(message: Any, contact: Closure, model: TreeModel) -> None:
    """Write a contact of a robot into an empty geolin_msgs/ContactState; its wrench stays."""
    placement, reference = None, contact.reference
    if isinstance(contact, Contact):
        message.frame, placement = contact.frame, contact.placement
    else:
        message.frame, message.partner_frame = contact.frame_a, contact.frame_b
        message.partner_link = _link(model, contact.frame_b)
        reference = np.eye(4) if reference is None else reference
    message.link = _link(model, message.frame)
    message.kind, message.active = KINDS[contact.kind], contact.active
    message.stiffness, message.damping = float(contact.kp), float(contact.kd)
    for pose, value in ((message.placement, placement), (message.reference, reference)):
        if value is None:
            pose.orientation.w = 0.0  # a quaternion of zeros says nothing
        else:
            write_pose(pose, np.array(value, dtype=np.float64, order='C'))


def read_contact(model: TreeModel, message: Any) -> Closure:
    """Return a geolin_msgs/ContactState as a contact of a robot; its wrench is not read.

    Raises `InputError` if its kind is neither a point nor a surface, or a closed loop has a
    placement; `GeolinError` if it does not fit the robot, see
    `geolin_ros.linearization.contacts.Contact`.
    """
    placement = _pose(message.placement)
    common = {
        'kind': word_of(f'contact {message.frame!r} has kind', message.kind, KINDS),
        'kp': message.stiffness,
        'kd': message.damping,
        'reference': _pose(message.reference),
        'active': message.active,
    }
    contact: Closure = Contact(message.frame, placement=placement, **common)
    if message.partner_frame:
        if placement is not None and np.any(placement != np.eye(4)):
            raise InputError(
                f'contact {message.frame!r} against {message.partner_frame!r} has a placement, '
                'expected none between two frames of the robot; give reference'
            )
        contact = Loop(message.frame, message.partner_frame, **common)
    Constraint(model, dataclasses.replace(contact, active=False))
    return contact


def fields(message: Any) -> tuple[Any, ...]:
    """Return what `read_contact` reads of a message, to tell whether it says something new."""
    return (
        message.frame,
        message.partner_frame,
        message.kind,
        message.active,
        message.stiffness,
        message.damping,
        *pose_numbers(message.placement),
        *pose_numbers(message.reference),
    )


def _link(model: TreeModel, frame: str) -> str:
    """Return the root link of the moving body that carries a frame."""
    return model.body_names[model.frame(frame).body]


def _pose(message: Any) -> Array | None:
    """Return a geometry_msgs/Pose, None of one whose quaternion is all zeros."""
    turn = message.orientation
    return read_pose(message) if turn.x or turn.y or turn.z or turn.w else None
