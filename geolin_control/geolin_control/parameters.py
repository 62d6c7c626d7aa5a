# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the LQR node, and what they mean to a regulator."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from geolin_control.effort_guard import GuardSettings
from geolin_control.regulator import RegulatorSettings
from geolin_ros.control.support import Support
from geolin_ros.control.weights import Weights, weights_for
from geolin_ros.errors import ConfigurationError
from geolin_ros.stream.parameters.linearizer import shared_rows
from geolin_ros.stream.parameters.table import (
    NO_NAMES,
    Parameter,
    entries_of,
    rows_of,
    settings_of,
)

_WEIGHTS = {field.name for field in dataclasses.fields(Weights)} - {'single'}


def _weight(entry: str) -> tuple[str, float]:
    name, _, value = (part.strip() for part in entry.partition('='))
    try:
        return name, float(value)
    except ValueError:
        raise ConfigurationError(
            f'parameter weights holds {entry!r}, expected name=deviation, the name one of '
            f'{", ".join(sorted(_WEIGHTS))} or an entry of the state such as s.left_knee'
        ) from None


LQR_TABLE: tuple[Parameter, ...] = (
    *shared_rows(),
    Parameter(
        'supports',
        NO_NAMES,
        'Frames that the robot stands on: frame of a point, frame:RADIUS [m] of a ball, '
        'frame:LENGTHxWIDTH [m] of a sole, and @x,y,z behind it where it is off the origin of the '
        'frame.',
        entry=Support.parse,
    ),
    *rows_of(
        RegulatorSettings,
        {
            'friction 0.01 ... 10': 'Friction coefficient that equilibria stay below.',
            'dt 1e-4 ... 0.1 [s]': 'Sample time: efforts are constant over it (zero-order hold).',
            'calm 0 ... 10 [SI]': 'Largest twist, joint rate and displacement of a linearization '
            'for the design of gains.',
            'anchor': 'Whether the reference moves with feet that have slid.',
            'gains_timeout 0 ... 3600 [s]': 'After this long without a linearization, even if '
            'none has ever come, damping replaces feedback; 0: never. A gain_bank needs none.',
            'contacts_timeout 0 ... 10 [s]': 'After this long without gains for the active '
            'contacts, damping replaces feedback.',
            'reference_timeout 0.001 ... 10 [s]': 'After this long without a newer one, the '
            'velocities of a reference are set to zero.',
            'trust_position 0.001 ... 100 [m]': 'Distance of the base from its reference beyond '
            'which joints are only damped.',
            'trust_rotation 0.001 ... 3.2 [rad]': 'Angle of the base from its reference beyond '
            'which joints are only damped.',
        },
    ),
    Parameter(
        'weights',
        NO_NAMES,
        'Deviations of equal cost, each as name=deviation; others have defaults for the supports.',
        entry=_weight,
    ),
    Parameter(
        'delay',
        0.0,
        'Time from a measurement to its effort, beyond the zero-order hold: whole steps of dt.',
        unit='s',
        bounds=(0.0, 0.1),
    ),
    Parameter(
        'gain_bank',
        '',
        'File of gains over contact sets and postures, or along a gait, which begins where the '
        'robot stands; used instead of a design online.',
        live=False,
    ),
    Parameter(
        'contact_dwell',
        0.0,
        'Time for which a change of contacts must last before it is used.',
        unit='s',
        bounds=(0.0, 1.0),
    ),
    Parameter('design_rate', 20.0, 'Rate of gain designs.', unit='Hz', bounds=(0.1, 1000.0)),
    Parameter('publish_efforts', False, 'Whether efforts are published; gains always are.'),
    Parameter(
        'input_timeout',
        0.05,
        'After this long without a joint state, efforts go to zero.',
        unit='s',
        bounds=(0.001, 10.0),
    ),
    *rows_of(
        GuardSettings,
        {
            'full_swing_time 1e-4 ... 10 [s]': 'Least time of an effort from one limit to the '
            'other.',
            'ramp_time 1e-4 ... 60 [s]': 'Time over which feedback takes over from damping.',
            'damping_time 1e-4 ... 10 [s]': 'Damping reaches the effort limit at a joint rate of '
            '1 over this.',
        },
    ),
)


def supports_of(values: Mapping[str, Any]) -> tuple[Support, ...]:
    """Return what the robot stands on; raises `ConfigurationError` if there is nothing."""
    supports = tuple(Support.parse(entry) for entry in entries_of(values['supports']))
    if not supports:
        raise ConfigurationError(
            'parameter supports is empty, expected the frames that the robot stands on, as '
            "['FL_foot:0.02', 'FR_foot:0.02'] or ['left_sole:0.2x0.1']"
        )
    return supports


def regulator_settings(values: Mapping[str, Any]) -> RegulatorSettings:
    """Return the settings of the regulator from parameter values.

    Raises `ConfigurationError` if the delay is not a whole number of steps, or a weight is not
    positive.
    """
    steps = values['delay'] / values['dt']
    if abs(steps - round(steps)) > 1e-6:
        raise ConfigurationError(
            f'parameter delay is {values["delay"]:g} s, expected a multiple of dt = '
            f'{values["dt"]:g} s'
        )
    weights, single = None, dict(_weight(entry) for entry in entries_of(values['weights']))
    if single:
        groups: dict[str, Any] = {name: single.pop(name) for name in _WEIGHTS & single.keys()}
        weights = dataclasses.replace(weights_for(supports_of(values)), **groups, single=single)
    guard = settings_of(GuardSettings, values)
    return settings_of(RegulatorSettings, values, delay=round(steps), weights=weights, guard=guard)
