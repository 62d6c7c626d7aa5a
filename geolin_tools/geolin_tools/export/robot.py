# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot as the constant arrays that kernels read, for every set of contacts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.control.support import Support
from geolin_ros.errors import ConfigurationError
from geolin_ros.kernels.engine.exponential import make_work
from geolin_ros.kernels.packing import contact_layout, layout
from geolin_ros.kernels.packing.own_layout import Own, pack_own
from geolin_ros.linearization.contacts.constraints import Constraint
from geolin_ros.linearization.contacts.description import Contact
from geolin_ros.linearization.workspace import pack_constraints
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench, pack
from geolin_ros.typing import Array, IntArray

MOST_CONTACTS = 6


class ContactSet(NamedTuple):
    """The contacts in force, as arrays."""

    sites: IntArray
    places: IntArray
    """Where the memory of the constraints is not zero at first."""
    values: Array
    """And what is there."""
    work: int
    """Size of this memory."""
    rows: int
    """Of contacts in force."""
    out: int
    """Size of the results."""


class Robot(NamedTuple):
    """A robot as arrays, and the sizes of the memory that kernels need."""

    model: TreeModel
    contacts: tuple[Contact | Support, ...]
    wrenches: tuple[Wrench, ...]
    packed: layout.Packed
    own: Own
    contact_sets: tuple[ContactSet, ...]
    """Contact c is in force where bit c is set."""
    inputs: Array
    """Efforts and wrenches, all zero; a floating base's is the last."""
    given: int
    """How many of them there are without that one."""
    wrench_maps: Array
    """(wrenches, 6, 6) from [force; moment] to what the kernel reads."""
    work_header: Array
    """Begin of the workspace."""
    work: int
    """Its size."""
    step_work: int
    """Size of the memory of discretizations."""
    step_lists: int
    """Size of their lists."""

    @property
    def is_plain(self) -> bool:
        """Whether the caller's coordinates are those of the kernels."""
        return self.own.is_all

    @property
    def is_tied(self) -> bool:
        """Whether there are mimic joints."""
        return len(self.packed.mimics.bodies) > 0


def pack_robot(
    model: TreeModel, contacts: Sequence[Contact | Support] = (), wrenches: Sequence[Wrench] = ()
) -> Robot:
    """Return a robot as arrays.

    Parameters
    ----------
    model
        The robot.
    contacts
        What it may stand on; any of them, or none, is in force at a time. A `Support` with a
        radius is held at the point where it touches level ground, at each state.
    wrenches
        Where wrenches may act; their values are given at run time.

    Raises
    ------
    ConfigurationError
        If the robot has spherical or floating joints, or there are too many contacts.
    UnknownNameError
        If a link is not part of the robot.
    """
    packed = model.packed
    if packed is None:
        raise ConfigurationError(
            f'robot {model.name!r} cannot be exported: a link has an inertia that is not that of '
            'a rigid body, expected mass, centre of mass and inertia'
        )
    if model.loops:
        raise ConfigurationError(
            f'robot {model.name!r} cannot be exported: it has closed loops, '
            f'{", ".join(loop.name for loop in model.loops)}, expected a tree; leave them out '
            'by --loops none'
        )
    if packed.groups:
        raise ConfigurationError(
            f'robot {model.name!r} cannot be exported: a joint has positions that are a rotation '
            'or a pose (spherical, floating); expected joints with a number for each axis; lock '
            'it with --locked, or write it as revolute and prismatic joints in a row'
        )
    if len(contacts) > MOST_CONTACTS:
        raise ConfigurationError(
            f'{len(contacts)} contacts are given, expected at most {MOST_CONTACTS}: every set of '
            'them is part of the library'
        )
    workspace, floats = layout.make_workspace(packed), model.base == 'floating'
    zero = [Wrench(w.link, kind=w.kind, point=w.point) for w in wrenches]
    step = make_work(2 * model.m, len(model.actuated) + 1)
    inputs = layout.make_inputs(packed, pack(model, [*zero, *[Wrench(model.base_link)] * floats]))
    return Robot(
        model,
        tuple(contacts),
        tuple(wrenches),
        packed,
        pack_own(packed, floats, model.actuated),
        tuple(
            _contact_set(model, packed, [c for k, c in enumerate(contacts) if mask >> k & 1])
            for mask in range(1 << len(contacts))
        ),
        inputs,
        inputs.size - layout.WRENCH_RECORD * floats,
        np.array([_map_of(model, packed, wrench) for wrench in zero]).reshape(-1, 6, 6),
        workspace[: layout.WORK_HEADER],
        workspace.size,
        step[0].size,
        step[1].size,
    )


def _contact_set(
    model: TreeModel, packed: layout.Packed, contacts: Sequence[Contact | Support]
) -> ContactSet:
    constraints = [
        Constraint(model, one.contact if isinstance(one, Support) else one) for one in contacts
    ]
    sites, work = pack_constraints(packed, constraints)
    for c, one in enumerate(contacts):
        if isinstance(one, Support):
            work[contact_layout.CONTACT_RECORD * c + contact_layout.RADIUS] = one.radius
    rows = sum(constraint.size for constraint in constraints)
    out = contact_layout.outputs_of(model.m, len(model.actuated_joints), rows).out
    places = np.flatnonzero(work)
    return ContactSet(sites, places, work[places], work.size, rows, out.size)


def _map_of(model: TreeModel, packed: layout.Packed, wrench: Wrench) -> Array:
    """Return what the kernel reads of unit forces and moments, one a column."""
    n, columns = int(packed.ints[layout.NB]) - 1, []
    for unit in np.eye(6):
        one = Wrench(wrench.link, unit[:3], unit[3:], wrench.kind, wrench.point)
        record = layout.make_inputs(packed, pack(model, [one]))[n:]
        columns.append(record[layout.WRENCH_VALUE : layout.WRENCH_VALUE + 6])
    return np.column_stack(columns)
