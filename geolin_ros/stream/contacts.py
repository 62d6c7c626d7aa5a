# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Contacts from and into messages, and which are active: by parameter, topic or foot forces.

A contact with a gain kp and no reference is anchored: its reference is the pose of its
frame at the first joint state about which it is active.
"""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from geolin_ros.errors import ConfigurationError, GeolinError, InputError
from geolin_ros.linearization.contacts import (
    Contact,
    ContactKind,
    Loop,
    Redundancy,
    activated,
    anchored,
)
from geolin_ros.linearization.contacts.constraints import Constraint
from geolin_ros.linearization.contacts.description import SIZES, Closure, needs_reference
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.representation import TwistChange
from geolin_ros.linearization.result import Linearization
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial.frames import Representation
from geolin_ros.stream.message_fields import pose_numbers, read_pose, word_of, write_pose
from geolin_ros.stream.topic_stream import Cause, DroppedInput, NewestMessage, check_finite
from geolin_ros.typing import Array

ContactSource = Literal['parameter', 'topic', 'forces', 'efforts']


@dataclass(frozen=True)
class FootForce:
    """A topic with the force on a contact frame."""

    topic: str
    frame: str


@dataclass(frozen=True)
class ContactSettings:
    """Where contacts come from; see the parameter table of the node.

    With ``source`` ``'topic'`` the contacts are not read; with ``'efforts'``, of the state
    estimator, `ContactInput.take_forces` is called.
    """

    source: ContactSource = 'parameter'
    contacts: tuple[Contact, ...] = ()
    foot_forces: tuple[FootForce, ...] = ()
    on_force: float = 20.0
    off_force: float = 10.0
    timeout: float = 0.1
    admissible_basis: bool = False

    @property
    def are_expected(self) -> bool:
        """Whether there are, or may be, contacts."""
        return bool(self.contacts) or self.source == 'topic'

    @property
    def measured_feet(self) -> tuple[FootForce, ...]:
        """The forces that are listened to."""
        return self.foot_forces if self.source == 'forces' else ()

    def __post_init__(self) -> None:
        if self.off_force > self.on_force:
            raise ConfigurationError(
                f'contact_off_force is {self.off_force:g} N, expected at most contact_on_force, '
                f'{self.on_force:g} N'
            )
        frames = [contact.frame for contact in self.contacts]
        measured = [foot.frame for foot in self.foot_forces]
        if self.source == 'forces' and sorted(frames) != sorted(measured):
            raise ConfigurationError(
                f'contacts are {frames} and foot_force_topics are about {measured}, expected the '
                'same frames: one topic each'
            )


class ContactInput:
    """Keeps which contacts hold, where, and the newest ``forces`` that say so, by frame [N].

    Raises `UnknownNameError` or `ConfigurationError` if a contact does not fit the robot.
    """

    def __init__(self, model: TreeModel, settings: ContactSettings) -> None:
        self._model, self._settings = model, settings
        for contact in settings.contacts:
            model.frame(contact.frame)
        self._contacts: tuple[Closure, ...] = settings.contacts
        self._stated = NewestMessage('contact states')
        measured = settings.contacts if settings.source == 'efforts' else settings.foot_forces
        self.forces = {foot.frame: 0.0 for foot in measured}
        self._holding: set[str] = set()
        self._frames = {foot.topic: foot.frame for foot in settings.foot_forces}
        self._newest = {topic: NewestMessage(f'force on {topic}') for topic in self._frames}
        self._seen: tuple[Closure, ...] | None = None
        self._anchored: tuple[Closure, ...] = ()
        self._anchors: dict[str, Array] = {}

    def take_states(self, message: Any) -> None:
        """Take a geolin_msgs/ContactStates: these contacts hold until the next one.

        Raises `DroppedInput` if its stamp is not after the last one, or a contact cannot be read
        or does not fit the robot. The contacts before it stay.
        """
        if self._settings.source != 'topic':
            return
        stamp = self._stated.next(message)
        stated = [fields(contact) for contact in message.contacts]
        if stated != self._stated.value:
            try:
                self._contacts = tuple(read_contact(self._model, c) for c in message.contacts)
            except GeolinError as error:
                raise DroppedInput(Cause.CONTACT, f'contact states: {error}') from error
        self._stated.stamp, self._stated.value = stamp, stated

    def take_force(self, topic: str, message: Any) -> None:
        """Take a geometry_msgs/WrenchStamped of a foot.

        Raises `DroppedInput` if its stamp is not after the last one, or its force not finite.
        """
        newest, f = self._newest[topic], message.wrench.force
        stamp = newest.next(message)
        check_finite(f'force on {topic}', (f.x, f.y, f.z))
        newest.stamp = stamp
        self.take_forces({self._frames[topic]: math.hypot(f.x, f.y, f.z)})

    def take_forces(self, forces: Mapping[str, float]) -> None:
        """Take forces on contacts by frame [N], as those of ``source`` ``'efforts'``."""
        on, off = self._settings.on_force, self._settings.off_force
        self.forces.update(forces)
        for frame, force in forces.items():
            holds = force >= (off if frame in self._holding else on)
            (self._holding.add if holds else self._holding.discard)(frame)

    def at(self, stamp: int, state: State) -> tuple[Closure, ...]:
        """Return all contacts at a joint state; the same tuple as long as nothing changes.

        Raises `DroppedInput` if no contact states have come yet, or the force of a foot is missing
        or too old.
        """
        settings = self._settings
        if settings.source == 'topic' and self._stated.stamp is None:
            raise DroppedInput(
                Cause.NO_CONTACTS,
                'no contacts yet, expected a message on the topic contact_states first; it may '
                'be an empty one',
            )
        for newest in self._newest.values() if settings.source == 'forces' else ():
            lack = newest.lack(stamp, settings.timeout)
            if lack:
                raise DroppedInput(
                    Cause.NO_CONTACTS, f'{lack}; check its publisher, or raise wrench_timeout'
                )
        active = {contact.name for contact in self._contacts if contact.active}
        if settings.source in ('forces', 'efforts') and self._holding != active:
            self._contacts = activated(self._contacts, self._holding)
        return self._anchor(self._contacts, state)

    def resume(self, earlier: 'ContactInput') -> None:
        """Go on with where contacts were anchored, and which feet stood, by the same source."""
        if earlier._settings.source == self._settings.source:
            self._anchors = earlier._anchors
            self._holding = earlier._holding & set(self.forces)

    def forget(self) -> None:
        """Start anew, after the clock was set back."""
        self._anchors, self._stated.stamp = {}, None
        self._holding.clear()
        self.forces = dict.fromkeys(self.forces, 0.0)
        for newest in self._newest.values():
            newest.stamp = None

    def _anchor(self, contacts: tuple[Closure, ...], state: State) -> tuple[Closure, ...]:
        """Return contacts with references where they need one; forget those of lifted frames."""
        floating = {c.name: c for c in contacts if c.active and needs_reference(c)}
        new = [c for name, c in floating.items() if name not in self._anchors]
        if contacts is self._seen and not new:
            return self._anchored
        self._anchors = {n: H for n, H in self._anchors.items() if n in floating}
        for contact in anchored(self._model, state, new):
            self._anchors[contact.name] = np.asarray(contact.reference)
        self._seen = contacts
        self._anchored = tuple(
            dataclasses.replace(c, reference=self._anchors[c.name]) if c.name in floating else c
            for c in contacts
        )
        return self._anchored


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
    message.kp, message.kd = float(contact.kp), float(contact.kd)
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
        'kp': message.kp,
        'kd': message.kd,
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
        message.kp,
        message.kd,
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


if TYPE_CHECKING:
    from geolin_ros.linearization.reduction import Bases


class ContactAnswer(NamedTuple):
    """Contacts, their forces and what these depend on, in the representation of the answer."""

    source: str
    """Where the contacts come from, a `ContactSource` or ``'given'``."""
    contacts: tuple[Closure, ...]
    """Those in force and the others."""
    wrenches: Array
    """(rows,)"""
    wrench_by_state: Array
    """(rows, 2 m)"""
    wrench_by_tau: Array
    """(rows, n_u)"""
    redundancy: Redundancy
    basis: Array | None
    """(2 m, k) P, None if it was not asked for."""


def each_wrench(contacts: Iterable[Closure], wrenches: Array) -> Iterator[tuple[Closure, Array]]:
    """Yield each contact and its wrench (6,) of the stacked ones; zero where it has no rows."""
    row = 0
    for contact in contacts:
        wrench = np.zeros(6)
        if contact.active:
            size = SIZES[contact.kind]
            wrench[:size] = wrenches[row : row + size]
            row += size
        yield contact, wrench


class ContactReporter:
    """Makes the contact part of one answer after another; bases are continuous."""

    def __init__(self, linearizer: Linearizer, source: str, admissible_basis: bool) -> None:
        self._linearizer = linearizer
        self._source, self._asked = source, admissible_basis
        self._previous: Bases | None = None
        self._shown: Array | None = None

    def forget(self) -> None:
        """Begin with the next basis as if it were the first."""
        self._previous = self._shown = None

    def report(
        self, C: Linearization, state: State, representation: Representation
    ) -> ContactAnswer:
        """Return the contact part of the newest linearization, which is of the body twist."""
        by_state, basis = C.wrench_by_state, None
        turns = representation != 'body' and by_state.shape[1] != 2 * state.r.size
        change = TwistChange(state, representation) if turns else None
        if self._asked:
            from geolin_ros.linearization.reduction import admissible_bases, nearest_basis

            self._previous = admissible_bases(C, self._previous)
            basis = self._previous.P
            if change is not None:
                moved = change.from_body(basis)
                basis = nearest_basis(moved, moved if self._shown is None else self._shown)
            self._shown = basis
        if change is not None:
            by_state = change.on_columns(by_state)
        return ContactAnswer(
            self._source,
            self._linearizer.contacts,
            C.wrenches,
            by_state,
            C.wrench_by_tau,
            C.dropped,
            basis,
        )
