# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From A and B to a robot that stands: postures, equilibria, gains, weights."""

import importlib
from types import ModuleType

from geolin_ros.renamed import MOVED, warn

_MODULES = ('equilibrium', 'lqr', 'posture', 'stabilizability')


def __getattr__(name: str) -> ModuleType:
    """Import a module when it is asked for, as ``geolin_ros.control.lqr``."""
    asked = f'{__name__}.{name}'
    if asked in MOVED:
        warn(asked, MOVED[asked])
        return importlib.import_module(MOVED[asked])
    if name not in _MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return importlib.import_module(asked)
