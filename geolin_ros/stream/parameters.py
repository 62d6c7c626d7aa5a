# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the linearization node: one table, from which everything else is made."""

import json
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from geolin_ros.errors import ConfigurationError
from geolin_ros.model.tree import ReadingOptions
from geolin_ros.stream.settings import StreamSettings
from geolin_ros.stream.wrench_input import WrenchTopic

Value = str | float | bool | list[float] | list[str]
NO_NAMES = ['']
"""An empty list of names: ROS cannot tell the type of a list without entries."""


@dataclass(frozen=True)
class Parameter:
    """One row of the table.

    Attributes
    ----------
    unit
        Unit of the value, empty where it has none.
    choices
        Allowed values of a text.
    bounds
        Smallest and largest allowed number.
    live
        Whether a change takes effect while the node runs; else it needs a new configuration.
    entry
        Reads one entry of a list of texts; raises `ConfigurationError` for one it cannot read.
    """

    name: str
    default: Value
    text: str
    unit: str = ''
    choices: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    live: bool = True
    entry: Callable[[str], object] | None = None

    def check(self, value: Any) -> None:
        """Raise `ConfigurationError` if ``value`` is not allowed."""
        if self.choices and value not in self.choices:
            raise ConfigurationError(
                f'parameter {self.name} is {value!r}, expected one of '
                f'{", ".join(map(repr, self.choices))}'
            )
        if self.bounds is not None and not self.bounds[0] <= value <= self.bounds[1]:
            low, high = self.bounds
            raise ConfigurationError(
                f'parameter {self.name} is {value!r}, expected {low:g} to {high:g} {self.unit}'
            )
        if self.entry is not None:
            for text in _names(value):
                self.entry(text)
        if isinstance(self.default, list) and self.default != NO_NAMES:
            if len(value) != len(self.default):
                raise ConfigurationError(
                    f'parameter {self.name} has {len(value)} numbers, expected {len(self.default)}'
                )
            if not all(map(math.isfinite, value)):
                raise ConfigurationError(
                    f'parameter {self.name} is {list(value)}, expected finite numbers'
                )

    @property
    def default_text(self) -> str:
        """The default as YAML, which is JSON but for the quotes of words."""
        if isinstance(self.default, str):
            return self.default or "''"
        return json.dumps(self.default)

    @property
    def allowed(self) -> str:
        """The allowed values, for people."""
        if self.choices:
            return ', '.join(f'`{choice}`' for choice in self.choices)
        if self.bounds is not None:
            return f'{self.bounds[0]:g} ... {self.bounds[1]:g}'
        return ''


def _position(entry: str) -> tuple[str, float]:
    name, _, position = entry.partition('=')
    try:
        return name.strip(), float(position)
    except ValueError:
        raise ConfigurationError(
            f'parameter locked_joints holds {entry!r}, expected name=position [rad or m]'
        ) from None


def _wrench_topic(entry: str) -> WrenchTopic:
    match entry.split():
        case [topic, link, ('body' | 'world' | 'world_oriented') as kind]:
            return WrenchTopic(topic, link, kind)
    raise ConfigurationError(
        f'parameter wrench_topics holds {entry!r}, expected a topic, a link and one of body, '
        'world, world_oriented, with blanks between'
    )


TABLE: tuple[Parameter, ...] = (
    Parameter(
        'robot_description',
        '',
        'URDF text. Empty: taken from robot_description_file, else from robot_description_node, '
        'else from the topic robot_description.',
    ),
    Parameter('robot_description_file', '', 'Path of a URDF file.'),
    Parameter(
        'robot_description_node',
        '',
        'Node whose parameter robot_description is asked for, as /robot_state_publisher; it may '
        'start later.',
    ),
    Parameter(
        'description_timeout',
        10.0,
        'After this long without a description the node says what it waits for, again and again.',
        unit='s',
        bounds=(0.1, 3600.0),
    ),
    Parameter(
        'base',
        'floating',
        'Whether pose and twist of the root link are part of the state.',
        choices=('floating', 'fixed'),
    ),
    Parameter(
        'mimic',
        'exact',
        'How mimic joints are read: following their master, or as joints of their own.',
        choices=('exact', 'independent'),
    ),
    Parameter(
        'joints',
        NO_NAMES,
        'Joint coordinates, in order; other joints are locked. Empty: all, depth first.',
    ),
    Parameter(
        'locked_joints',
        NO_NAMES,
        'Joints held still, each as name=position; they may be missing from the joint states.',
        unit='rad or m',
        entry=_position,
    ),
    Parameter(
        'actuated_joints',
        NO_NAMES,
        'Joints whose efforts are the columns of B, in order. Empty: all.',
    ),
    Parameter(
        'overlay_file',
        '',
        'YAML file with what a URDF cannot say: rotors, gears, springs, friction, payloads.',
    ),
    Parameter(
        'coulomb_friction',
        False,
        'Whether the friction of description and overlay acts, smoothed as f tanh(r / v0).',
    ),
    Parameter('payload.frame', '', 'Link that carries a payload. Empty: none.'),
    Parameter('payload.mass', 0.0, 'Its mass.', unit='kg', bounds=(0.0, 1e6)),
    Parameter('payload.com', [0.0, 0.0, 0.0], 'Its centre of mass in link axes.', unit='m'),
    Parameter(
        'payload.inertia',
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        'Its inertia about the centre of mass, link axes: ixx, iyy, izz, ixy, ixz, iyz.',
        unit='kg m^2',
    ),
    Parameter('gravity', [0.0, 0.0, -9.81], 'Gravity in world axes.', unit='m/s^2'),
    Parameter(
        'odometry.twist_frame',
        'child',
        'Axes of the odometry twist: those of child_frame_id, or the world axes at its origin.',
        choices=('child', 'world'),
    ),
    Parameter(
        'odometry.child_frame',
        '',
        "Link that the odometry is about, instead of the messages' child_frame_id.",
    ),
    Parameter(
        'odometry.quaternion_tolerance',
        0.01,
        "Largest deviation of the orientation's length from 1; within it it is normalised.",
        bounds=(1e-9, 1.0),
    ),
    Parameter(
        'max_skew',
        0.05,
        'Longest distance in time between a joint state and the odometry carried to it.',
        unit='s',
        bounds=(0.0, 10.0),
    ),
    Parameter(
        'torque_source',
        'effort',
        'Joint efforts: of the joint states, zero, from the topic joint_efforts, or those that '
        'hold the state still.',
        choices=('effort', 'zero', 'topic', 'inverse_dynamics'),
    ),
    Parameter(
        'nu_dot',
        'predicted',
        'Accelerations to linearize about: by the forward dynamics, by differentiated and '
        'filtered twists and joint rates, or zero.',
        choices=('predicted', 'measured', 'zero'),
    ),
    Parameter(
        'nu_dot_cutoff',
        20.0,
        'Cut-off of the low-pass filter of measured accelerations.',
        unit='Hz',
        bounds=(0.01, 10000.0),
    ),
    Parameter(
        'wrench_topics',
        NO_NAMES,
        'External wrenches, each as `topic link kind`; kinds are body, world, world_oriented.',
        entry=_wrench_topic,
    ),
    Parameter(
        'wrench_timeout',
        0.1,
        'Longest distance in time between a joint state and the newest wrench of a topic.',
        unit='s',
        bounds=(0.0, 3600.0),
    ),
    Parameter(
        'missing_wrench',
        'drop',
        'What becomes of a joint state without one of the wrenches: it is dropped, or answered '
        'with no force and a finding.',
        choices=('drop', 'zero'),
    ),
    Parameter(
        'trigger',
        'joint_states',
        'When to linearize: at each joint state, or at timer_rate about the newest one.',
        choices=('joint_states', 'timer'),
    ),
    Parameter('timer_rate', 200.0, 'Rate of the timer trigger.', unit='Hz', bounds=(0.1, 10000.0)),
    Parameter(
        'max_rate',
        0.0,
        'Joint states that come faster are left out; 0: none.',
        unit='Hz',
        bounds=(0.0, 10000.0),
    ),
    Parameter(
        'form',
        'continuous',
        'A and B of the differential equation or of a step of dt.',
        choices=('continuous', 'discrete'),
    ),
    Parameter('dt', 0.002, 'Step of the discrete form.', unit='s', bounds=(1e-6, 1.0)),
    Parameter(
        'method',
        'midpoint',
        'How the discrete form is made.',
        choices=('midpoint', 'euler', 'zoh', 'rkmk4'),
    ),
    Parameter(
        'reference',
        'moving',
        'What the error is taken to: the motion through the state, or the state held still.',
        choices=('moving', 'frozen'),
    ),
    Parameter(
        'representation',
        'body',
        'Base twist coordinates of A and B.',
        choices=('body', 'inertial', 'mixed'),
    ),
    Parameter(
        'autostart',
        True,
        'Configure and activate at start; else a lifecycle manager does.',
        live=False,
    ),
)


def as_markdown() -> str:
    """Return the table for people."""
    rows = ['| parameter | default | allowed | meaning |', '|---|---|---|---|']
    for parameter in TABLE:
        default = f'`{parameter.default_text}` {parameter.unit}'.rstrip()
        text = parameter.text if parameter.live else f'{parameter.text} Read at start only.'
        rows.append(f'| `{parameter.name}` | {default} | {parameter.allowed} | {text} |')
    return '\n'.join(rows) + '\n'


def as_parameter_file() -> str:
    """Return a ROS parameter file with every default, for a node of any name and namespace."""
    lines = ['/**:', '  ros__parameters:']
    for parameter in TABLE:
        unit = f'[{parameter.unit}]' if parameter.unit else ''
        values = f'{parameter.allowed} {unit}'.replace('`', '').strip()
        comment = textwrap.wrap(parameter.text, 92) + ([values] if values else [])
        lines += [f'    # {line}' for line in comment]
        lines.append(f'    {parameter.name}: {parameter.default_text}')
    return '\n'.join(lines) + '\n'


BY_NAME = {parameter.name: parameter for parameter in TABLE}
MODEL_NAMES = (
    'base',
    'mimic',
    'joints',
    'locked_joints',
    'actuated_joints',
    'overlay_file',
    'coulomb_friction',
    'payload.frame',
    'payload.mass',
    'payload.com',
    'payload.inertia',
    'gravity',
)


def check_all(values: Mapping[str, Any], table: Mapping[str, Parameter] = BY_NAME) -> None:
    """Raise `ConfigurationError` for the first value of the table that is not allowed."""
    for name, value in values.items():
        if name in table:
            table[name].check(value)


def model_options(values: Mapping[str, Any]) -> ReadingOptions:
    """Return the options of the model from parameter values.

    Raises
    ------
    ConfigurationError
        If a locked joint is not written as name=position.
    """
    return ReadingOptions(
        base=values['base'],
        mimic=values['mimic'],
        gravity=values['gravity'],
        joints=_names(values['joints']) or None,
        locked_joints=dict(_position(entry) for entry in _names(values['locked_joints'])),
        actuated_joints=_names(values['actuated_joints']) or None,
        overlay=values['overlay_file'] or None,
        coulomb_friction=values['coulomb_friction'],
    )


def payloads(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the payload of the parameters, if there is one."""
    if not values['payload.frame']:
        return []
    keys = ('frame', 'mass', 'com', 'inertia')
    payload = {key: values[f'payload.{key}'] for key in keys}
    return [payload | {key: list(payload[key]) for key in ('com', 'inertia')}]


def _names(entries: Sequence[str]) -> list[str]:
    return [entry for entry in entries if entry]


def stream_settings(values: Mapping[str, Any]) -> StreamSettings:
    """Return the settings of the stream from parameter values."""
    return StreamSettings(
        twist_frame=values['odometry.twist_frame'],
        child_frame=values['odometry.child_frame'],
        quaternion_tolerance=values['odometry.quaternion_tolerance'],
        max_skew=values['max_skew'],
        torque_source=values['torque_source'],
        nu_dot=values['nu_dot'],
        nu_dot_cutoff=values['nu_dot_cutoff'],
        wrench_topics=tuple(map(_wrench_topic, _names(values['wrench_topics']))),
        wrench_timeout=values['wrench_timeout'],
        missing_wrench=values['missing_wrench'],
        max_rate=values['max_rate'],
        form=values['form'],
        dt=values['dt'],
        method=values['method'],
        reference=values['reference'],
        representation=values['representation'],
    )
