# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the torque estimator: those of the robot, then its own."""

from collections.abc import Mapping
from typing import Any

from geolin_estimation.imu_input import ImuTopic
from geolin_estimation.torque_stream import TorqueSettings
from geolin_ros.errors import ConfigurationError
from geolin_ros.stream.inputs.wrench_input import WrenchTopic
from geolin_ros.stream.parameters.linearizer import BY_NAME, MODEL_NAMES, NODE_NAMES
from geolin_ros.stream.parameters.table import (
    NO_NAMES,
    Parameter,
    deviations_of,
    entries_of,
    rows_of,
    settings_of,
)


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
        'unknown_wrenches',
        NO_NAMES,
        'Links with an external wrench that no sensor measures, such as a hand in contact.',
    ),
    *rows_of(
        TorqueSettings,
        {
            'wrench_messages': 'Type of wrench_topics: geometry_msgs/WrenchStamped, or '
            'geolin_msgs/WrenchWithCovariance.',
            'max_skew 0 ... 10 [s]': 'Largest time between a joint state and a sample of an IMU.',
            'acceleration_cutoff 0.01 ... 10000 [Hz]': 'Cut-off of the low-pass filter of '
            'differentiated joint rates and angular velocities.',
            'covariance_rate 0 ... 10000 [Hz]': 'Rate of estimates with covariance; 0: none.',
            'deviation.joint_effort 0 ... 1e9 [N m or N]': 'Standard deviation of the efforts of '
            'the joint states; 0: they are not used.',
        },
    ),
    *deviations_of(
        TorqueSettings,
        (
            ('joint_acceleration', 'differentiated joint rates', 'rad/s^2 or m/s^2'),
            ('linear_acceleration', 'accelerometers whose messages have no covariance', 'm/s^2'),
            ('angular_acceleration', 'differentiated angular velocities', 'rad/s^2'),
            ('force', 'measured forces whose messages have no covariance', 'N'),
            ('moment', 'measured moments whose messages have no covariance', 'N m'),
            ('unknown_force', 'forces that no sensor measures, from zero', 'N'),
            ('unknown_moment', 'moments that no sensor measures, from zero', 'N m'),
        ),
        bounds=(1e-9, 1e9),
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
