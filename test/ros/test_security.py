# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Policies are what nodes are on the graph, and nodes do not start without the keys they need."""

import os
from xml.etree.ElementTree import fromstring

import pytest
from rclpy.node import NodeNameNonExistentError
from std_msgs.msg import String
from support.ros_graph import LATCHED, ROOT, START, Process

from geolin_ros import robots
from geolin_ros.stream.parameters.file import ALL

NAMESPACE = '/secured'
FEET = [f'{leg}_foot:0.02' for leg in ('FL', 'FR', 'RL', 'RR')]


def allowed(node):
    """Return full names by what a policy allows, with the namespace of the test."""
    policy = fromstring((ROOT / 'config' / 'security' / f'{node}.policy.xml').read_text())
    names = {'publish': set(), 'subscribe': set(), 'reply': set(), 'request': set()}
    for rules in policy.find('.//profile'):
        (rule,) = rules.attrib
        for element in rules:
            name = element.text
            if name.startswith('~'):
                name = f'{NAMESPACE}/{node}{name[1:]}'
            elif not name.startswith('/'):
                name = f'{NAMESPACE}/{name}'
            assert name not in names[rule]
            names[rule].add(name)
    return names


def found(graph, node):
    """Return full names by what a node does on the graph."""
    kinds = {
        'publish': graph.node.get_publisher_names_and_types_by_node,
        'subscribe': graph.node.get_subscriber_names_and_types_by_node,
        'reply': graph.node.get_service_names_and_types_by_node,
        'request': graph.node.get_client_names_and_types_by_node,
    }
    try:
        return {rule: {name for name, _ in ask(node, NAMESPACE)} for rule, ask in kinds.items()}
    except NodeNameNonExistentError:  # it has not been heard of yet
        return {rule: set() for rule in kinds}


NEEDED = {
    'linearizer': {'marker_rate': 1.0},
    'lqr_node': {'supports': FEET},
    'state_estimator': {'contacts': ['FL_foot point']},
    'torque_estimator': {'base': 'fixed'},
    'walking_node': {'supports': FEET},
}
"""Parameters of a node that does all that its policy allows, on the quadruped."""


@pytest.mark.parametrize('node', ALL)
def test_policy__allows_what_the_node_does_and_no_more(graph, tmp_path, node):
    values = {'use_sim_time': True} | NEEDED.get(node, {})
    process = Process(tmp_path, values, NAMESPACE, module=node, forked=True)
    policy = allowed(node)
    heard = f'{NAMESPACE}/joint_states'  # of an active node; lqr_node needs a robot first
    description = graph.node.create_publisher(String, f'{NAMESPACE}/robot_description', LATCHED)
    description.publish(String(data=robots.path('quadruped').read_text()))
    try:
        graph.wait_for(lambda: heard in found(graph, node)['subscribe'], START, process)
        graph.wait_for(lambda: found(graph, node) == policy, process=process)
    except AssertionError:
        assert found(graph, node) == policy  # says what differs
        raise
    finally:
        process.stop()
        graph.node.destroy_publisher(description)


SECURED = {'ROS_SECURITY_ENABLE': 'true', 'ROS_SECURITY_STRATEGY': 'Enforce'}


@pytest.mark.parametrize(
    ('node', 'keystore'), [('linearizer', 'none'), *((node, 'of another node') for node in ALL)]
)
def test_node_that_must_be_secure__does_not_start_without_its_keys(
    graph, tmp_path, node, keystore
):
    environment = {k: None for k in os.environ if k.startswith('ROS_SECURITY')} | SECURED
    says = 'ROS_SECURITY_KEYSTORE=none'
    if keystore != 'none':
        folder = tmp_path / 'keystore'
        (folder / 'enclaves' / 'geolin' / 'other').mkdir(parents=True)
        environment['ROS_SECURITY_KEYSTORE'] = str(folder)
        says = f'ROS_SECURITY_KEYSTORE={folder}'
    process = Process(
        tmp_path, arguments=('--enclave', f'/geolin/{node}'), module=node,
        environment=environment, forked=True,
    )  # fmt: skip
    assert process.wait(START) == 1, process.log
    last = process.log.strip().splitlines()[-1]
    for words in ('ROS_SECURITY_STRATEGY=Enforce', says, 'docs/security.md'):
        assert words in last
    assert 'Traceback' not in process.log
