# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A node on the graph: quality of service, types of topics, life cycle, parameters."""

import contextlib

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from support.built_messages import INSTALLED
from support.ros_graph import set_and_wait

from geolin_ros import robots
from geolin_ros.stream.parameters.linearizer import BY_NAME
from geolin_ros.stream.topic_stream import Cause

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


def test_topic_of_another_type__is_named_with_both_types(robot):
    with contextlib.ExitStack() as stranger:
        context = rclpy.Context()  # a participant of its own: one knows a topic by one type
        rclpy.init(context=context)
        stranger.callback(context.shutdown)
        node = rclpy.create_node('stranger', context=context)
        stranger.callback(node.destroy_node)
        node.create_publisher(PoseStamped, robot.topic('odom'), 10)
        expected = (
            f'topic {robot.topic("odom")} is published as geometry_msgs/msg/PoseStamped by node '
            'stranger, expected nav_msgs/msg/Odometry'
        )
        robot.wait_for(lambda: expected in robot.process.log)


def test_bytes_that_are_no_joint_state__are_said_and_dropped(robot):
    robot.ask()
    robot.joint_states.publish(b'\x00\x01\x00\x00' + bytes(8))
    robot.wait_for(lambda: '12 bytes are no JointState' in robot.process.log)
    robot.ask()


def test_outputs__are_reliable_and_volatile(robot):
    for name in ('linearization', 'forward_dynamics', 'summary'):
        (info,) = robot.graph.node.get_publishers_info_by_topic(f'{robot.node_name}/{name}')
        assert info.qos_profile.reliability == ReliabilityPolicy.RELIABLE
        assert info.qos_profile.durability == DurabilityPolicy.VOLATILE
    (info,) = robot.graph.node.get_subscriptions_info_by_topic(robot.topic('joint_states'))
    assert info.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT


def test_node__is_driven_by_a_lifecycle_manager(client):
    client.start(autostart=False, robot_description_file=QUADRUPED)
    assert client.state() == 'unconfigured'
    assert not client.change_state('activate')
    outputs = f'{client.node_name}/linearization'
    for round_number in (1, 2):
        assert client.change_state('configure')
        assert client.state() == 'inactive'
        level, text, _ = client.next_diagnostics()
        assert (level, text) == (DiagnosticStatus.WARN, 'waits for activation')
        for _ in range(2):
            client.wait_for(lambda: client.joint_states.get_subscription_count() == 0)
            assert client.change_state('activate')
            client.wait_until_active()
            client.linearizations.clear()
            client.shake_hands()
            assert client.ask().model_hash == client.model.hash
            assert client.change_state('deactivate')
        assert client.change_state('cleanup')
        assert client.state() == 'unconfigured'
        client.wait_for(lambda: client.graph.node.count_publishers(outputs) == 0)
        client.linearizations.clear()
        assert client.process.log.count('serve quadruped') == round_number
    for transition in ('configure', 'activate', 'shutdown'):
        assert client.change_state(transition)
    assert client.state() == 'finalized'
    client.wait_for(lambda: client.graph.node.count_publishers(outputs) == 0)


def test_parameters_set_before_configuring__are_checked_and_hold(client):
    """On the robot of the parameters, also once it has been served."""
    client.start(autostart=False)
    client.wait_for(lambda: client.state() == 'unconfigured')
    text = robots.path('quadruped').read_text()
    assert client.set_parameters(robot_description=text, reference='frozen') == (True, '')
    for _ in range(2):
        accepted, reason = client.set_parameters(contacts=['FL_sole point'])
        assert not accepted
        assert "'FL_sole'" in reason
        assert client.change_state('configure')
        assert client.set_parameters(payload__frame='base', payload__mass=1.0) == (True, '')
        assert client.set_parameters(payload__frame='') == (True, '')
        assert client.change_state('cleanup')
        assert client.set_parameters(robot_description=f'{text}\n') == (True, '')
    assert client.change_state('configure')
    assert client.change_state('activate')
    client.wait_until_active()
    client.shake_hands()
    assert client.ask().reference == 2
    assert client.next_diagnostics()[2]['linearizations'] != '0'


@pytest.fixture
def changed(robot):
    """Set parameters, wait until the node serves with them, and put the defaults back."""

    @contextlib.contextmanager
    def change(**values):
        set_and_wait(robot, values)
        try:
            yield
        finally:
            defaults = {name: BY_NAME[name.replace('__', '.')].default for name in values}
            set_and_wait(robot, defaults)

    return change


def test_efforts_and_odometry__are_kept_when_parameters_change(robot, changed):
    with changed(torque_source='topic'):
        joints = robot.make_joint_state(robot.tick())
        robot.send(joints, robot.make_odometry(robot.time))
        assert robot.new_drops() == {Cause.NO_EFFORT.value: 1}
        assert robot.answer_to(joints) is None
        efforts = robot.make_joint_state(robot.tick(), position=[], velocity=[])
        robot.efforts.publish(efforts)
        first = robot.ask()
        assert first.joint_efforts == efforts.effort
        assert first.effort_source == first.EFFORT_TOPIC
        with changed(reference='frozen'):
            message = robot.send_until_answered(robot.make_joint_state(robot.tick()))
            assert message.joint_efforts == efforts.effort
            assert message.odometry_stamp == first.odometry_stamp


def test_transforms__without_their_messages_are_refused(robot):
    accepted, reason = robot.set_parameters(base_source='tf')
    assert accepted is INSTALLED
    assert INSTALLED or 'base_source is tf, which needs the package tf2_msgs' in reason
    if INSTALLED:
        set_and_wait(robot, {'base_source': 'odometry'})


def test_misspelled_parameters__are_said_with_what_was_meant(client, tmp_path):
    """On the command line and in a file; those of other nodes and of ROS are not."""
    file = tmp_path / 'more.yaml'
    file.write_text(
        '/**: {ros__parameters: {odometry.twist_frme: world, use_sim_time: false, zzz: 1}}\n'
        'other_node: {ros__parameters: {max_rte: 3.0}}\n'
    )
    client.start('-p', 'max_rat:=100.0', '--params-file', str(file))
    client.wait_until_active()
    said = [line for line in client.process.log.splitlines() if 'is unknown and ignored' in line]
    assert len(said) == 3, said
    assert all(line.startswith('[WARN]') for line in said)
    for words in ("'max_rate'", "'odometry.twist_frame'", 'parameter zzz is unknown'):
        assert any(words in line for line in said), said
