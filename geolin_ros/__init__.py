# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Online linearization of moving-base robots: exact A and B on SE(3) x R^n x R^6 x R^n.

Names are imported when they are first used: a command or node that needs few starts fast, and can
set up its process before NumPy is loaded.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geolin_ros.datasets import open_dataset
    from geolin_ros.description import Description, Joint, Link, Loop
    from geolin_ros.dynamics.derivatives import (
        Variation,
        forward_dynamics_derivatives,
        forward_dynamics_variation,
        hybrid_dynamics_derivatives,
        hybrid_dynamics_variation,
        inertial_parameters,
        inverse_dynamics_derivatives,
        inverse_dynamics_regressor,
        inverse_dynamics_variation,
    )
    from geolin_ros.dynamics.functions import (
        Dynamics,
        bias_force,
        forward_dynamics,
        hybrid_dynamics,
        inverse_dynamics,
        mass_matrix,
        mass_matrix_inverse,
    )
    from geolin_ros.linearization.batch import LinearizationBatch
    from geolin_ros.linearization.constrained_dynamics import constrained_forward_dynamics
    from geolin_ros.linearization.contacts import Contact
    from geolin_ros.linearization.discretization import Discretization
    from geolin_ros.linearization.linearizer import Linearizer
    from geolin_ros.linearization.result import Linearization
    from geolin_ros.model.state import State
    from geolin_ros.model.tree import TreeModel
    from geolin_ros.model.wrenches import Wrench

__all__ = [
    'Contact',
    'Description',
    'Discretization',
    'Dynamics',
    'Joint',
    'Linearization',
    'LinearizationBatch',
    'Linearizer',
    'Link',
    'Loop',
    'State',
    'TreeModel',
    'Variation',
    'Wrench',
    'bias_force',
    'constrained_forward_dynamics',
    'forward_dynamics',
    'forward_dynamics_derivatives',
    'forward_dynamics_variation',
    'hybrid_dynamics',
    'hybrid_dynamics_derivatives',
    'hybrid_dynamics_variation',
    'inertial_parameters',
    'inverse_dynamics',
    'inverse_dynamics_derivatives',
    'inverse_dynamics_regressor',
    'inverse_dynamics_variation',
    'mass_matrix',
    'mass_matrix_inverse',
    'open_dataset',
]

_HOMES = {
    'Contact': 'geolin_ros.linearization.contacts',
    'Description': 'geolin_ros.description',
    'Discretization': 'geolin_ros.linearization.discretization',
    'Dynamics': 'geolin_ros.dynamics.functions',
    'Joint': 'geolin_ros.description',
    'Linearization': 'geolin_ros.linearization.result',
    'LinearizationBatch': 'geolin_ros.linearization.batch',
    'Linearizer': 'geolin_ros.linearization.linearizer',
    'Link': 'geolin_ros.description',
    'Loop': 'geolin_ros.description',
    'State': 'geolin_ros.model.state',
    'TreeModel': 'geolin_ros.model.tree',
    'Variation': 'geolin_ros.dynamics.derivatives',
    'Wrench': 'geolin_ros.model.wrenches',
    'bias_force': 'geolin_ros.dynamics.functions',
    'constrained_forward_dynamics': 'geolin_ros.linearization.constrained_dynamics',
    'forward_dynamics': 'geolin_ros.dynamics.functions',
    'forward_dynamics_derivatives': 'geolin_ros.dynamics.derivatives',
    'forward_dynamics_variation': 'geolin_ros.dynamics.derivatives',
    'hybrid_dynamics': 'geolin_ros.dynamics.functions',
    'hybrid_dynamics_derivatives': 'geolin_ros.dynamics.derivatives',
    'hybrid_dynamics_variation': 'geolin_ros.dynamics.derivatives',
    'inertial_parameters': 'geolin_ros.dynamics.derivatives',
    'inverse_dynamics': 'geolin_ros.dynamics.functions',
    'inverse_dynamics_derivatives': 'geolin_ros.dynamics.derivatives',
    'inverse_dynamics_regressor': 'geolin_ros.dynamics.derivatives',
    'inverse_dynamics_variation': 'geolin_ros.dynamics.derivatives',
    'mass_matrix': 'geolin_ros.dynamics.functions',
    'mass_matrix_inverse': 'geolin_ros.dynamics.functions',
    'open_dataset': 'geolin_ros.datasets',
}
_PACKAGES = ('control', 'dynamics', 'linearization', 'robots', 'spatial')


def __getattr__(name: str) -> Any:
    """Import a public name from its home, or a package, when it is asked for [PEP 562]."""
    if name in _PACKAGES:
        return importlib.import_module(f'{__name__}.{name}')
    if name not in _HOMES:
        return importlib.import_module(f'{__name__}.renamed').of_package(__name__, name)
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*globals(), *__all__})
