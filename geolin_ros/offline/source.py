# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What an offline run starts with: bags, a model, and the parameters that a node would have.

Those of recorded nodes are a latched text beside each node's topics: ``/NODE/parameters``
(std_msgs/String) holds a ROS parameter file. What the node read from files of its machine is
inside, as ``robot_description`` and ``overlay``: the bag can be taken elsewhere.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from textwrap import shorten
from typing import Any

from geolin_ros.description import Description
from geolin_ros.errors import GeolinError, RecordingError
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline.bags import FORWARD_DYNAMICS, LINEARIZATION, ODOMETRY, STRING, WRENCH
from geolin_ros.offline.recording import Recording
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.parameters.file import (
    checked,
    default_values,
    is_of_ros,
    read_parameter_file,
)
from geolin_ros.stream.parameters.linearizer import stream_settings
from geolin_ros.stream.parameters.model_reading import from_text, read_model, to_text
from geolin_ros.stream.parameters.table import NO_NAMES

NODE = 'linearizer'
MOST_MASS = 0.5
"""A description may differ from the recorded one by so much of the mass: payloads, what was
identified. Beyond, it is of another robot."""
BASE_INPUTS = {'odometry': ('odom',), 'tf': ('tf_static', 'tf', 'imu')}
"""Roles that tell where a floating base is, by its source."""
PARAMETERS = 'parameters'
OUTPUTS = {
    'linearizer': ('linearization', LINEARIZATION),
    'state_estimator': ('odometry', ODOMETRY),
}
"""By which a recorded node is known, whatever its name and namespace."""
FILES: dict[str, tuple[str, Callable[[Path, Mapping[str, Any]], str]]] = {
    'robot_description_file': ('robot_description', to_text),
    'overlay_file': ('overlay', lambda path, _: path.read_text()),
}
"""Parameters that name a file, those that hold its text, and how it is read."""
TOGETHER = (
    {
        *('robot_description', 'robot_description_file', 'robot_description_node'),
        *('xacro_args', 'root'),
    },
    {'overlay', 'overlay_file'},
)
"""Parameters that stand for each other: given ones replace all that were recorded."""


@dataclass(frozen=True)
class Source:
    """An open recording, the robot in it, and how its messages are taken."""

    recording: Recording
    model: TreeModel
    values: Mapping[str, Any]
    description: str
    """URDF text."""
    other_robot: str = ''
    """How the description is not of the robot that the bag holds; empty if it is."""

    @property
    def settings(self) -> StreamSettings:
        """Settings of the stream."""
        return stream_settings(self.values)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Roles of the messages that the stream takes."""
        floating = BASE_INPUTS[self.settings.base_source] if self.model.base == 'floating' else ()
        topic = ('joint_efforts',) if self.values['torque_source'] == 'topic' else ()
        contacts = ('contact_states',) if self.settings.contacts.source == 'topic' else ()
        forces = self.settings.force_topics
        return (*floating, *topic, *contacts, *forces, 'joint_states')

    def require_inputs(self) -> None:
        """Raise `RecordingError` for another robot, or the first input that no topic has."""
        if self.other_robot:
            raise RecordingError(self.other_robot)
        for role in self.inputs:
            if role != 'tf_static':  # a base may need none
                self.recording.topic(role)

    @property
    def message_count(self) -> int:
        """How many messages the inputs have."""
        topics, counts = self.recording.topics, self.recording.counts
        return sum(counts[topics[role]] for role in self.inputs if role in topics)


@contextmanager
def open_source(
    bags: Sequence[str | Path],
    *,
    topics: Mapping[str, str] | None = None,
    urdf: str | Path | None = None,
    params: str | Path | None = None,
    values: Mapping[str, Any] | None = None,
    warn: Callable[[str], object] = lambda sentence: None,
    note: Callable[[str], object] = lambda sentence: None,
) -> Iterator[Source]:
    """Open bags, with ``topics`` as `Recording` takes them, and read the robot that is in them.

    ``urdf``, a URDF, xacro or MJCF file, goes before the description in parameters or bags.
    Parameters are those of ``values`` by name, else of ``params``, a file of the node, else as
    they were recorded if `geolin record` made the bag. ``warn`` is called with what is suspicious
    about the description, or differs from what was recorded; ``note`` with recorded parameters.

    Raises
    ------
    RecordingError
        If the bags cannot be opened, or hold no description where one is needed.
    ConfigurationError, UnknownNameError
        If a parameter or topic is not what it should be.
    ModelError
        If the description cannot be used.
    """
    with Recording(bags, topics) as recording:
        node, merged = read_parameters(recording, NODE, params, values, warn, note)
        for topic in stream_settings(merged).force_topics:
            recording.add_role(topic, WRENCH)
        description, model = read_robot(recording, merged, urdf, warn)
        answers = [
            message
            for topic, kind in recording.types.items()
            if kind in (LINEARIZATION, FORWARD_DYNAMICS) and topic.startswith(f'{node}/')
            for message in islice(recording.of_topic(topic), 1)
        ]
        hashes = {answer.model_hash for answer in answers} - {''}
        if hashes and model.hash not in hashes:
            recorded = ' and '.join(sorted(hashes))
            warn(
                f'A and B in the bag are of model {recorded}, these are of {model.hash}: the node '
                'had another description or other parameters; give them with --urdf, --params or '
                '-p, or record with `geolin record`, which keeps them'
            )
        if not (node or params or {'contact_source', 'contacts'} & (values or {}).keys()):
            _look_for_contacts(recording, answers, warn)
        other = _other_robot(recording, description)
        yield Source(recording, model, merged, to_text(description, merged), other)


def read_robot(
    recording: Recording,
    values: Mapping[str, Any],
    urdf: str | Path | None,
    warn: Callable[[str], object],
) -> tuple[str | Path, TreeModel]:
    """Return the first of the descriptions that are given, text or a file, and its model."""
    file = urdf or values['robot_description_file']
    if urdf is None and values['robot_description']:
        description: str | Path = str(values['robot_description'])
    else:
        description = Path(file) if file else recording.description()
    return description, read_model(_parsed(description), values, warn)


def _parsed(description: str | Path) -> Description | Path:
    """Return links and joints of a recorded text, which may be of MJCF, too."""
    return from_text(description) if isinstance(description, str) else description


def _look_for_contacts(
    recording: Recording, answers: Iterable[Any], warn: Callable[[str], object]
) -> None:
    """Warn of contacts in a bag that says nothing of parameters: they are not used."""
    topic = recording.topics.get('contact_states', '')
    dynamics = (getattr(answer, 'contact_dynamics', None) for answer in answers)
    contacts = (contact for found in dynamics if found for contact in found.contacts)
    if recording.counts.get(topic):
        warn(f'contacts on {topic} are not used; -p contact_source:=topic uses them')
    elif any(contact.active and not contact.partner_frame for contact in contacts):
        warn('contacts of A and B in the bag are not used; name them by -p contacts:=[...]')


def _other_robot(recording: Recording, description: str | Path) -> str:
    """Return how a description is of another robot than the one that the bag holds, or nothing."""
    try:
        recorded = recording.description()
        if recorded == description:
            return ''
        own, model = (
            read_model(_parsed(of), default_values(), lambda _: None)
            for of in (recorded, description)
        )
    except GeolinError:
        return ''
    joints = sorted({*own.joint_names} ^ {*model.joint_names})
    if joints:
        differs = f'joints {", ".join(joints[:3])} are of one of them alone'
    elif abs(model.total_mass - own.total_mass) > MOST_MASS * own.total_mass:
        differs = f'it has a mass of {model.total_mass:.3g} kg, not {own.total_mass:.3g} kg'
    else:
        return ''
    return (
        f'{recording.name} is of robot {own.name!r}, not of {model.name!r}, which was given: '
        f'{differs}; leave out --urdf to take the description of the bag'
    )


def parameter_text(node: str, values: Mapping[str, Any]) -> str:
    """Return what is recorded of a node of a full name: a parameter file, in JSON."""
    return json.dumps({node: {'ros__parameters': dict(values)}}, sort_keys=True)


def with_files(values: Mapping[str, Any], warn: Callable[[str], object]) -> dict[str, Any]:
    """Return parameter values with the texts of files in the place of their paths.

    A file that cannot be read keeps its path, and ``warn`` is called.
    """
    found = dict(values)
    for name, (text, read) in FILES.items():
        if found.get(name) and not found.get(text):
            try:
                found[text], found[name] = read(Path(found[name]), found), ''
                if text == 'robot_description':
                    found |= {'xacro_args': NO_NAMES, 'root': ''}
            except (GeolinError, OSError, UnicodeDecodeError) as error:
                warn(f'parameter {name} stays a path, its file cannot be read: {error}')
    return found


def read_parameters(
    recording: Recording,
    node: str,
    params: str | Path | None,
    values: Mapping[str, Any] | None,
    warn: Callable[[str], object],
    note: Callable[[str], object],
) -> tuple[str, dict[str, Any]]:
    """Return the name of the recorded node, empty without one, and all parameters.

    They are those that are given, else recorded, else defaults. ``node`` is the kind,
    ``linearizer`` or ``state_estimator``, not the name; ``warn`` is called with what was recorded
    and is not used, ``note`` with what is.

    Raises
    ------
    ConfigurationError, UnknownNameError, RecordingError
        If a parameter is not what it should be.
    """
    given = read_parameter_file(params, node) if params else {}
    given |= {name: checked(name, value, node) for name, value in (values or {}).items()}
    name, recorded = _recorded_values(recording, node, warn)
    replaced = {other for group in TOGETHER if group & given.keys() for other in group}
    used = {key: recorded[key] for key in recorded.keys() - replaced - given.keys()}
    default = default_values(node)
    if name:
        own = (
            f'{key} {shorten(str(used[key]), 100)}' for key in used if used[key] != default[key]
        )
        note(f'parameters as {name} had them: {", ".join(sorted(own)) or "defaults"}')
    return name, default | used | given


def _recorded_values(
    recording: Recording, node: str, warn: Callable[[str], object]
) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of the recorded node of a kind; nothing if there is none.

    Of values that changed while it was recorded the first ones count.
    """
    output, kind = OUTPUTS[node]
    names = [
        name
        for topic, type_of_topic in recording.types.items()
        if topic.endswith(f'/{PARAMETERS}') and type_of_topic == STRING
        for name in [topic.removesuffix(f'/{PARAMETERS}')]
        if recording.types.get(f'{name}/{output}') == kind
    ]
    if len(names) != 1:
        if names:
            warn(
                f'{recording.name} has parameters of {" and ".join(sorted(names))}, which are '
                'not used, expected one such node; give them with --params'
            )
        return '', {}
    (name,) = names
    where = f'{recording.name}, topic {name}/{PARAMETERS}'
    try:
        values, *later = [
            dict(content['ros__parameters'])
            for message in recording.of_topic(f'{name}/{PARAMETERS}')
            for content in json.loads(message.data).values()
        ] or [{}]
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise RecordingError(
            f'{where} holds no parameters of a node ({error}), expected what geolin record '
            'writes; give them with --params, and record again'
        ) from error
    known = default_values(node)
    own = sorted(values.keys() & known)  # others are of ROS, or of another version
    changed = {key for other in later for key in own if other.get(key) != values[key]}
    if changed:
        warn(
            f'{name} was given other {", ".join(sorted(changed))} while it was recorded: the '
            'first values count; -p NAME:=VALUE overrides them'
        )
    unknown = sorted(key for key in values.keys() - known if not is_of_ros(key))
    if unknown:
        warn(f'{name} was recorded with {", ".join(unknown)}, which this {node} does not have')
    try:
        return name, {key: checked(key, values[key], node) for key in own}
    except GeolinError as error:
        raise RecordingError(f'{where}: {error}; override it with -p or --params') from error
