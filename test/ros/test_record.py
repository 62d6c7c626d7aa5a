# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`geolin record` beside a running node: what is in its bag, by the reader of rosbags."""

import json
import os
import signal
import subprocess
import sys

import pytest
from rclpy.duration import Duration
from std_msgs.msg import String
from support.environment import ROOT, with_checkout
from support.ros_graph import RELIABLE, START

from geolin_ros.cli import main
from geolin_ros.ros.recorder import record
from geolin_ros.ros.signals import NUMBERS

rosbag2 = pytest.importorskip('rosbags.rosbag2')
RUN = 'import sys; from geolin_ros.cli import main; sys.exit(main(sys.argv[1:]))'


def start(folder, *arguments, environment=None):
    return subprocess.Popen(
        [sys.executable, '-c', RUN, 'record', '-o', str(folder), '--json', *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=with_checkout() | (environment or {}),
        cwd=ROOT,
    )


def test_inputs_and_outputs_of_a_node__are_in_the_bag_without_a_gap(robot, tmp_path):
    published, recorded = robot.joint_states, f'{robot.node_name}/linearization'
    before = published.get_subscription_count()
    recorder = start(tmp_path / 'bag', '--node', robot.node_name)
    try:
        robot.wait_for(lambda: published.get_subscription_count() > before, START)
        robot.wait_for(lambda: robot.odom.get_subscription_count() > before, START)
        known = f'subscribers of {recorded}'  # to the node: the recorder knew of it before
        robot.wait_for(lambda: int(robot.next_diagnostics()[2][known]) > 1, START)
        sent = [robot.ask() for _ in range(20)]
        robot.next_diagnostics()  # the recorder has had time to hear the last ones
        recorder.send_signal(signal.SIGINT)
        said, errors = recorder.communicate(timeout=60)
    finally:
        recorder.kill()
    assert recorder.returncode == 0, errors
    result = json.loads(said)
    assert result['nodes'] == [robot.node_name]
    stamps = [(m.header.stamp.sec, m.header.stamp.nanosec) for m in sent]
    with rosbag2.Reader(tmp_path / 'bag') as bag:
        kinds = {connection.topic: connection.msgtype for connection in bag.connections}
        counts = {connection.topic: connection.msgcount for connection in bag.connections}
    assert counts == result['messages']
    assert kinds[robot.topic('joint_states')] == 'sensor_msgs/msg/JointState'
    assert kinds[recorded] == 'geolin_msgs/msg/LinearizedDynamics'
    assert f'{robot.node_name}/summary' in kinds
    assert not {'/rosout', '/parameter_events'} & set(kinds)
    assert len(stamps) == 20
    for topic in (robot.topic('joint_states'), robot.topic('odom'), recorded):
        assert counts[topic] >= 20, topic


@pytest.fixture
def default_signals():
    """Signal handlers as they were, after a test whose programs ignore signals at their end."""
    handlers = {number: signal.getsignal(number) for number in NUMBERS}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures('default_signals')
def test_what_has_come_before_ctrl_c__is_in_the_bag(graph, tmp_path):
    """Also what a busy recorder had no time to take."""
    topic = f'/last_words{os.getpid()}'
    publisher = graph.node.create_publisher(String, topic, RELIABLE)

    def say_much_and_end(recorder):
        if publisher.get_subscription_count():
            for k in range(20):
                publisher.publish(String(data=str(k)))
            assert publisher.wait_for_all_acked(Duration(seconds=START))
            signal.raise_signal(signal.SIGINT)

    recorder = record(
        tmp_path / 'bag', 'mcap', ['/nobody'], [topic], START, pytest.fail, say_much_and_end
    )
    graph.node.destroy_publisher(publisher)
    assert recorder.counts == {topic: 20}
    with rosbag2.Reader(tmp_path / 'bag') as bag:
        assert [connection.msgcount for connection in bag.connections] == [20]


def test_bag__can_be_inspected_and_linearized(robot, tmp_path, capsys):
    recorder = start(tmp_path / 'bag', '--node', robot.node_name, '--duration', '4')
    try:
        robot.wait_for(lambda: robot.ask() and recorder.poll() is not None, START)
        _, errors = recorder.communicate(timeout=60)
    finally:
        recorder.kill()
    assert recorder.returncode == 0, errors
    arguments = ['inspect', str(tmp_path / 'bag'), '--urdf', 'quadruped', '--json']
    assert main(arguments) in (0, 2)  # 2 where the first joint state came without odometry
    assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ('arguments', 'says'),
    [(['--node', 'linearization_node'], 'expected /linearization_node'), ([], 'exists already')],
)
def test_what_cannot_be_recorded__is_refused_at_once(arguments, says, tmp_path):
    folder = tmp_path / 'bag'
    folder.mkdir()
    (folder / 'metadata.yaml').write_text('')
    recorder = start(folder, *arguments)
    _, errors = recorder.communicate(timeout=START)
    assert recorder.returncode == 1
    assert errors.startswith('geolin record: ')
    assert says in errors
    assert len(errors.splitlines()) == 1


def test_nothing_to_record__is_said_and_fails(own_graph, tmp_path):
    recorder = start(tmp_path / 'bag', environment=own_graph.environment)
    waits = 'waiting for messages of a node that publishes geolin_msgs (Ctrl-C ends)\n'
    assert waits in iter(recorder.stderr.readline, '')
    recorder.send_signal(signal.SIGINT)
    said, _ = recorder.communicate(timeout=60)
    assert recorder.returncode == 1
    assert json.loads(said)['messages'] == {}
