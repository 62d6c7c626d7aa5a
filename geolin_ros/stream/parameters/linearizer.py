# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the linearization node: one table, from which everything else is made."""

from collections.abc import Mapping, Sequence
from typing import Any

from geolin_ros.description import Loop, constraint_of, parse_overlay
from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.model.tree import ReadingOptions
from geolin_ros.stream.contacts import ContactSettings, FootForce
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.wrench_input import WrenchTopic
from geolin_ros.stream.parameters.table import (
    NO_NAMES,
    Parameter,
    entries_of,
    row_of,
    rows_of,
    settings_of,
)
from geolin_ros.urdf.reader import argument_of


def _not(parameter: str, entry: str, expected: str) -> ConfigurationError:
    return ConfigurationError(f'parameter {parameter} holds {entry!r}, expected {expected}')


def _position(entry: str) -> tuple[str, float]:
    name, _, position = entry.partition('=')
    try:
        return name.strip(), float(position)
    except ValueError:
        raise _not('locked_joints', entry, 'name=position [rad or m]') from None


def _wrench_topic(entry: str) -> WrenchTopic:
    match entry.split():
        case [topic, link, ('body' | 'world' | 'world_oriented') as kind]:
            return WrenchTopic(topic, link, kind)
    expected = 'a topic, a link and one of body, world, world_oriented, with blanks between'
    raise _not('wrench_topics', entry, expected)


def _contact(entry: str) -> Contact:
    found = constraint_of(entry)
    if found is not None:
        name, options = found
        return Contact(name, **options)
    expected = 'a frame, point or surface, and perhaps the gains kp and kd, with blanks between'
    raise _not('contacts', entry, expected)


def loops_of(entries: Sequence[str]) -> list[str] | None:
    """Return the loops that texts name: None if there are no texts, none for ``none``."""
    return [text for text in entries if text != 'none'] if entries else None


def _foot_force(entry: str) -> FootForce:
    match entry.split():
        case [topic, frame]:
            return FootForce(topic, frame)
    raise _not('foot_force_topics', entry, 'a topic and a frame of contacts, with a blank between')


_DESCRIPTION = (
    Parameter(
        'robot_description',
        '',
        'URDF text. Empty: taken from robot_description_file, else from robot_description_node, '
        'else from the topic robot_description.',
    ),
    Parameter('robot_description_file', '', 'Path of a URDF, xacro or MJCF file.', live=False),
    Parameter(
        'xacro_args',
        NO_NAMES,
        'Values of the <xacro:arg> of this file, each as NAME:=VALUE.',
        entry=argument_of,
        live=False,
    ),
    Parameter(
        'root', '', 'First body of the robot in MJCF in which several trees move.', live=False
    ),
    Parameter(
        'robot_description_node',
        '',
        'Node, as /robot_state_publisher, whose parameter robot_description is asked for.',
    ),
    Parameter(
        'description_timeout',
        10.0,
        'Period of the log message while there is no description.',
        unit='s',
        bounds=(0.1, 3600.0),
    ),
)
_MODEL = (
    Parameter(
        'base',
        'auto',
        'Whether pose and twist of the root link are part of the state; auto: they are, unless it '
        'is called world, or MJCF gives it no free joint.',
        choices=('auto', 'floating', 'fixed'),
    ),
    Parameter(
        'mimic',
        'exact',
        'Mimic joints: exact constraints, or joints of their own.',
        choices=('exact', 'independent'),
    ),
    Parameter(
        'joints', NO_NAMES, 'Joint coordinates in order; others locked. Empty: all, depth first.'
    ),
    Parameter(
        'locked_joints',
        NO_NAMES,
        'Locked joints, each as name=position; they may be missing from the joint states.',
        unit='rad or m',
        entry=_position,
    ),
    Parameter(
        'actuated_joints', NO_NAMES, 'Joints whose efforts are columns of B, in order. Empty: all.'
    ),
    Parameter(
        'loops',
        NO_NAMES,
        'Closed loops, always in force, each as `frame_a=frame_b kind` or with gains kp and kd '
        'behind, as contacts. Empty: those of an MJCF file; `none`: none.',
        unit='1/s^2 and 1/s',
        entry=lambda entry: entry == 'none' or Loop.parse(entry),
    ),
    Parameter(
        'overlay_file',
        '',
        'YAML file with what a URDF cannot describe: rotors, gears, springs, friction, payloads.',
        live=False,
    ),
    Parameter('overlay', '', 'The same as YAML text: {joints: {knee: {rotor_inertia: 1.0e-4}}}.'),
    Parameter(
        'coulomb_friction',
        False,
        'Whether the friction of description and overlay is modelled, as f tanh(r / v0).',
    ),
    Parameter('payload.frame', '', 'Link that carries a payload. Empty: none.'),
    Parameter('payload.mass', 0.0, 'Its mass.', unit='kg', bounds=(0.0, 1e6)),
    Parameter('payload.com', [0.0] * 3, 'Its centre of mass in link axes.', unit='m'),
    Parameter(
        'payload.inertia',
        [0.0] * 6,
        'Its inertia about the centre of mass, link axes: ixx, iyy, izz, ixy, ixz, iyz.',
        unit='kg m^2',
    ),
    Parameter('gravity', [0.0, 0.0, -9.81], 'Gravity in world axes.', unit='m/s^2'),
)
TABLE: tuple[Parameter, ...] = (
    *_DESCRIPTION,
    *_MODEL,
    *rows_of(
        StreamSettings,
        {
            'base_source': 'Where pose and twist of the base come from: topic odom, or transforms '
            'and topic imu.',
            'frame_prefix': 'Prefix of link names in the frames of messages, as in '
            'robot_state_publisher.',
            'odometry.twist_frame': 'Axes of the odometry twist: those of child_frame_id, or the '
            'world axes at its origin.',
            'odometry.child_frame': 'Link of the odometry, instead of the child_frame_id of its '
            'messages.',
            'odometry.quaternion_tolerance 1e-9 ... 1': 'Largest deviation of the norm of the '
            'quaternion from 1; smaller ones are normalised.',
            'tf_world_frame': 'World frame of the transforms to the base.',
            'tf_velocity_cutoff 0.01 ... 10000 [Hz]': 'Cut-off of the low-pass filter of the '
            'linear velocity from transforms.',
            'pairing': 'Odometry of a joint state: the newest, extrapolated by its twist, or '
            'interpolated between two, which waits for the later one.',
            'max_skew 0 ... 10 [s]': 'Largest time between a joint state and its odometry, or its '
            'other parts.',
            'max_wait 0 ... 1e6 [s]': 'Longest time, by stamps of joint states, that each waits '
            'for an odometry not before it. 0: none if pairing is newest, max_skew if it is '
            'interpolate.',
            'joint_states_in_parts': 'Whether each joint state has only some of the joints, to be '
            'merged.',
            'torque_source': 'Joint efforts: from the joint states, zero, from the topic '
            'joint_efforts, or by inverse dynamics.',
            'nu_dot': 'Accelerations to linearize about: by the forward dynamics, by '
            'differentiated and filtered twists and joint rates, or zero.',
            'nu_dot_cutoff 0.01 ... 10000 [Hz]': 'Cut-off of the low-pass filter of measured '
            'accelerations.',
        },
    ),
    Parameter(
        'wrench_topics',
        NO_NAMES,
        'External wrenches, each as `topic link kind`; kinds are body, world, world_oriented.',
        entry=_wrench_topic,
    ),
    row_of(
        ContactSettings,
        'contact_source',
        'Active contacts: all of contacts; those of the topic contact_states; or those of '
        'contacts with a measured foot force.',
        choices=('parameter', 'topic', 'forces'),
    ),
    Parameter(
        'contacts',
        NO_NAMES,
        'Frames in contact with the world, each as `frame kind` or `frame kind kp kd`; '
        'kinds are point and surface. Empty: none, unless a topic says so.',
        unit='1/s^2 and 1/s',
        entry=_contact,
    ),
    Parameter(
        'foot_force_topics',
        NO_NAMES,
        'Forces at contacts, each as `topic frame`; wrench_timeout applies to them too.',
        entry=_foot_force,
    ),
    *rows_of(
        ContactSettings,
        {
            'contact_on_force 0 ... 1e6 [N]': 'A foot is in contact from this force on.',
            'contact_off_force 0 ... 1e6 [N]': 'A foot in contact is lifted below this force.',
            'admissible_basis': 'Whether messages contain the basis of the motions that contacts '
            'admit.',
        },
    ),
    *rows_of(
        StreamSettings,
        {
            'wrench_timeout 0 ... 3600 [s]': 'Largest time between a joint state and the newest '
            'wrench of a topic.',
            'missing_wrench': 'A joint state without one of the wrenches is dropped, or '
            'linearized with zero force and a finding.',
            'mass_matrix': 'Whether messages contain the mass matrix.',
            'trigger': 'When to linearize: at each joint state, or at timer_rate about the newest '
            'one.',
            'timer_rate 0.1 ... 10000 [Hz]': 'Rate of the timer trigger.',
            'max_rate 0 ... 10000 [Hz]': 'Joint states at a higher rate are skipped; 0: no limit.',
            'form': 'A and B of the differential equation or of a step of dt.',
            'dt 1e-6 ... 1 [s]': 'Step of the discrete form.',
            'method': 'Discretization method.',
            'reference': 'Reference of the displacements: the motion through the state, or the '
            'fixed state.',
            'representation': 'Base twist coordinates of A and B.',
            'service.rate 1 ... 10000': 'Maximum rate of requests to linearize; requests beyond '
            'it are refused.',
            'service.size 0 ... 10000': 'Maximum number of wrenches and contacts in a request; '
            'larger requests are refused.',
            'service.budget 1e-6 ... 1': 'Largest share of the last second for answers; requests '
            'beyond it are refused.',
            'certificate.every 0 ... 1000000': 'Every N-th linearization is checked against '
            'independent equations, and its posture for singularity; 0: none.',
            'certificate.budget 1e-6 ... 1': 'Largest share of the time of one processor for '
            'these checks; others are skipped.',
        },
    ),
    Parameter(
        'marker_rate',
        0.0,
        'Maximum rate of ~/markers (visualization_msgs/MarkerArray): contact forces and modes for '
        'RViz; 0: none.',
        unit='Hz',
        bounds=(0.0, 100.0),
        live=False,
    ),
    Parameter(
        'certificate.folder',
        '',
        'Folder for linearizations that fail the check, see `geolin recheck`. Empty: the folder '
        'of ROS logs.',
        live=False,
    ),
    Parameter(
        'autostart',
        True,
        'Whether the node configures and activates itself at start, or a lifecycle manager does.',
        live=False,
    ),
)


BY_NAME = {parameter.name: parameter for parameter in TABLE}
MODEL_NAMES = tuple(parameter.name for parameter in _MODEL)
NODE_NAMES = (*(parameter.name for parameter in _DESCRIPTION), 'autostart')


def shared_rows() -> tuple[Parameter, ...]:
    """Return the rows that every node has which reads a robot's description and states."""
    names = {*MODEL_NAMES, *NODE_NAMES, 'frame_prefix', 'max_skew', 'joint_states_in_parts'}
    names |= {name for name in BY_NAME if name.startswith('odometry.')}
    return tuple(parameter for parameter in TABLE if parameter.name in names)


def model_options(values: Mapping[str, Any]) -> ReadingOptions:
    """Return the options of the model from parameter values.

    Raises `ConfigurationError` if a locked joint is not written as name=position.
    """
    if values['overlay'] and values['overlay_file']:
        raise ConfigurationError(
            'parameters overlay and overlay_file are both given, expected one of them; move the '
            'text into the file'
        )
    overlay: Mapping[str, Any] | str | None = values['overlay_file'] or None
    if values['overlay']:
        overlay = parse_overlay(values['overlay'], 'parameter overlay')
    return ReadingOptions(
        base=None if values['base'] == 'auto' else values['base'],
        mimic=values['mimic'],
        gravity=values['gravity'],
        joints=entries_of(values['joints']) or None,
        locked_joints=dict(_position(entry) for entry in entries_of(values['locked_joints'])),
        actuated_joints=entries_of(values['actuated_joints']) or None,
        overlay=overlay,
        loops=loops_of(entries_of(values['loops'])),
        coulomb_friction=values['coulomb_friction'],
    )


def check_payload(given: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Raise `ConfigurationError` if a mass is ``given`` that nothing carries by all ``values``."""
    if given.get('payload.mass') and not values['payload.frame']:
        raise ConfigurationError(
            f'payload.mass is {given["payload.mass"]:g} kg, but payload.frame is empty: nothing '
            'carries it; set payload.frame to a link, before or together with it'
        )


def payloads(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the payload of the parameters, if there is one."""
    if not values['payload.frame']:
        return []
    payload = {key: values[f'payload.{key}'] for key in ('frame', 'mass')}
    return [payload | {key: list(values[f'payload.{key}']) for key in ('com', 'inertia')}]


def contact_settings(values: Mapping[str, Any], basis: bool = False) -> ContactSettings:
    """Return where contacts come from, from parameter values."""
    return settings_of(
        ContactSettings,
        values,
        contacts=tuple(map(_contact, entries_of(values['contacts']))),
        foot_forces=tuple(map(_foot_force, entries_of(values['foot_force_topics']))),
        timeout=values['wrench_timeout'],
        admissible_basis=basis,
    )


def stream_settings(values: Mapping[str, Any]) -> StreamSettings:
    """Return the settings of the stream from parameter values."""
    return settings_of(
        StreamSettings,
        values,
        wrench_topics=tuple(map(_wrench_topic, entries_of(values['wrench_topics']))),
        contacts=contact_settings(values, values['admissible_basis']),
    )
