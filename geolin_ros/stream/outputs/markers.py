# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forces on a robot in world axes; and, with modes, as visualization_msgs/MarkerArray for RViz."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.linearization.contacts.description import Closure, Contact, resolve
from geolin_ros.model.labels import entry_words, state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.stream.analysis import Complex, Snapshot, leading_modes
from geolin_ros.stream.contacts import each_wrench
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import Answer
from geolin_ros.stream.message_fields import write_stamp
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


FORCE_LENGTH = 0.6
"""Of the arrow of a force of the robot's weight [m]."""
REACH = 0.3
"""Of the longest arrow of a mode [m]."""
STEP = 1e-4
"""Of differences along a mode."""
MOST_MODES = 3
GREEN, VIOLET, GREY = (0.1, 0.5, 0.3, 1.0), (0.5, 0.25, 0.6, 1.0), (0.2, 0.2, 0.2, 1.0)
COLOURS = ((0.8, 0.2, 0.15, 0.9), (0.85, 0.55, 0.1, 0.9), (0.15, 0.35, 0.6, 0.9))
_ARROW, _TEXT, _ADD, _DELETE_ALL = 0, 9, 0, 3


class MarkerWriter:
    """Makes marker arrays, at least ``period`` [s] apart, with the modes that were found last.

    The first three make an empty visualization_msgs/MarkerArray, Marker and geometry_msgs/Point.
    """

    def __init__(
        self,
        make_array: Callable[[], Any],
        make_marker: Callable[[], Any],
        make_point: Callable[[], Any],
        model: TreeModel,
        period: float,
    ) -> None:
        self._make = make_array, make_marker, make_point
        self._model, self._period = model, round(0.999e9 * period)
        self._weight = model.total_mass * (float(np.linalg.norm(model.gravity)) or 9.81)
        self._last: int | None = None
        self._modes: Sequence[tuple[str, Array]] = ()  # words, arrows (k, 2, 3)

    def show_modes(self, settings: StreamSettings, snapshot: Snapshot) -> None:
        """Find the most unstable modes of a linearization, then the slowest others; takes a while.

        An arrow is how the origin of a body moves with the mode, by differences; all arrows of a
        mode have one scale. Words: what moves most, frequency and time constant.
        """
        dt, m = settings.dt if settings.form == 'discrete' else 0.0, self._model.m
        labels = state_labels(self._model)
        found = []
        for value, vector in leading_modes(snapshot.A, dt)[:MOST_MODES]:
            shape = vector[:m]
            most = int(np.argmax(np.abs(shape)))
            if shape[most] == 0.0:
                continue
            trend = 'grows' if value.real > 0.0 else 'decays'
            lasting = f'{1.0 / abs(value.real):.3g} s' if value.real else 'for ever'
            frequency = abs(value.imag) / (2.0 * np.pi)
            text = f'{entry_words(labels[most].name)}: {frequency:.3g} Hz, {trend}, {lasting}'
            found.append((text, self._arrows(snapshot.state, shape / shape[most])))
        self._modes = found

    def _arrows(self, state: State, shape: Complex) -> Array:
        state, z = state.at_rest(), np.zeros(2 * self._model.m)
        z[: self._model.m] = STEP * shape.real
        here, there = (
            Kinematics(self._model, at).H[:, :3, 3].copy() for at in (state, state.retract(z))
        )
        moved = (there - here) / STEP
        longest = float(np.linalg.norm(moved, axis=1).max())
        scale = REACH / longest if longest > 0.0 else 0.0
        return np.stack((here, here + scale * moved), axis=1)

    def is_due(self, answer: Answer) -> bool:
        """Return whether it is time for another array; a clock that was set back starts anew."""
        if self._last is not None and 0 <= answer.point.stamp - self._last < self._period:
            return False
        self._last = answer.point.stamp
        return True

    def write(self, answer: Answer) -> Any:
        """Return the markers of an answer: all earlier ones go."""
        at = Kinematics(self._model, answer.point.state)
        forces = external_forces(at, answer.point.external)
        if answer.contacts is not None:
            forces += contact_forces(at, answer.contacts.contacts, answer.contacts.wrenches)
        array = self._make[0]()
        clear = self._marker(answer, 'contact_forces', 0, GREY)
        clear.action = _DELETE_ALL
        markers = [clear]
        for number, one in enumerate(forces):
            ends = one.point, one.point + one.force * (FORCE_LENGTH / self._weight)
            colour = GREEN if one.is_contact else VIOLET
            markers.append(self._marker(answer, 'contact_forces', number, colour, ends))
        for rank, (words, arrows) in enumerate(self._modes):
            name, colour = f'mode_{rank + 1}', COLOURS[rank % len(COLOURS)]
            for number, ends in enumerate(arrows):
                markers.append(self._marker(answer, name, number, colour, ends))
            text = self._marker(answer, name, len(arrows), colour)
            text.type, text.text, text.scale.z = _TEXT, words, 0.06
            place = answer.point.state.H[:3, 3] + (0.0, 0.0, 0.4 + 0.08 * rank)
            text.pose.position.x, text.pose.position.y, text.pose.position.z = place.tolist()
            markers.append(text)
        array.markers = markers
        return array

    def _marker(
        self, answer: Answer, name: str, number: int, colour: Sequence[float], ends: Any = ()
    ) -> Any:
        """Return an arrow between two ends (3,), or what is to be another kind."""
        _, make_marker, make_point = self._make
        marker = make_marker()
        marker.header.frame_id = answer.point.world_frame
        write_stamp(marker.header.stamp, answer.point.stamp)
        marker.ns, marker.id, marker.type, marker.action = name, number, _ARROW, _ADD
        marker.pose.orientation.w = 1.0
        shade = marker.color
        shade.r, shade.g, shade.b, shade.a = colour
        if len(ends):
            marker.scale.x, marker.scale.y, marker.scale.z = 0.012, 0.03, 0.0
            marker.points = [make_point() for _ in ends]
        for point, place in zip(marker.points, ends, strict=True):
            point.x, point.y, point.z = place.tolist()
        return marker
