# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What holds a robot: frames of it against the world, or against each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.description import ContactKind, Loop
from geolin_ros.errors import ConfigurationError, InputError, check_choice, unknown_name
from geolin_ros.model.labels import Label
from geolin_ros.model.state import State
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.renamed import with_old_names
from geolin_ros.spatial import se3

SIZES = {'point': 3, 'surface': 6}


@with_old_names
@dataclass(frozen=True, eq=False)
class Contact:
    """A frame of the robot in contact with the world.

    Acceleration + kd * velocity + kp * error = 0, in axes of the contact frame [Baumgarte 1972].

    Attributes
    ----------
    frame
        Any link of the description.
    kind
        ``'point'``: position constrained, 3 rows; ``'surface'``: position and orientation, 6 rows,
        linear before angular.
    kp, kd
        Gains that stabilize the constraint [1/s^2] and [1/s].
    reference : (4, 4)
        Reference pose of the contact frame in the world; a point reads the position alone. Needed
        with a gain kp, see `anchored`.
    placement : (4, 4)
        Pose of the contact frame in ``frame``; by default they are the same.
    active
        Whether it is in force; else it has no rows.
    """

    frame: str
    kind: ContactKind = 'point'
    _: KW_ONLY
    kp: float = 0.0
    kd: float = 0.0
    reference: ArrayLike | None = None
    placement: ArrayLike | None = None
    active: bool = True

    @property
    def name(self) -> str:
        """The frame: what `Linearizer.activate` calls it."""
        return self.frame


Closure: TypeAlias = Contact | Loop


def content(contact: Closure) -> tuple[object, ...]:
    """Return what tells it from another one, by value and safe from later changes."""
    values: dict[str, object] = dict(vars(contact))
    for name in {'reference', 'placement'} & values.keys():
        if values[name] is not None:
            values[name] = np.asarray(values[name], dtype=np.float64).tobytes()
    return type(contact), *values.values()


def named(contact: Closure | str, known: Mapping[str, Closure]) -> Closure:
    """Return a contact: of a name the known one, in force, or a point at the link."""
    if isinstance(contact, (Contact, Loop)):
        return contact
    if not isinstance(contact, str):
        raise InputError(
            f'a contact is of type {type(contact).__name__}, expected a Contact, a Loop or a name'
        )
    found = known.get(contact)
    if found is None:
        return Contact(contact)
    return found if found.active else dataclasses.replace(found, active=True)


def check_is_list(contacts: object) -> None:
    """Raise `InputError` for a contact, or a name, alone."""
    if isinstance(contacts, (str, Contact, Loop)):
        name = contacts if isinstance(contacts, str) else contacts.name
        raise InputError(f'contacts is {name!r} alone, expected a list: [{name!r}]')


def activated(contacts: Sequence[Closure], names: Iterable[str]) -> tuple[Closure, ...]:
    """Return the contacts, in force those with one of ``names`` and no others.

    Raises `UnknownNameError` if no contact has one of the names.
    """
    wanted = set(names)
    for name in sorted(wanted - {contact.name for contact in contacts}):
        raise unknown_name('contact', name, (c.name for c in contacts), 'the contacts')
    return tuple(dataclasses.replace(c, active=c.name in wanted) for c in contacts)


def with_own_loops(
    model: TreeModel, contacts: Sequence[Closure], names: Iterable[str]
) -> tuple[str, ...]:
    """Return names, and those of the contacts in force that are loops of the robot."""
    check_is_list(names)
    own = {loop.name for loop in model.loops}
    loops = (c.name for c in contacts if c.active and c.name in own)
    return tuple(dict.fromkeys((*names, *loops)))


def anchored(model: TreeModel, state: State, contacts: Sequence[Closure]) -> tuple[Closure, ...]:
    """Return the contacts, each with the pose that its frame has at a state as reference.

    Raises `UnknownNameError` if a frame is not part of the robot; `ShapeError`, `NotFiniteError`
    or `InputError` if the state does not fit the robot, see `kinematics.Kinematics`.
    """
    from geolin_ros.dynamics.kinematics import Kinematics  # few ask for it

    at, found = Kinematics(model, state), []
    for contact in contacts:
        first, second = resolve(model, dataclasses.replace(contact, reference=None))
        H = at.pose(first)
        pose = H if second is None else se3.relative(at.pose(second), H)
        found.append(dataclasses.replace(contact, reference=pose))
    return tuple(found)


def needs_reference(contact: Closure) -> bool:
    """Whether a contact has a gain kp and no reference pose."""
    return isinstance(contact, Contact) and contact.reference is None and contact.kp > 0.0


def anchored_where_needed(
    model: TreeModel, state: State, contacts: Sequence[Closure]
) -> tuple[Closure, ...]:
    """Return the contacts, `anchored` where they have a gain kp and no reference."""
    return tuple(
        anchored(model, state, [contact])[0] if needs_reference(contact) else contact
        for contact in contacts
    )


def wrench_labels(contacts: Iterable[Closure]) -> tuple[Label, ...]:
    """Return name and unit of each entry of the contact forces."""
    entries = [('fx', 'N'), ('fy', 'N'), ('fz', 'N'), ('tx', 'N m'), ('ty', 'N m'), ('tz', 'N m')]
    return tuple(
        Label(f'{contact.name}.{entry}', unit)
        for contact in contacts
        for entry, unit in entries[: SIZES[contact.kind]]
    )


def resolve(model: TreeModel, contact: Closure) -> tuple[Frame, Frame | None]:
    """Return the contact frame, and the one it is constrained to unless that is the world."""

    def placed(frame: str, pose: ArrayLike | None) -> Frame:
        at = model.frame(frame)
        if pose is None:
            return at
        what = f'contact {contact.name!r}: its pose in {frame!r}'
        return Frame(at.body, at.placement @ se3.check_pose(pose, what))

    if isinstance(contact, Contact):
        return placed(contact.frame, contact.placement), None
    return placed(contact.frame_a, None), placed(contact.frame_b, contact.reference)


def check(contact: Closure) -> None:
    """Check kind, gains and reference of a contact."""
    check_choice(f'kind of contact {contact.name!r}', contact.kind, get_args(ContactKind))
    for name in ('kp', 'kd'):
        gain = getattr(contact, name)
        if not 0.0 <= gain < np.inf:
            raise ConfigurationError(
                f'contact {contact.name!r} has {name} {gain}, expected a number from 0 on'
            )
    if contact.active and needs_reference(contact):
        raise ConfigurationError(
            f'contact {contact.name!r} has kp {contact.kp:g} and no reference '
            'to hold it at; give one, or take the current pose with anchored(model, state, ...)'
        )
