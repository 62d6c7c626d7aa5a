# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forces on a robot where they act, in world axes: what pages and markers draw."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.linearization.contacts.description import Closure, Contact, resolve
from geolin_ros.model.wrenches import Wrench
from geolin_ros.stream.contact_answer import each_wrench
from geolin_ros.typing import Array


class Force(NamedTuple):
    """A force on the robot in world axes; ``is_contact`` if the ground gives it."""

    point: Array
    """(3,) [m]"""
    force: Array
    """(3,) [N]"""
    is_contact: bool


def contact_forces(
    at: Kinematics, contacts: Sequence[Closure], wrenches: Array
) -> tuple[Force, ...]:
    """Return the forces of the ground, from the stacked wrenches (rows,) of active contacts.

    Closed loops are between links of the robot: they are passed over.
    """
    found = []
    for contact, wrench in each_wrench(contacts, wrenches):
        if contact.active and isinstance(contact, Contact):
            H = at.pose(resolve(at.model, contact)[0])
            found.append(Force(H[:3, 3].copy(), H[:3, :3] @ wrench[:3], True))
    return tuple(found)


def external_forces(at: Kinematics, wrenches: Iterable[Wrench]) -> tuple[Force, ...]:
    """Return external wrenches as forces where they act; of the kind 'world', on the link."""
    found = []
    for wrench in wrenches:
        H, force = at.pose(wrench.link), np.asarray(wrench.force, dtype=np.float64)
        if wrench.kind == 'body':
            force = H[:3, :3] @ force
        point = H[:3, 3].copy()
        if wrench.kind == 'world_oriented':
            point += H[:3, :3] @ np.asarray(wrench.point)
        found.append(Force(point, force, False))
    return tuple(found)
