# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Quality of service, namespaces and remapped names."""

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from support.ros_graph import RELIABLE

from geolin_ros import TreeModel, robots

QUADRUPED = str(robots.path('quadruped'))


def test_qos_overrides__are_followed_and_a_mismatch_is_said(client):
    """The test publishes best effort, which a reliable subscription does not accept."""
    override = f'qos_overrides.{client.topic("joint_states")}.subscription.reliability'
    client.start(robot_description_file=QUADRUPED, **{override: 'reliable'})
    client.wait_for(lambda: client.odom.get_subscription_count(), 120.0)
    client.wait_until_serving()
    client.wait_for(lambda: 'incompatible QoS' in client.process.log)
    assert client.joint_states.get_subscription_count() == 0
    level, text, _ = client.next_diagnostics()
    assert (level, text) == (DiagnosticStatus.STALE, 'no joint states')


def test_description_published_without_durability__is_accepted_on_request(client):
    volatile = QoSProfile(
        depth=1, durability=DurabilityPolicy.VOLATILE, reliability=ReliabilityPolicy.RELIABLE
    )
    override = f'qos_overrides.{client.topic("robot_description")}.subscription.durability'
    client.start(**{override: 'volatile'})
    client.describe('', volatile)
    client.wait_for(lambda: client.description.get_subscription_count(), 120.0)
    text = robots.path('quadruped').read_text()

    def served():
        client.describe(text)
        return 'serve quadruped' in client.process.log

    client.wait_for(served)


def test_unknown_qos_override__ends_the_process_with_the_reason(client):
    override = f'qos_overrides.{client.topic("odom")}.subscription.reliability'
    client.start(**{override: 'perfect'})
    assert client.process.wait(120.0) == 1
    assert 'Unexpected QoS override' in client.process.log.splitlines()[-1]


def test_two_robots__are_heard_and_do_not_hear_each_other(new_client, quadruped):
    humanoid = TreeModel.from_urdf(robots.path('humanoid'))
    clients = [new_client(quadruped, inputs=RELIABLE), new_client(humanoid)]
    for client in clients:
        client.describe(robots.path(client.model.name).read_text())
        client.serve()
    for client in clients:
        assert client.ask().model_hash == client.model.hash
        names = {message.model_name for message in client.linearizations}
        assert names == {client.model.name}
        _, _, values = client.next_diagnostics()
        assert values['robot'] == client.model.name


def test_topics__can_be_remapped(client):
    topic = f'/elsewhere{client.namespace}/joint_states'
    client.start('-r', f'joint_states:={topic}', robot_description_file=QUADRUPED)
    client.wait_for(lambda: client.graph.node.count_subscribers(topic), 120.0)
    assert client.graph.node.count_subscribers(client.topic('joint_states')) == 0


def test_outputs__are_reliable_and_volatile(robot):
    for name in ('linearization', 'forward_dynamics', 'summary'):
        (info,) = robot.graph.node.get_publishers_info_by_topic(f'{robot.node_name}/{name}')
        assert info.qos_profile.reliability == ReliabilityPolicy.RELIABLE
        assert info.qos_profile.durability == DurabilityPolicy.VOLATILE
    (info,) = robot.graph.node.get_subscriptions_info_by_topic(robot.topic('joint_states'))
    assert info.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
