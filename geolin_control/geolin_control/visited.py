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
from geolin_ros.stream.parameters.model_reading import from_text

RATE = 50.0
"""Samples are looked at this often [Hz]."""
STILL = 0.1
"""A foot that stands moves slower than this [m/s],"""
LEVEL = 0.03
"""and is not higher than the lowest one by more than this [m]."""
SHARE = 0.05
"""Sets of contacts that the robot had for less of the time are passed over."""


class Visited(NamedTuple):
    """Postures on one set of contacts."""

    supports: tuple[Support, ...]
    share: float
    """Of the recording."""
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
    feet, the links after which topics of forces are named.

    Parameters
    ----------
    source
        Bags and robot.
    feet
        What may stand. Contacts with messages of their own are points unless a foot of the same
        frame says more.
    watch
        Wraps the messages, of which there are ``total``.

    Raises
    ------
    RecordingError
        If an input is missing or a bag damaged, or the robot never stands.
    ConfigurationError
        If nothing says what may stand, or a contact is no support.
    UnknownNameError
        If a foot is no frame of the robot.
    """
    source = _with_contacts(source, feet)
    source.require_inputs()
    model, shapes = source.model, {foot.frame: foot for foot in feet}
    are_given = source.settings.contacts.are_expected
    if not (are_given or feet):
        raise ConfigurationError(
            f'nothing in {source.recording.name} says what robot {model.name!r} may stand on: '
            f'no topic of contact states, and no {WRENCH} named like a link; add '
            f'--feet {",".join(_lowest(source))}, or what stands instead'
        )
    is_chosen = chooser(rate=RATE)
    states: dict[tuple[Support, ...], list[State]] = {}
    total = 0
    stream = OperatingPoints(model, source.settings)
    stream.on_drop = lambda drop: None
    for point in recorded_points(stream, source, watch):
        if is_chosen(point.stamp):
            standing = (
                _given(model, point.contacts, shapes)
                if are_given
                else standing_feet(model, point.state, feet)
            )
            states.setdefault(standing, []).append(point.state)
            total += 1
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
    """Return a source with the contacts of its bag where parameters name none.

    That is the topic of contact states, or, without feet, forces on topics named like links.
    """
    recording = source.recording
    if source.settings.contacts.are_expected:
        return source
    if 'contact_states' in recording.topics:
        return replace(source, values={**source.values, 'contact_source': 'topic'})
    forces = {
        topic: link
        for topic, kind in sorted(recording.types.items())
        if kind == WRENCH and (link := topic.rpartition('/')[2]) in source.model.frames
    }
    if feet or not forces:
        return source
    for topic in forces:
        recording.add_role(topic, WRENCH)
    values = {
        'contact_source': 'forces',
        'contacts': [f'{link} point' for link in forces.values()],
        'foot_force_topics': [f'{topic} {link}' for topic, link in forces.items()],
    }
    return replace(source, values={**source.values, **values})


def _lowest(source: Source) -> list[str]:
    """Return the links at the ends of chains that are lowest where all joints are at zero."""
    model, parents = source.model, {j.parent for j in from_text(source.description).joints}
    at = Kinematics(model, model.neutral_state())
    heights = {
        name: at.pose(frame)[2, 3] for name, frame in model.frames.items() if name not in parents
    }
    return [name for name, z in heights.items() if z - min(heights.values()) <= LEVEL]


def _given(
    model: TreeModel, contacts: Sequence[Closure], shapes: dict[str, Support]
) -> tuple[Support, ...]:
    """Return the supports that active contacts are, by name; known shapes are kept."""
    own = {loop.name for loop in model.loops}
    contacts = [contact for contact in contacts if contact.name not in own]
    for contact in contacts:
        if not contact.active or contact.name in shapes:
            continue
        if isinstance(contact, Loop):
            raise ConfigurationError(
                f'contact {contact.name!r} closes a loop of the robot, expected supports: gains '
                'are for what stands on the ground'
            )
        if contact.kind == 'surface':
            raise ConfigurationError(
                f'contact {contact.name!r} is a surface whose size no message tells, expected it '
                f'from --feet {contact.name}:LENGTHxWIDTH'
            )
        placement = np.eye(4) if contact.placement is None else contact.placement
        shapes[contact.name] = Support(contact.frame, placement=placement)
    active = sorted(contact.name for contact in contacts if contact.active)
    return tuple(shapes[name] for name in active)


def standing_feet(model: TreeModel, state: State, feet: Sequence[Support]) -> tuple[Support, ...]:
    """Return the feet that are still and low."""
    at = Kinematics(model, state)
    places, speeds = [], []
    for foot in feet:
        frame = model.frame(foot.frame)
        H = at.H[frame.body]
        point = (frame.placement @ np.asarray(foot.placement))[:3, 3]
        v = at.v[frame.body]
        speeds.append(float(np.linalg.norm(v[:3] + np.cross(v[3:], point))))
        places.append(float((H[:3, :3] @ point + H[:3, 3])[2]))
    lowest = min(places)
    return tuple(
        foot
        for foot, place, speed in zip(feet, places, speeds, strict=True)
        if place - lowest <= LEVEL and speed < STILL
    )


def route(model: TreeModel, visit: Visited, postures: int) -> tuple[list[Equilibrium], list[str]]:
    """Return equilibria at postures of a visit, by height of the base, and those without one."""
    heights = [_height(model, state, visit.supports) for state in visit.states]
    order = np.argsort(heights)
    chosen = np.unique(order[np.linspace(0, len(order) - 1, postures).round().astype(int)])
    points, refused = [], []
    for k in sorted(chosen, key=lambda k: heights[k]):
        try:
            points.append(equilibrium(model, visit.states[k], visit.supports))
        except InfeasibleError as error:
            refused.append(f'{heights[k]:.3f} m above the feet: {error}')
    return points, refused


def _height(model: TreeModel, state: State, supports: Sequence[Support]) -> float:
    H = Kinematics(model, state).H
    frames = [model.frame(support.frame) for support in supports]
    feet = [(H[frame.body] @ frame.placement)[2, 3] for frame in frames]
    return float(state.H[2, 3] - np.mean(feet))
