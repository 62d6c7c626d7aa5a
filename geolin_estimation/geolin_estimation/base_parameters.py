# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the state estimator: those of the robot and of contacts, then its own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from geolin_estimation.base_state import Deviations
from geolin_estimation.base_stream import BaseSettings
from geolin_estimation.imu_input import ImuTopic
from geolin_ros.errors import ConfigurationError
from geolin_ros.stream.parameters.linearizer import (
    BY_NAME,
    MODEL_NAMES,
    NODE_NAMES,
    contact_settings,
)
from geolin_ros.stream.parameters.table import Parameter, deviations_of, rows_of, settings_of

CONTACT_NAMES = (
    *('contacts', 'foot_force_topics', 'contact_on_force', 'contact_off_force'),
    'wrench_timeout',
)

BASE_TABLE: tuple[Parameter, ...] = (
    *(BY_NAME[name] for name in (*NODE_NAMES, *MODEL_NAMES, 'frame_prefix')),
    replace(
        BY_NAME['contact_source'],
        text='Active contacts: all of contacts; those of the topic contact_states; those of '
        'contacts with a measured foot force; or those with a foot force by joint efforts, IMU '
        'and model.',
        choices=(*BY_NAME['contact_source'].choices, 'efforts'),
    ),
    *(BY_NAME[name] for name in CONTACT_NAMES),
    Parameter('imu_topic', 'imu', 'The IMU of the base.'),
    Parameter(
        'imu_link', '', 'Link of the IMU, with its axes; fixed to the base. Empty: the base.'
    ),
    Parameter('start', [0.0, 0.0, 0.0], 'x, y and yaw of the base at the start.', unit='m, rad'),
    *rows_of(
        BaseSettings,
        {
            'world_frame': 'Frame of the odometry.',
            'max_skew 0 ... 10 [s]': 'Largest time between a joint state and the newest sample of '
            'the IMU.',
            'rate_cutoff 0.1 ... 1e4 [Hz]': 'Cutoff of the filter that finds joint rates from '
            'positions where they are missing.',
            'sole 0.001 ... 1 [m]': 'Distance of the corners of a surface from its middle, along '
            'x and along y.',
            'foot_radius 0 ... 1 [m]': 'Radius of feet that are balls about their frames and '
            'roll; 0: they do not.',
            'flat_ground 0 ... 1 [m]': 'Standard deviation of the heights of flat ground where '
            'feet land, about that at the start; 0: it is not flat.',
            'gate 1 ... 1e9': 'Squared Mahalanobis distance from which on a contact is rejected.',
            'distrust 0 ... 1000 [s]': 'Time for which it is not used then.',
        },
    ),
    *deviations_of(
        Deviations,
        (
            ('gyro', 'angular velocities, a density', 'rad/s/sqrt(Hz)'),
            ('accelerometer', 'accelerations, a density', 'm/s^2/sqrt(Hz)'),
            ('tilt', 'roll and pitch at the start; 0.2 for a robot that moves then', 'rad'),
            ('velocity', 'the velocity at the start; 1.0 for a robot that moves then', 'm/s'),
            ('gyro_bias', 'the bias of the gyro at the start', 'rad/s'),
            ('accelerometer_bias', 'the bias of the accelerometer at the start', 'm/s^2'),
            ('gyro_walk', 'the random walk of the gyro bias, a density', 'rad/s^2/sqrt(Hz)'),
            (
                'accelerometer_walk',
                'the random walk of the other bias, a density',
                'm/s^3/sqrt(Hz)',
            ),
            ('slip', 'the slip of contacts, a density; 0.003 for soles', 'm/s/sqrt(Hz)'),
            ('joint', 'joint positions', 'rad or m'),
            ('point', 'positions of contacts in the description', 'm'),
        ),
    ),
)


def base_settings(values: Mapping[str, Any], base_link: str) -> BaseSettings:
    """Return the settings of the stream from parameter values."""
    contacts = contact_settings(values)
    if not contacts.contacts:
        raise ConfigurationError(
            "parameter contacts is empty, expected the feet, as ['left_foot point']; "
            'contact_source says how they are known to touch the ground'
        )
    return settings_of(
        BaseSettings,
        values,
        imu=ImuTopic(values['imu_topic'], values['imu_link'] or base_link),
        contacts=contacts,
        deviations=settings_of(Deviations, values),
    )
