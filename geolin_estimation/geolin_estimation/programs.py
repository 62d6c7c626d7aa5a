# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The console scripts of the nodes: they answer signals before they import what takes seconds."""

from functools import partial

from geolin_ros.ros.programs import run_program

state_estimator = partial(run_program, 'state_estimator', 'geolin_estimation.state_estimator')
torque_estimator = partial(run_program, 'torque_estimator', 'geolin_estimation.torque_estimator')
