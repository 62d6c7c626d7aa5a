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
from geolin_ros.offline.message_types import LINEARIZATION, ODOMETRY, STRING
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
    {
        *('robot_description', 'robot_description_file', 'robot_description_node'),
        *('xacro_args', 'root'),
    },
    {'overlay', 'overlay_file'},
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
        own = (f'{key} {_short(used[key])}' for key in used if used[key] != default[key])
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
        if topic.endswith(f'/{TOPIC}') and type_of_topic == STRING
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
    try:
        values, *later = [
            dict(content['ros__parameters'])
            for message in recording.of_topic(f'{name}/{TOPIC}')
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
    for key in sorted(values.keys() - known):
        if not is_of_ros(key):
            warn(f'{name} was recorded with parameter {key}, which {node} does not have')
    try:
        return name, {key: checked(key, values[key], node) for key in own}
    except GeolinError as error:
        raise RecordingError(f'{where}: {error}; override it with -p or --params') from error


def _short(value: Any) -> str:
    text = str(value) if isinstance(value, str) else repr(value)
    return f'{text.split()[0][:20]}... ({len(text)} characters)' if len(text) > 100 else text
