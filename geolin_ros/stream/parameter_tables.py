# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of every node, by the node's name."""

from collections.abc import Mapping

from geolin_ros.stream.lqr_parameters import LQR_TABLE
from geolin_ros.stream.parameter_table import Parameter
from geolin_ros.stream.parameters import TABLE
from geolin_ros.stream.torque_parameters import TORQUE_TABLE

TABLES: Mapping[str, tuple[Parameter, ...]] = {
    'linearization_node': TABLE,
    'lqr_node': LQR_TABLE,
    'torque_estimator': TORQUE_TABLE,
}
