# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a robot stood on in a recording, and in which postures: where gains are wanted."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from geolin_ros.control.equilibrium import Equilibrium, equilibrium
from geolin_ros.control.support import Support
from geolin_ros.description import Loop
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, InfeasibleError, RecordingError
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline.message_types import WRENCH
from geolin_ros.offline.points import Watch, chooser, recorded_points
from geolin_ros.offline.source import Source
from geolin_ros.stream.linearization_stream import OperatingPoints

RATE = 50.0
"""Samples are looked at this often [Hz]."""
STILL, LEVEL = 0.1, 0.03
"""A foot that stands is slower [m/s], and not higher than the lowest one by more [m]."""
SHARE = 0.05
"""Sets of contacts that the robot had for less of the time are passed over."""


class Visited(NamedTuple):
    """Postures on one set of contacts, and their share of the recording."""

    supports: tuple[Support, ...]
    share: float
    states: list[State]


def visited(
    source: Source,
    feet: Sequence[Support] = (),
    watch: Watch = lambda items, total: items,
) -> list[Visited]:
    """Return the sets of contacts that a recording shows, the longest first.

    What holds the robot is what its parameters name: frames, or the topics of contact states or
    foot forces. Where they name nothing it is the topic of contact states if there is one, and
    otherwise those of the ``feet`` that are still and about as low as the lowest one; without
    feet, the links after which topics of forces are named. Contacts with messages of their own
    are points unless a foot of the same frame says more. ``watch`` wraps the messages.

    Raises `RecordingError` if an input is missing, a bag damaged, or the robot never stands;
    `ConfigurationError` if nothing says what may stand, or a contact is no support;
    `UnknownNameError` if a foot is no frame of the robot.
    """
    source = _with_contacts(source, feet)
    source.require_inputs()
    model, shapes = source.model, {foot.frame: foot for foot in feet}
    are_given = source.settings.contacts.are_expected
    if not (are_given or feet):
        raise ConfigurationError(
            f'nothing in {source.recording.name} says what robot {model.name!r} may stand on: '
            f'no topic of contact states, and no {WRENCH} named like a link; add '
            '--feet FRAME,..., the candidates are in geolin info'
        )
    is_chosen, states = chooser(rate=RATE), dict[tuple[Support, ...], list[State]]()
    stream = OperatingPoints(model, source.settings)
    stream.on_drop = lambda drop: None
    for point in recorded_points(stream, source, watch):
        if is_chosen(point.stamp):
            given = _given(model, point.contacts, shapes) if are_given else None
            standing = _still(model, point.state, feet) if given is None else given
            states.setdefault(standing, []).append(point.state)
    total = sum(map(len, states.values()))
    found = [
        Visited(supports, len(points) / total, points)
        for supports, points in states.items()
        if supports and len(points) >= SHARE * total
    ]
    if not found:
        expected = 'active contacts' if are_given else 'feet that are still and low; name others'
        raise RecordingError(
            f'robot {model.name!r} stands on none of {", ".join(shapes) or "its contacts"} in '
            f'{source.recording.name}, expected {expected}'
        )
    return sorted(found, key=lambda visit: -visit.share)


def _with_contacts(source: Source, feet: Sequence[Support]) -> Source:
    """Return a source with the contacts of its bag where parameters name none."""
    recording, values = source.recording, dict(source.values)
    if source.settings.contacts.are_expected:
        return source
    if 'contact_states' in recording.topics:
        return replace(source, values=values | {'contact_source': 'topic'})
    forces = {
        topic: link
        for topic, kind in sorted(recording.types.items())
        if kind == WRENCH and (link := topic.rpartition('/')[2]) in source.model.frames
    }
    if feet or not forces:
        return source
    for topic in forces:
        recording.add_role(topic, WRENCH)
    values |= {
        'contact_source': 'forces',
        'contacts': [f'{link} point' for link in forces.values()],
        'foot_force_topics': [f'{topic} {link}' for topic, link in forces.items()],
    }
    return replace(source, values=values)


def _given(
    model: TreeModel, contacts: Sequence[Closure], shapes: dict[str, Support]
) -> tuple[Support, ...]:
    """Return the supports that active contacts are, by name; known shapes are kept."""
    own = {loop.name for loop in model.loops}
    active = {one.name: one for one in contacts if one.active and one.name not in own}
    for name, contact in active.items():
        if name in shapes:
            continue
        if isinstance(contact, Loop) or contact.kind == 'surface':
            raise ConfigurationError(
                f'contact {name!r} is a {type(contact).__name__.lower()} of kind {contact.kind}, '
                f'expected points, or the size of a sole from --feet {name}:LENGTHxWIDTH'
            )
        placement = np.eye(4) if contact.placement is None else contact.placement
        shapes[name] = Support(contact.frame, placement=placement)
    return tuple(shapes[name] for name in sorted(active))


def _still(model: TreeModel, state: State, feet: Sequence[Support]) -> tuple[Support, ...]:
    """Return the feet that are still and low."""
    at = Kinematics(model, state)
    moving = [at.frame(foot.at(model)) for foot in feet]
    lowest = min((float(foot.H[2, 3]) for foot in moving), default=0.0)
    return tuple(
        foot
        for foot, own in zip(feet, moving, strict=True)
        if own.H[2, 3] - lowest <= LEVEL and np.linalg.norm(own.v[:3]) < STILL
    )


def route(model: TreeModel, visit: Visited, postures: int) -> tuple[list[Equilibrium], list[str]]:
    """Return equilibria at postures of a visit, by height of the base, and those without one."""
    frames, heights = [model.frame(support.frame) for support in visit.supports], []
    for state in visit.states:
        at = Kinematics(model, state)
        heights.append(state.H[2, 3] - np.mean([at.pose(frame)[2, 3] for frame in frames]))
    order = np.argsort(heights)
    chosen = np.unique(np.linspace(0, len(order) - 1, postures).round().astype(int))
    points, refused = [], []
    for k in order[chosen]:
        try:
            points.append(equilibrium(model, visit.states[k], visit.supports))
        except InfeasibleError as error:
            refused.append(f'{heights[k]:.3f} m above the feet: {error}')
    return points, refused
