# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots that stand, hold on, or close on themselves: dynamics and linearization with contacts."""

from geolin_ros.contacts.description import (
    Contact,
    ContactKind,
    Loop,
    activated,
    anchored,
    anchored_where_needed,
)
from geolin_ros.contacts.dynamics import constrained_forward_dynamics
from geolin_ros.contacts.linearization import ConstrainedLinearizer
from geolin_ros.contacts.reduction import (
    ReducedLinearization,
    ReducedStep,
    reduce,
    reduce_step,
)
from geolin_ros.contacts.redundancy import Redundancy
from geolin_ros.contacts.result import ConstrainedLinearization
from geolin_ros.contacts.rows import constraints_of

__all__ = [
    'ConstrainedLinearization',
    'ConstrainedLinearizer',
    'Contact',
    'ContactKind',
    'Loop',
    'ReducedLinearization',
    'ReducedStep',
    'Redundancy',
    'activated',
    'anchored',
    'anchored_where_needed',
    'constrained_forward_dynamics',
    'constraints_of',
    'reduce',
    'reduce_step',
]
