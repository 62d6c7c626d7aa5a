# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Masses, rotors, friction and springs of a robot from what was measured on it."""

from geolin_tools.identification.excitation import (
    Excitation,
    Trajectory,
    examine,
    find_delay,
    propose,
)
from geolin_tools.identification.identification import (
    Change,
    Identification,
    choose_prior,
    identify,
)
from geolin_tools.identification.parameters import Prior, rooms_of
from geolin_tools.identification.results import Deviations, deviations, overlay_of
from geolin_tools.identification.signals import Motion, Signals, check, prepare

__all__ = [
    'Change', 'Deviations', 'Excitation', 'Identification', 'Motion', 'Prior',
    'Signals', 'Trajectory', 'check', 'choose_prior', 'deviations', 'examine', 'find_delay',
    'identify', 'overlay_of', 'prepare', 'propose', 'rooms_of',
]  # fmt: skip
