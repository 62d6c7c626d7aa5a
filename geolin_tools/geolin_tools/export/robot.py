# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot as the constant arrays that kernels read, for every set of contacts, and its kernels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import types

from geolin_ros.control.support import Support
from geolin_ros.errors import ConfigurationError, check_choice
from geolin_ros.kernels import se3
from geolin_ros.kernels.engine import fast_dynamics
from geolin_ros.kernels.engine.contact_linearization import linearize_in_contact
from geolin_ros.kernels.engine.exponential import exponential, make_work
from geolin_ros.kernels.engine.linearization import linearize
from geolin_ros.kernels.engine.own_results import linearize_own
from geolin_ros.kernels.packing import contact_layout, layout
from geolin_ros.kernels.packing.own_layout import Own, pack_own
from geolin_ros.linearization.contacts.constraints import Constraint
from geolin_ros.linearization.contacts.description import Contact
from geolin_ros.linearization.workspace import pack_constraints
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench, pack
from geolin_ros.typing import Array, IntArray
from geolin_tools.export.machine_code import Kernel

MOST_CONTACTS = 6
FUNCTIONS = ('forward_dynamics', 'inverse_dynamics', 'mass_matrix', 'discretize')
"""What may be left out; A, B and nu_dot are always there."""


class ContactSet(NamedTuple):
    """The contacts in force: sites, memory at first, rows, and the size of the results."""

    sites: IntArray
    work: Array
    rows: int
    out: int


class Robot(NamedTuple):
    """A robot as arrays, and the memory that kernels need, as it is at first."""

    model: TreeModel
    contacts: tuple[Contact | Support, ...]
    wrenches: tuple[Wrench, ...]
    packed: layout.Packed
    own: Own
    contact_sets: tuple[ContactSet, ...]
    """Contact c is in force where bit c is set."""
    inputs: Array
    """Efforts and wrenches, all zero; a floating base's is the last."""
    wrench_maps: Array
    """(wrenches, 6, 6) from [force; moment] to what the kernel reads."""
    workspace: Array
    step: tuple[Array, IntArray]
    """Of discretizations: memory and lists."""


def pack_robot(
    model: TreeModel, contacts: Sequence[Contact | Support], wrenches: Sequence[Wrench]
) -> Robot:
    """Return a robot as arrays; arguments and errors as of `export`."""
    packed = model.packed
    reason = ''
    if packed is None:
        reason = 'a link whose inertia is not that of a rigid body; give mass, centre, inertia'
    elif model.loops:
        names = ', '.join(loop.name for loop in model.loops)
        reason = f'closed loops, {names}; leave them out by --loops none'
    elif packed.groups:
        reason = (
            'a joint whose position is a rotation or a pose (spherical, floating); lock it with '
            '--locked, or write it as revolute and prismatic joints in a row'
        )
    if packed is None or reason:
        raise ConfigurationError(
            f'robot {model.name!r} cannot be exported, expected a tree of rigid bodies and joints '
            f'with a number for each axis: it has {reason}'
        )
    if len(contacts) > MOST_CONTACTS:
        raise ConfigurationError(
            f'{len(contacts)} contacts are given, expected at most {MOST_CONTACTS}: every set of '
            'them is part of the library'
        )
    floats = model.base == 'floating'
    zero = [Wrench(w.link, kind=w.kind, point=w.point) for w in wrenches]
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
        layout.make_inputs(packed, pack(model, [*zero, *[Wrench(model.base_link)] * floats])),
        np.array([_map_of(model, packed, wrench) for wrench in zero]).reshape(-1, 6, 6),
        layout.make_workspace(packed),
        make_work(2 * model.m, len(model.actuated) + 1),
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
    return ContactSet(sites, work, rows, out.size)


def _map_of(model: TreeModel, packed: layout.Packed, wrench: Wrench) -> Array:
    """Return what the kernel reads of unit forces and moments, one a column."""
    n, columns = int(packed.ints[layout.NB]) - 1, []
    for unit in np.eye(6):
        one = Wrench(wrench.link, unit[:3], unit[3:], wrench.kind, wrench.point)
        record = layout.make_inputs(packed, pack(model, [one]))[n:]
        columns.append(record[layout.WRENCH_VALUE : layout.WRENCH_VALUE + 6])
    return np.column_stack(columns)


# As the Python side calls them: what it has compiled already is found in the cache.
_INTS = types.Array(types.int64, 1, 'C', readonly=True)
_FLOATS = types.Array(types.float64, 1, 'C', readonly=True)
_POSE = types.Array(types.float64, 2, 'C', readonly=True)
_LISTS, _MEMORY, _SQUARE = types.int64[::1], types.float64[::1], types.float64[:, ::1]
_ROBOT, _CONTACTS, _OWN = (_INTS, _FLOATS), (_INTS, _MEMORY), (_INTS, _FLOATS)


def kernels_of(robot: Robot, functions: Sequence[str], casadi: bool) -> dict[str, Kernel]:
    """Return the kernels that linearize a robot, do what ``functions`` names, and serve CasADi.

    Raises `ConfigurationError` if a function is unknown.
    """
    for name in functions:
        check_choice('function', name, FUNCTIONS)
    floats, is_all = robot.model.base == 'floating', robot.own.is_all
    is_free = not robot.wrenches and not len(robot.packed.mimics.bodies)
    named = {name: name in functions for name in FUNCTIONS}
    four, slope = (_MEMORY,) * 4, (_MEMORY, types.float64, _SQUARE)
    own = (*_ROBOT, *_CONTACTS, *_OWN, _MEMORY, *four)
    steps = named['discretize']
    table = (
        (is_all, linearize, (*_ROBOT, *four)),
        (is_all and robot.contacts, linearize_in_contact, (*_ROBOT, *_CONTACTS, *four)),
        (not is_all, linearize_own, own),
        (named['forward_dynamics'] and is_free, fast_dynamics.forward_dynamics, (*_ROBOT, *four)),
        (named['inverse_dynamics'], fast_dynamics.inverse_dynamics, (*_ROBOT, *four)),
        (named['mass_matrix'], fast_dynamics.mass_matrix, (*_ROBOT, *four[1:])),
        (steps, exponential, (_MEMORY, _LISTS, types.int64, types.int64)),
        (steps and floats, se3.retract, (_POSE, _MEMORY, _SQUARE)),
        (casadi and floats, se3.difference, (_POSE, _POSE, _SQUARE, _MEMORY)),
        (casadi and floats, se3.adjoint_of_exp, slope),
        (casadi and floats, se3.left_jacobian, slope),
        (casadi and floats, se3.left_jacobian_inverse, slope),
    )
    return {
        function.__name__: Kernel(function, arguments)
        for is_there, function, arguments in table
        if is_there
    }
