# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of every node, by the node's name.

A table is imported when it is asked for: with it comes what its node stands on.
"""

from geolin_ros.optional import not_installed
from geolin_ros.stream.parameters.table import Parameter

BESIDE = {
    'lqr_node': 'geolin_control',
    'state_estimator': 'geolin_estimation',
    'torque_estimator': 'geolin_estimation',
    'walking_node': 'geolin_walking',
}
"""Nodes of packages beside this one, with their packages."""
ALL = ('linearizer', *BESIDE)
TABLES = 'geolin.parameters'
"""Group of entry points by which these packages add the tables of their nodes."""


def table_of(node: str) -> tuple[Parameter, ...]:
    """Return the parameters of a node, one of `ALL`.

    Raises `ConfigurationError` if its package is not installed.
    """
    if node == 'linearizer':
        from geolin_ros.stream.parameters.linearizer import TABLE

        return TABLE
    from importlib.metadata import entry_points

    for found in entry_points(group=TABLES, name=node):
        table: tuple[Parameter, ...] = found.load()
        return table
    raise not_installed(f'{node} is a node', BESIDE[node])
