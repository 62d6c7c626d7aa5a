# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The `ros2` commands on a running node, and what they say."""

import re

import pytest
import yaml
from support.installation import NOT_HERE, PATIENCE

pytest.importorskip('launch_ros', reason=NOT_HERE)
pytest.importorskip('ros2cli', reason=NOT_HERE)

NODE = '/robot1/linearizer'
LINEARIZATION = f'{NODE}/linearization'
WAIT = '--no-daemon', '--spin-time', '5'
LAUNCH = """
import sys
from launch import LaunchDescription
from launch.actions import ExecuteProcess, IncludeLaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

def generate_launch_description():
    file = PathJoinSubstitution([FindPackageShare('geolin_ros'), 'launch/linearization.launch.py'])
    topics = [(topic, f'/{topic}') for topic in ('joint_states', 'odom', 'robot_description')]
    arguments = [('namespace', 'robot1'), *topics]
    return LaunchDescription([
        IncludeLaunchDescription(file, launch_arguments=arguments),
        ExecuteProcess(cmd=[sys.executable, '-m', 'geolin_demos.demo.robot']),
    ])
"""


@pytest.fixture(scope='module')
def ros2(installed, tmp_path_factory):
    """Runs a command beside a node that is fed by the demo's robot."""
    file = tmp_path_factory.mktemp('launch') / 'robot.launch.py'
    file.write_text(LAUNCH)
    with installed.launch(file) as launch:
        launch.wait_for('serve quadruped')
        yield lambda *words: installed.ros2(*words, timeout=PATIENCE)
        assert launch.process.poll() is None, launch.log


def test_topic_echo__prints_a_summary_and_a_linearization(ros2):
    (summary, *_) = yaml.safe_load_all(ros2('topic', 'echo', *WAIT, '--once', f'{NODE}/summary'))
    assert summary['header']['stamp']['sec'] > 0
    assert summary['published'] > 0
    echoed = ros2('topic', 'echo', *WAIT, '--once', '--full-length', LINEARIZATION)
    (linearization, *_) = yaml.safe_load_all(echoed)
    assert (linearization['a']['rows'], linearization['a']['cols']) == (36, 36)
    assert len(linearization['b']['data']) == 36 * 12


def test_service_call__linearizes(ros2):
    request = '{override_gravity: true, gravity: {z: -1.62}}'
    called = ros2('service', 'call', f'{NODE}/linearize', 'geolin_msgs/srv/Linearize', request)
    assert 'success=True' in called
    assert 'a=geolin_msgs.msg.Matrix(rows=36, cols=36' in called
    nu_dot = [float(value) for value in re.search(r'nu_dot=\[(.*?)\]', called)[1].split(',')]
    assert nu_dot[:3] == pytest.approx([0.0, 0.0, -1.62])


def test_programs__are_run_by_name(installed):
    listed = installed.ros2('pkg', 'executables', 'geolin_ros').split('\n')
    for name in ('geolin', 'linearizer'):
        assert f'geolin_ros {name}' in listed
    listed = installed.ros2('pkg', 'executables', 'geolin_control').split('\n')
    assert 'geolin_control lqr_node' in listed
    listed = installed.ros2('pkg', 'executables', 'geolin_estimation').split('\n')
    for name in ('state_estimator', 'torque_estimator'):
        assert f'geolin_estimation {name}' in listed
    assert 'usage: linearizer' in installed.ros2('run', 'geolin_ros', 'linearizer', '--help')
