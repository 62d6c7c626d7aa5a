# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the walking node."""

from geolin_control.parameters import LQR_TABLE

from geolin_ros.stream.parameters.linearizer import shared_rows
from geolin_ros.stream.parameters.table import Parameter

WALKING_TABLE: tuple[Parameter, ...] = (
    *shared_rows(),
    *(row for row in LQR_TABLE if row.name in ('supports', 'friction')),
    Parameter(
        'dynamics',
        'library',
        'Where A and B come from: the library, in this process, or a service, linearize_along of '
        'linearizer unless it is remapped.',
        choices=('library', 'service'),
    ),
    Parameter('plan_rate', 50.0, 'Rate of plans.', unit='Hz', bounds=(20.0, 1000.0)),
    Parameter(
        'service_timeout',
        0.04,
        'After this long without an answer of the service the robot stops on all feet, on A and B '
        'of this process; two intervals of the default plan_rate.',
        unit='s',
        bounds=(0.001, 60.0),
    ),
    Parameter(
        'command_timeout',
        0.5,
        'After this long without a newer one, a command is over and the robot stops; 0: never.',
        unit='s',
        bounds=(0.0, 3600.0),
    ),
)
