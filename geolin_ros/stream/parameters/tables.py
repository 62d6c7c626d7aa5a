# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of every node, by the node's name."""

import importlib

from geolin_ros.stream.parameters.table import Parameter

_HOMES = {
    'linearization_node': ('linearizer', 'TABLE'),
    'lqr_node': ('lqr', 'LQR_TABLE'),
    'state_estimator': ('base_state', 'BASE_TABLE'),
    'torque_estimator': ('torque', 'TORQUE_TABLE'),
}
NODES = tuple(_HOMES)


def table_of(node: str) -> tuple[Parameter, ...]:
    """Return the parameters of a node; those of others, and what they stand on, are not loaded."""
    module, name = _HOMES[node]
    table: tuple[Parameter, ...] = getattr(
        importlib.import_module(f'geolin_ros.stream.parameters.{module}'), name
    )
    return table
