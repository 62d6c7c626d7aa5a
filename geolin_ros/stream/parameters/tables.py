# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of every node, by the node's name."""

from collections.abc import Mapping

from geolin_ros.stream.parameters.base_state import BASE_TABLE
from geolin_ros.stream.parameters.linearizer import TABLE
from geolin_ros.stream.parameters.lqr import LQR_TABLE
from geolin_ros.stream.parameters.table import Parameter
from geolin_ros.stream.parameters.torque import TORQUE_TABLE

TABLES: Mapping[str, tuple[Parameter, ...]] = {
    'linearization_node': TABLE,
    'lqr_node': LQR_TABLE,
    'state_estimator': BASE_TABLE,
    'torque_estimator': TORQUE_TABLE,
}
