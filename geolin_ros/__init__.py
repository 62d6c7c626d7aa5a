# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Online linearization of moving-base robots: exact A and B on SE(3) x R^n x R^6 x R^n.

Names are imported when they are first used: a command or node that needs few starts fast, and can
set up its process before NumPy is loaded.
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from geolin_ros.renamed import Moved, of_package

if TYPE_CHECKING:
    from geolin_ros.control.equilibrium import equilibrium
    from geolin_ros.control.lqr import Feedback, design
    from geolin_ros.control.posture import standing_posture
    from geolin_ros.control.stabilizability import analyze_modes
    from geolin_ros.control.support import Support
    from geolin_ros.datasets import open_dataset
    from geolin_ros.description import Description, Joint, Link, Loop
    from geolin_ros.dynamics.derivatives import (
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
    from geolin_ros.dynamics.kinematics import Kinematics
    from geolin_ros.dynamics.variation import Variation
    from geolin_ros.linearization.batch import LinearizationBatch
    from geolin_ros.linearization.contacts import Contact
    from geolin_ros.linearization.contacts.constraints import constraints_of
    from geolin_ros.linearization.discretization import Discretization
    from geolin_ros.linearization.linearizer import Linearizer, constrained_forward_dynamics
    from geolin_ros.linearization.reduction import reduce
    from geolin_ros.linearization.result import Linearization
    from geolin_ros.model.state import State
    from geolin_ros.model.tree import TreeModel
    from geolin_ros.model.wrenches import Wrench
    from geolin_ros.stream.outputs.reading import read_contact_dynamics, read_linearization

__all__ = [
    'Contact', 'Description', 'Discretization', 'Dynamics', 'Feedback', 'Joint', 'Kinematics',
    'Linearization', 'LinearizationBatch', 'Linearizer', 'Link', 'Loop', 'State', 'Support',
    'TreeModel', 'Variation', 'Wrench', 'analyze_modes', 'bias_force',
    'constrained_forward_dynamics', 'constraints_of', 'design', 'equilibrium', 'forward_dynamics',
    'forward_dynamics_derivatives', 'forward_dynamics_variation', 'hybrid_dynamics',
    'hybrid_dynamics_derivatives', 'hybrid_dynamics_variation', 'inertial_parameters',
    'inverse_dynamics', 'inverse_dynamics_derivatives', 'inverse_dynamics_regressor',
    'inverse_dynamics_variation', 'mass_matrix', 'mass_matrix_inverse', 'open_dataset',
    'read_contact_dynamics', 'read_linearization', 'reduce', 'standing_posture',
]  # fmt: skip

_HOMES = {
    name: f'{__name__}.{home}'
    for home, names in {
        'control.equilibrium': 'equilibrium',
        'control.lqr': 'Feedback design',
        'control.posture': 'standing_posture',
        'control.stabilizability': 'analyze_modes',
        'control.support': 'Support',
        'datasets': 'open_dataset',
        'description': 'Description Joint Link Loop',
        'dynamics.derivatives': (
            'forward_dynamics_derivatives forward_dynamics_variation '
            'hybrid_dynamics_derivatives hybrid_dynamics_variation inertial_parameters '
            'inverse_dynamics_derivatives inverse_dynamics_regressor '
            'inverse_dynamics_variation'
        ),
        'dynamics.functions': (
            'Dynamics bias_force forward_dynamics hybrid_dynamics inverse_dynamics '
            'mass_matrix mass_matrix_inverse'
        ),
        'dynamics.kinematics': 'Kinematics',
        'dynamics.variation': 'Variation',
        'linearization.batch': 'LinearizationBatch',
        'linearization.contacts': 'Contact',
        'linearization.contacts.constraints': 'constraints_of',
        'linearization.discretization': 'Discretization',
        'linearization.linearizer': 'Linearizer constrained_forward_dynamics',
        'linearization.reduction': 'reduce',
        'linearization.result': 'Linearization',
        'model.state': 'State',
        'model.tree': 'TreeModel',
        'model.wrenches': 'Wrench',
        'stream.outputs.reading': 'read_contact_dynamics read_linearization',
    }.items()
    for name in names.split()
}
_PACKAGES = ('control', 'dynamics', 'linearization', 'robots', 'spatial')
sys.meta_path.insert(0, Moved)


def __getattr__(name: str) -> Any:
    """Import a public name from its home, or a package, when it is asked for [PEP 562]."""
    if name in _PACKAGES:
        return importlib.import_module(f'{__name__}.{name}')
    if name not in _HOMES:
        return of_package(__name__, name)
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*globals(), *__all__})
