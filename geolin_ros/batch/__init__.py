# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Many states of one robot in one call: linearizations and dynamics, eight states at a time."""

from geolin_ros.batch.dynamics import (
    forward_dynamics,
    forward_dynamics_derivatives,
    hybrid_dynamics,
    inverse_dynamics,
    inverse_dynamics_derivatives,
    mass_matrix,
    mass_matrix_inverse,
)
from geolin_ros.batch.linearization import BatchLinearizer, LinearizationBatch

__all__ = [
    'BatchLinearizer',
    'LinearizationBatch',
    'forward_dynamics',
    'forward_dynamics_derivatives',
    'hybrid_dynamics',
    'inverse_dynamics',
    'inverse_dynamics_derivatives',
    'mass_matrix',
    'mass_matrix_inverse',
]
