# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The console scripts of the nodes: they answer signals before they import what takes seconds."""

from geolin_ros.ros.programs import run_program


def state_estimator() -> int:
    """Run the state estimator; return the exit status."""
    return run_program('state_estimator', 'geolin_estimation.state_estimator')


def torque_estimator() -> int:
    """Run the torque estimator; return the exit status."""
    return run_program('torque_estimator', 'geolin_estimation.torque_estimator')
