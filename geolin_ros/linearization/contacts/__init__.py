# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots that stand, hold on, or close on themselves: dynamics and linearization with contacts."""

import importlib
from typing import TYPE_CHECKING, Any

from geolin_ros.linearization.contacts.description import (
    Contact,
    ContactKind,
    Loop,
    activated,
    anchored,
    anchored_where_needed,
)
from geolin_ros.linearization.contacts.redundancy import Redundancy

if TYPE_CHECKING:
    from geolin_ros.linearization.contacts.dynamics import constrained_forward_dynamics
    from geolin_ros.linearization.contacts.reduction import (
        ReducedLinearization,
        ReducedStep,
        reduce,
        reduce_step,
    )
    from geolin_ros.linearization.contacts.rows import constraints_of

__all__ = [
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

_HOMES = {  # they stand on the linearizer, which stands on the others
    'ReducedLinearization': 'reduction',
    'ReducedStep': 'reduction',
    'constrained_forward_dynamics': 'dynamics',
    'constraints_of': 'rows',
    'reduce': 'reduction',
    'reduce_step': 'reduction',
}


def __getattr__(name: str) -> Any:
    """Import a public name from its home [PEP 562]."""
    if name not in _HOMES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = getattr(importlib.import_module(f'{__name__}.{_HOMES[name]}'), name)
    globals()[name] = value
    return value
