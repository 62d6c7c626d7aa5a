# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From A and B to a robot that stands: postures, equilibria, gains, weights."""

import importlib
from typing import Any

from geolin_ros.renamed import of_package

_MODULES = ('equilibrium', 'lqr', 'posture', 'stabilizability')


def __getattr__(name: str) -> Any:
    """Import a module when it is asked for, as ``geolin_ros.control.lqr``."""
    if name not in _MODULES:
        return of_package(__name__, name)
    return importlib.import_module(f'{__name__}.{name}')
