# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the nodes that were recorded: a latched text beside each node's topics.

``/NODE/parameters`` (std_msgs/String) holds a ROS parameter file. What the node read from files
of its machine is inside, as ``robot_description`` and ``overlay``: the bag can be taken elsewhere.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from geolin_ros.errors import GeolinError, RecordingError
from geolin_ros.offline.message_types import (
    FORWARD_DYNAMICS,
    LINEARIZATION,
    ODOMETRY,
    STRING,
)
from geolin_ros.offline.recording import Recording
from geolin_ros.stream.parameters.file import (
    checked,
    default_values,
    is_of_ros,
    read_parameter_file,
)
from geolin_ros.stream.parameters.model_reading import to_text
from geolin_ros.stream.parameters.table import NO_NAMES

TOPIC = 'parameters'
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
    frozenset(
        {
            *('robot_description', 'robot_description_file', 'robot_description_node'),
            *('xacro_args', 'root'),
        }
    ),
    frozenset({'overlay', 'overlay_file'}),
)
"""Parameters that stand for each other: given ones replace all that were recorded."""


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
    """Return the name of the recorded node and all parameters: given, recorded, or defaults.

    Raises
    ------
    ConfigurationError, UnknownNameError, RecordingError
        If a parameter is not what it should be.
    """
    given = read_parameter_file(params, node) if params else {}
    given |= {name: checked(name, value, node) for name, value in (values or {}).items()}
    name, recorded = recorded_values(recording, node, warn)
    replaced = {other for group in TOGETHER if group & given.keys() for other in group}
    used = {
        key: value for key, value in recorded.items() if key not in replaced and key not in given
    }
    default = default_values(node)
    if name:
        own = (f'{key} {_short(used[key])}' for key in used if used[key] != default[key])
        note(f'parameters as {name} had them: {", ".join(own) or "defaults"}')
    return name, default | used | given


def recorded_values(
    recording: Recording, node: str, warn: Callable[[str], object]
) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of the recorded node of a kind; nothing if there is none.

    Parameters
    ----------
    recording
        Open bags.
    node
        ``linearizer`` or ``state_estimator``: the kind, not the name.
    warn
        Is called with what cannot be used: several such nodes, parameters that this version does
        not have, values that changed while it was recorded, of which the first ones count.

    Raises
    ------
    RecordingError
        If the text is no parameter file.
    """
    output, kind = OUTPUTS[node]
    names = [
        name
        for topic in recording.types
        if topic.endswith(f'/{TOPIC}') and recording.types[topic] == STRING
        for name in [topic.removesuffix(f'/{TOPIC}')]
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
    where = f'{recording.name}, topic {name}/{TOPIC}'
    values, *later = [
        _values(message.data, where) for message in recording.of_topic(f'{name}/{TOPIC}')
    ] or [{}]
    for changed in later:
        for parameter in sorted(key for key in values if changed.get(key) != values[key]):
            warn(
                f'{name} was given another {parameter} while it was recorded: '
                f'{_short(changed.get(parameter))}, {_short(values[parameter])} before, which '
                f'counts; -p {parameter}:=VALUE overrides it'
            )
    known = default_values(node)
    for parameter in sorted(values.keys() - known):
        warn(f'{name} was recorded with parameter {parameter}, which {node} does not have')
    try:
        return name, {
            key: checked(key, value, node) for key, value in values.items() if key in known
        }
    except GeolinError as error:
        raise RecordingError(f'{where}: {error}; override it with -p or --params') from error


def _values(text: str, where: str) -> dict[str, Any]:
    """Return the parameters that a text holds."""
    try:
        ((_, node),) = json.loads(text).items()
        found = dict(node['ros__parameters'])
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise RecordingError(
            f'{where} holds no parameters of a node ({error}), expected what geolin record '
            'writes; give them with --params, and record again'
        ) from error
    return {name: value for name, value in found.items() if not is_of_ros(name)}


def first_answer(recording: Recording, name: str = '') -> Any:
    """Return the first answer of a linearizer, or None.

    Without its name, that of the only linearizer of the bags.
    """
    for output, kind in (('linearization', LINEARIZATION), ('forward_dynamics', FORWARD_DYNAMICS)):
        topics = [
            topic
            for topic, found in recording.types.items()
            if found == kind and topic == (f'{name}/{output}' if name else topic)
        ]
        if len(topics) == 1:
            for message in recording.of_topic(topics[0]):
                return message
    return None


def _short(value: Any) -> str:
    text = str(value) if isinstance(value, str) else repr(value)
    return f'{text.split()[0][:20]}... ({len(text)} characters)' if len(text) > 100 else text
