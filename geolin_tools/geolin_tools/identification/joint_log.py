# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a bag holds of a robot's motion and of the forces on it, as arrays."""

from collections.abc import Sequence

import numpy as np

from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, RecordingError
from geolin_ros.linearization.contacts.description import Contact
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.offline.points import Watch, point_stream, recorded_points
from geolin_ros.offline.source import Source
from geolin_ros.spatial import se3
from geolin_ros.stream.inputs.joint_input import JointInput
from geolin_ros.stream.topic_stream import EARLY, Cause, DroppedInput, nanoseconds
from geolin_ros.typing import Array
from geolin_tools.identification import Signals


def joint_signals(source: Source, watch: Watch = lambda items, total: items) -> Signals:
    """Return what a bag holds for the joints of its robot, and for its base if that floats.

    Times are the stamps of the joint states. With a fixed base rates and efforts are None if the
    first joint state has none. With a floating one all is paired as a node pairs it; forces are
    those of ``wrench_topics``, and efforts None if ``torque_source`` is zero; contacts as it has.

    Raises `RecordingError` if there are no joint states, a joint of the robot is missing, or a
    number not finite; with a floating base if any message had to be dropped. Raises
    `ConfigurationError` if there are closed loops, or efforts that nobody measured.
    """
    if source.model.loops:
        raise ConfigurationError(
            'there are closed loops, expected none: their forces are not known; '
            "leave them out by -p 'loops:=[none]'"
        )
    if source.model.base == 'floating':
        return _floating_signals(source, watch)
    recording, model = source.recording, source.model
    topic = recording.topic('joint_states')
    reader, name = JointInput(model), recording.name
    times: list[int] = []
    rows: dict[str, list[Array]] = {'position': []}
    for recorded in watch(recording.messages(['joint_states']), recording.counts[topic]):
        message = recorded.message
        if not times:
            rows |= {field: [] for field in ('velocity', 'effort') if len(getattr(message, field))}
        for field, values in rows.items():
            values.append(np.empty(model.n))
            try:
                reader.read(message, field, values[-1], Cause.LENGTH)
            except DroppedInput as drop:
                # NaN throughout is what nobody measured: what else it is, `check` finds
                if drop.cause is not Cause.NOT_FINITE:
                    raise RecordingError(f'{name}: joint state {len(times)}: {drop}') from None
        times.append(nanoseconds(message.header.stamp))
    if not times:
        raise RecordingError(f'{name} has no message on {topic}, expected joint states')
    measured = {field: np.array(values) for field, values in rows.items()}
    rate, effort = measured.get('velocity'), measured.get('effort')
    return Signals(name, _seconds(times), measured['position'], rate, effort)


def _floating_signals(source: Source, watch: Watch) -> Signals:
    name, values = source.recording.name, source.values
    if values['torque_source'] == 'inverse_dynamics':
        raise ConfigurationError(
            "parameter torque_source is 'inverse_dynamics', expected efforts that were measured; "
            'set it to effort or topic, or to zero if there are none'
        )
    source.require_inputs()

    def refuse(drop: DroppedInput) -> None:
        if drop.cause not in EARLY:
            raise RecordingError(f'{name}: {drop}')

    points = list(recorded_points(point_stream(source, refuse), source, watch))
    if not points:
        raise RecordingError(f'{name} has no joint state with odometry near it, expected some')
    states = [point.state for point in points]
    forces = {
        link: np.array([_sum_on(link, source.model, p.state, p.wrenches) for p in points])
        for link in sorted({wrench.link for wrench in points[0].wrenches})
    }
    efforts = [point.efforts for point in points]
    of_points = (contact for p in points for contact in p.contacts)
    contacts = {c.name: c for c in of_points if isinstance(c, Contact)}
    holding = [{contact.name for contact in p.contacts if contact.active} for p in points]
    return Signals(
        name,
        _seconds([point.stamp for point in points]),
        position=np.array([state.s for state in states]),
        rate=np.array([state.r for state in states]),
        effort=None if values['torque_source'] == 'zero' else np.array(efforts),
        pose=np.array([state.H for state in states]),
        twist=np.array([state.v for state in states]),
        forces=forces,
        contacts=tuple(contacts.values()),
        holds=np.array([[c in held for c in contacts] for held in holding]) if contacts else None,
    )


def _sum_on(link: str, model: TreeModel, state: State, wrenches: Sequence[Wrench]) -> Array:
    """Return the wrench (6,) on a link about the origin of the world, in world axes."""
    H, level = Kinematics(model, state).pose(link), np.eye(4)
    total = np.zeros(6)
    for wrench in wrenches:
        if wrench.link == link:
            level[:3, 3] = H[:3, 3] + H[:3, :3] @ np.asarray(wrench.point)
            frame = {'body': H, 'world_oriented': level, 'world': np.eye(4)}[wrench.kind]
            total += se3.wrench_map(frame) @ np.hstack((wrench.force, wrench.moment))
    return total


def _seconds(stamps: Sequence[int]) -> Array:
    """Return times [s] after the first of stamps [ns]."""
    return np.array([stamp - stamps[0] for stamp in stamps], dtype=np.float64) * 1e-9
