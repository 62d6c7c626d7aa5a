# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse, forward and any other dynamics as one sparse system [Nori]."""

from geolin_estimation.sparse.estimator import Estimate, Estimator, Solvability, solvability
from geolin_estimation.sparse.sensors import (
    ALL_BUT_YAW_MOMENT,
    FLOATING_BASE,
    LOAD_CELLS,
    Sensor,
    Term,
    Variable,
    accelerometer,
    all_external_wrenches,
    angular_acceleration,
    base_sensors,
    external_wrench,
    force_torque,
    forward_dynamics,
    hybrid_dynamics,
    inverse_dynamics,
    joint_acceleration,
    joint_torque,
    known,
)
from geolin_estimation.sparse.system import BlockSystem, DynamicVariables

__all__ = [
    'ALL_BUT_YAW_MOMENT', 'FLOATING_BASE', 'LOAD_CELLS', 'BlockSystem', 'DynamicVariables',
    'Estimate', 'Estimator', 'Sensor', 'Solvability', 'Term', 'Variable',
    'accelerometer', 'all_external_wrenches', 'angular_acceleration', 'base_sensors',
    'external_wrench', 'force_torque', 'forward_dynamics', 'hybrid_dynamics', 'inverse_dynamics',
    'joint_acceleration', 'joint_torque', 'known', 'solvability',
]  # fmt: skip
