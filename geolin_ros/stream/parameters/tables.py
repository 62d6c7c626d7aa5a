# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of every node, by the node's name.

A table is imported when it is asked for: with it comes what its node stands on.
"""

from geolin_ros.stream.parameters.table import Parameter

NODES = 'linearizer', 'lqr_node', 'state_estimator', 'torque_estimator'
ALL = (*NODES, 'walking_node')
"""With the node of geolin_walking."""


def table_of(node: str) -> tuple[Parameter, ...]:
    """Return the parameters of a node, one of `ALL`."""
    match node:
        case 'linearizer':
            from geolin_ros.stream.parameters.linearizer import TABLE

            return TABLE
        case 'lqr_node':
            from geolin_ros.stream.parameters.lqr import LQR_TABLE

            return LQR_TABLE
        case 'state_estimator':
            from geolin_ros.stream.parameters.base_state import BASE_TABLE

            return BASE_TABLE
        case 'torque_estimator':
            from geolin_ros.stream.parameters.torque import TORQUE_TABLE

            return TORQUE_TABLE
        case 'walking_node':
            from geolin_ros.stream.parameters.walking import WALKING_TABLE

            return WALKING_TABLE
    raise KeyError(node)
