# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of one robot that stands, connected: what bringup.launch.py starts."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from ament_index_python.packages import PackageNotFoundError, get_package_prefix

from geolin_ros.control.support import Support, support_texts
from geolin_ros.errors import ConfigurationError
from geolin_ros.optional import not_installed

NODES = {
    'state_estimator': 'geolin_estimation',
    'linearizer': 'geolin_ros',
    'lqr_node': 'geolin_control',
}
"""With their packages."""
ESTIMATED = {'odom': 'odometry', 'contact_states': 'contact_states'}
"""Topics that the state estimator publishes, by what the others call them."""


class ChainNode(NamedTuple):
    """A node: its name, the values of parameters, and topics by their names here."""

    name: str
    parameters: dict[str, Any]
    remappings: dict[str, str]


def chain(
    feet: str,
    topics: Mapping[str, str],
    shared: Mapping[str, Any],
    imu_link: str = '',
    publish_efforts: bool = False,
    nodes: Collection[str] = NODES,
) -> list[ChainNode]:
    """Return the nodes of a chain, each with what it needs of what they share.

    ``feet`` are the frames that the robot stands on, with commas between them, as `Support.parse`
    reads each; ``topics`` names of inputs on this robot, by those that the nodes give them;
    ``shared`` values of parameters that all nodes have. Without the state estimator among the
    ``nodes``, odometry and contacts are inputs. Raises `ConfigurationError` if there are no feet,
    or one is not understood.
    """
    texts = support_texts(feet)
    if not texts:
        raise ConfigurationError(
            'feet is empty, expected the frames that the robot stands on, as '
            'feet:=FL_foot:0.02,FR_foot:0.02'
        )
    supports = [Support.parse(text) for text in texts]
    contacts = [f'{support.frame} {support.kind}' for support in supports]
    own: dict[str, dict[str, Any]] = {
        'state_estimator': {
            'contacts': contacts,
            'imu_link': imu_link,
            'foot_radius': min(support.radius for support in supports),
        },
        'linearizer': {'contacts': contacts},
        'lqr_node': {'supports': texts, 'publish_efforts': publish_efforts},
    }
    remappings = dict(topics)
    if 'state_estimator' in nodes:
        remappings |= {name: f'state_estimator/{topic}' for name, topic in ESTIMATED.items()}
    return [ChainNode(name, {**shared, **own[name]}, remappings) for name in nodes]


def check_package(node: str) -> None:
    """Raise `ConfigurationError` if the package of a node is not in ROS's index of packages."""
    try:
        get_package_prefix(NODES[node])
    except PackageNotFoundError:
        error = not_installed(f'{node} is a node', NODES[node])
        raise ConfigurationError(f'{error}; without it: {node}:=false') from None
