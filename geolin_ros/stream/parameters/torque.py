# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the torque estimator: those of the robot, then its own."""

from collections.abc import Mapping
from typing import Any

from geolin_ros.errors import ConfigurationError
from geolin_ros.stream.inputs.imu_input import ImuTopic
from geolin_ros.stream.inputs.wrench_input import WrenchTopic
from geolin_ros.stream.parameters.linearizer import BY_NAME, MODEL_NAMES, NODE_NAMES
from geolin_ros.stream.parameters.table import NO_NAMES, Parameter, entries_of, settings_of
from geolin_ros.stream.torque_stream import TorqueSettings


def _topic_and_link(parameter: str, entry: str) -> tuple[str, str]:
    match entry.split():
        case [topic, link]:
            return topic, link
    raise ConfigurationError(
        f'parameter {parameter} holds {entry!r}, expected a topic and a link with a blank between'
    )


def _imu_topic(entry: str) -> ImuTopic:
    return ImuTopic(*_topic_and_link('imu_topics', entry))


def _wrench_topic(entry: str) -> WrenchTopic:
    return WrenchTopic(*_topic_and_link('wrench_topics', entry), 'body')


def _deviation(name: str, default: float, text: str, unit: str) -> Parameter:
    return Parameter(
        f'deviation.{name}', default, f'Standard deviation of {text}.', unit, bounds=(1e-9, 1e9)
    )


TORQUE_TABLE: tuple[Parameter, ...] = (
    *(BY_NAME[name] for name in (*NODE_NAMES, *MODEL_NAMES, 'frame_prefix', 'wrench_timeout')),
    Parameter(
        'imu_topics',
        NO_NAMES,
        'IMUs, each as `topic link`; one must be fixed to a floating base.',
        entry=_imu_topic,
    ),
    Parameter(
        'wrench_topics',
        NO_NAMES,
        'Measured wrenches on links, such as those of the ground on feet, each as `topic link`.',
        entry=_wrench_topic,
    ),
    Parameter(
        'wrench_messages',
        'plain',
        'Type of these topics: geometry_msgs/WrenchStamped, or geolin_msgs/WrenchWithCovariance.',
        choices=('plain', 'with_covariance'),
    ),
    Parameter(
        'unknown_wrenches',
        NO_NAMES,
        'Links with an external wrench that no sensor measures, such as a hand in contact.',
    ),
    Parameter(
        'max_skew',
        0.05,
        'Largest time between a joint state and a sample of an IMU.',
        unit='s',
        bounds=(0.0, 10.0),
    ),
    Parameter(
        'acceleration_cutoff',
        50.0,
        'Cut-off of the low-pass filter of differentiated joint rates and angular velocities.',
        unit='Hz',
        bounds=(0.01, 10000.0),
    ),
    _deviation('joint_acceleration', 2.0, 'differentiated joint rates', 'rad/s^2 or m/s^2'),
    Parameter(
        'deviation.joint_effort',
        0.0,
        'Standard deviation of the efforts of the joint states; 0: they are not used.',
        unit='N m or N',
        bounds=(0.0, 1e9),
    ),
    _deviation(
        'linear_acceleration',
        0.1,
        'accelerometers whose messages have no covariance',
        'm/s^2',
    ),
    _deviation('angular_acceleration', 1.0, 'differentiated angular velocities', 'rad/s^2'),
    _deviation('force', 2.0, 'measured forces whose messages have no covariance', 'N'),
    _deviation('moment', 0.2, 'measured moments whose messages have no covariance', 'N m'),
    _deviation('unknown_force', 200.0, 'forces that no sensor measures, from zero', 'N'),
    _deviation('unknown_moment', 50.0, 'moments that no sensor measures, from zero', 'N m'),
    Parameter(
        'covariance_rate',
        20.0,
        'Rate of estimates with their covariance; 0: none.',
        unit='Hz',
        bounds=(0.0, 10000.0),
    ),
)


def torque_settings(values: Mapping[str, Any]) -> TorqueSettings:
    """Return the settings of the stream from parameter values."""
    return settings_of(
        TorqueSettings,
        values,
        imu_topics=tuple(map(_imu_topic, entries_of(values['imu_topics']))),
        wrench_topics=tuple(map(_wrench_topic, entries_of(values['wrench_topics']))),
        unknown_wrenches=tuple(entries_of(values['unknown_wrenches'])),
    )
