# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`geolin record` beside a running node: what is in its bag, by the reader of rosbags."""

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from geolin_tools.cli import view
from rclpy.duration import Duration
from std_msgs.msg import String
from support.environment import ROOT, with_checkout
from support.processes import Program
from support.ros_graph import RELIABLE, START, Client

from geolin_ros import TreeModel, open_dataset, robots
from geolin_ros.cli import main
from geolin_ros.ros import running

rosbag2 = pytest.importorskip('rosbags.rosbag2')
# xarray looks for a package of this name, and must not find the folder of tests.
sys.modules.setdefault('sparse', None)
GEOLIN = Path(sys.executable).with_name('geolin')


def start(folder, *arguments, environment=None):
    return Program(
        [GEOLIN, 'record', '-o', str(folder), '--json', *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=with_checkout() | (environment or {}),
        cwd=ROOT,
    )


def test_inputs_and_outputs_of_a_node__are_in_the_bag_without_a_gap(robot, tmp_path, capsys):
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
    arguments = ['inspect', str(tmp_path / 'bag'), '--urdf', 'quadruped', '--json']
    assert main(arguments) in (0, 2)  # 2 where the first joint state came without odometry
    assert json.loads(capsys.readouterr().out)


def test_what_has_come_before_ctrl_c__is_in_the_bag(graph, tmp_path, monkeypatch, capfd):
    """Also what a busy recorder had no time to take."""
    topic, spin = f'/last_words{os.getpid()}', running.spin
    publisher = graph.node.create_publisher(String, topic, RELIABLE)

    def say_much_and_end():
        if publisher.get_subscription_count():
            for k in range(20):
                publisher.publish(String(data=str(k)))
            assert publisher.wait_for_all_acked(Duration(seconds=START))
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(
        running, 'spin', lambda node, is_over: spin(node, lambda: say_much_and_end() or is_over())
    )
    words = ['record', '--node', '/nobody', '--topic', topic, '--duration', str(START), '--json']
    for folder in (tmp_path / 'bag', tmp_path / 'again'):
        assert main([*words, '-o', str(folder)]) == 0
        said = capfd.readouterr()
        assert json.loads(said.out)['messages'] == {topic: 20}
        assert said.err in ('', 'waiting for messages of /nobody (Ctrl-C ends)\n')
        with rosbag2.Reader(folder) as bag:
            assert [connection.msgcount for connection in bag.connections] == [20]
    graph.node.destroy_publisher(publisher)


@pytest.fixture(scope='module')
def standing_bag(graph, tmp_path_factory):
    """A bag of a node with rotors and contacts by parameters, and what it published."""
    tmp_path = tmp_path_factory.mktemp('standing')
    rotors = tmp_path / 'rotors.yaml'
    rotors.write_text('{joints: {"*": {rotor_inertia: 0.01, gear_ratio: 1.0}}}')
    model = TreeModel.from_urdf(robots.path('quadruped'), overlay=rotors)
    client = Client(graph, tmp_path_factory.mktemp('node'), model)
    with contextlib.closing(client):
        contacts = ['FL_foot point', 'FR_foot point', 'RL_foot point']
        client.serve(overlay_file=str(rotors), contacts=contacts)
        recorder = start(tmp_path / 'bag', '--node', client.node_name, '--duration', '3')
        try:
            client.wait_for(lambda: client.ask() and recorder.poll() is not None, START)
            _, errors = recorder.communicate(timeout=60)
        finally:
            recorder.kill()
    assert recorder.returncode == 0, errors
    rotors.unlink()  # the bag is taken elsewhere
    found = {m.header.stamp.sec * 10**9 + m.header.stamp.nanosec: m for m in client.linearizations}
    return tmp_path / 'bag', client.node_name, found, model


def test_bag__is_linearized_with_the_parameters_of_its_node(standing_bag, tmp_path, capsys):
    bag, node, published, model = standing_bag
    words = ['linearize', str(bag), '-o', str(tmp_path / 'run.zarr'), '--workers', '1', '--json']
    assert main(words) in (0, 2)
    errors = capsys.readouterr().err
    assert f'parameters as {node} had them: ' in errors
    assert "contacts ['FL_foot point', 'FR_foot point', 'RL_foot point']" in errors
    assert 'warning: ' not in errors
    with open_dataset(str(tmp_path / 'run.zarr')) as data:
        assert data.attrs['model_hash'] == model.hash == next(iter(published.values())).model_hash
        # A joint state that came before its odometry has that of another instant in the bag.
        paired = np.flatnonzero(data.odometry_time.values == data.time.values)
        assert len(paired) > 5
        for k in paired:
            a = published[int(data.time.values[k].astype(np.int64))].a
            A = np.reshape(a.data, (a.rows, a.cols))
            np.testing.assert_allclose(data.A.values[k], A, rtol=0.0, atol=1e-9 * np.abs(A).max())
    parser = argparse.ArgumentParser()
    view.add_arguments(parser)
    shown = view._source(parser.parse_args([str(bag)]), lambda: False)
    assert shown.model.hash == model.hash
    assert f'parameters as {node} had them: ' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('given', 'warns'), [('contacts:=[""]', False), ('gravity:=[0.0, 0.0, -1.62]', True)]
)
def test_given_parameters__override_those_of_the_bag(standing_bag, given, warns, capsys):
    bag, node, published, _ = standing_bag
    assert main(['inspect', str(bag), '-p', given, '--json']) in (0, 2)
    said = capsys.readouterr()
    assert f'parameters as {node} had them: ' in said.err
    assert f'{given.partition(":=")[0]} ' not in said.err
    recorded = next(iter(published.values())).model_hash
    other = json.loads(said.out)['robot']['hash']
    assert (other != recorded) == warns
    words = f'A and B in the bag are of model {recorded}, these are of {other}'
    assert (words in said.err) == warns


def test_what_cannot_be_recorded__is_refused_at_once(tmp_path):
    recorder = start(tmp_path / 'bag', '--node', 'linearizer')
    _, errors = recorder.communicate(timeout=START)
    assert recorder.returncode == 1
    assert re.fullmatch(r'geolin record: .*expected /linearizer.*\n', errors)
