# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The `ros2` commands on a running node, and what they say."""

import re

import pytest
import yaml
from support.installation import NOT_HERE, PATIENCE

from geolin_ros.stream.parameters.linearizer import BY_NAME

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


def test_node_info__lists_topics_and_services(ros2):
    info = ros2('node', 'info', *WAIT, NODE)
    heard, said, served = (
        info.partition(title)[2].partition('\n  ' + after)[0]
        for title, after in (
            ('Subscribers:', 'Publishers:'),
            ('Publishers:', 'Service Servers:'),
            ('Service Servers:', 'Service Clients:'),
        )
    )
    assert '/joint_states: sensor_msgs/msg/JointState' in heard
    assert '/odom: nav_msgs/msg/Odometry' in heard
    assert f'{LINEARIZATION}: geolin_msgs/msg/LinearizedDynamics' in said
    assert '/diagnostics: diagnostic_msgs/msg/DiagnosticArray' in said
    assert f'{NODE}/linearize: geolin_msgs/srv/Linearize' in served


def test_param__lists_describes_gets_sets_and_dumps(ros2):
    names = ros2('param', 'list', *WAIT, NODE).split()
    assert {'gravity', 'max_rate', 'use_sim_time'} <= set(names)
    described = ros2('param', 'describe', *WAIT, NODE, 'max_rate')
    assert BY_NAME['max_rate'].text in described
    assert 'Max value: 10000.0' in described
    assert ros2('param', 'set', *WAIT, NODE, 'max_rate', '50.0') == 'Set parameter successful\n'
    assert ros2('param', 'get', *WAIT, NODE, 'max_rate') == 'Double value is: 50.0\n'
    refused = ros2('param', 'set', *WAIT, NODE, 'form', 'cubic')
    assert 'Setting parameter failed' in refused
    assert 'continuous' in refused
    dumped = yaml.safe_load(ros2('param', 'dump', *WAIT, NODE))
    values = dumped[NODE]['ros__parameters']
    assert values['max_rate'] == 50.0
    assert values['gravity'] == [0.0, 0.0, -9.81]
    assert ros2('param', 'set', *WAIT, NODE, 'max_rate', '0.0') == 'Set parameter successful\n'


def test_service_call__linearizes(ros2):
    request = '{override_gravity: true, gravity: {z: -1.62}}'
    called = ros2('service', 'call', f'{NODE}/linearize', 'geolin_msgs/srv/Linearize', request)
    assert 'success=True' in called
    assert 'a=geolin_msgs.msg.Matrix(rows=36, cols=36' in called
    nu_dot = [float(value) for value in re.search(r'nu_dot=\[(.*?)\]', called)[1].split(',')]
    assert nu_dot[:3] == pytest.approx([0.0, 0.0, -1.62])


def test_lifecycle__is_shown_and_changed(ros2):
    assert NODE in ros2('lifecycle', 'nodes', *WAIT).split()
    assert ros2('lifecycle', 'get', *WAIT, NODE) == 'active [3]\n'
    assert '- deactivate [4]' in ros2('lifecycle', 'list', *WAIT, NODE)
    for transition, state in (('deactivate', 'inactive [2]'), ('activate', 'active [3]')):
        done = ros2('lifecycle', 'set', *WAIT, NODE, transition)
        assert 'Transitioning successful' in done
        assert ros2('lifecycle', 'get', *WAIT, NODE) == f'{state}\n'


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
