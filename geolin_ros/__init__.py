# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Online linearization of moving-base robots: exact A and B on SE(3) x R^n x R^6 x R^n."""

from geolin_ros.description import Description, Joint, Link
from geolin_ros.discretization import Discretization
from geolin_ros.dynamics import (
    bias_force,
    forward_dynamics,
    hybrid_dynamics,
    inverse_dynamics,
    mass_matrix,
    mass_matrix_inverse,
)
from geolin_ros.dynamics_derivatives import (
    Variation,
    d_forward_dynamics,
    d_hybrid_dynamics,
    d_inverse_dynamics,
    forward_dynamics_derivatives,
    hybrid_dynamics_derivatives,
    inertial_parameters,
    inverse_dynamics_derivatives,
    inverse_dynamics_regressor,
)
from geolin_ros.linearization import Linearization, Linearizer
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.wrenches import Wrench

__all__ = [
    'Description',
    'Discretization',
    'Joint',
    'Linearization',
    'Linearizer',
    'Link',
    'State',
    'TreeModel',
    'Variation',
    'Wrench',
    'bias_force',
    'd_forward_dynamics',
    'd_hybrid_dynamics',
    'd_inverse_dynamics',
    'forward_dynamics',
    'forward_dynamics_derivatives',
    'hybrid_dynamics',
    'hybrid_dynamics_derivatives',
    'inertial_parameters',
    'inverse_dynamics',
    'inverse_dynamics_derivatives',
    'inverse_dynamics_regressor',
    'mass_matrix',
    'mass_matrix_inverse',
]
