# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From A and B to a robot that stands: postures, equilibria, gains, and the law that uses them."""

import importlib
from types import ModuleType

_MODULES = ('equilibrium', 'gain_bank', 'lqr', 'posture', 'regulator', 'stabilizability')


def __getattr__(name: str) -> ModuleType:
    """Import a module when it is asked for, as ``geolin_ros.control.lqr``."""
    if name not in _MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return importlib.import_module(f'{__name__}.{name}')
