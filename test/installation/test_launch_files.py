# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Our launch files, started by `ros2 launch` as users do, and how that ends."""

import pytest
from support.installation import NOT_HERE

from geolin_ros import robots

pytest.importorskip('launch_ros', reason=NOT_HERE)
pytest.importorskip('ros2launch', reason=NOT_HERE)

BALANCE = 'geolin_demos', 'standing.launch.py'
NODE = 'geolin_ros', 'linearization.launch.py'
QUADRUPED, HUMANOID = (robots.path(name) for name in ('quadruped', 'humanoid'))

PYTHON = f"""
from launch import LaunchDescription
from launch.actions import GroupAction, IncludeLaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import PushRosNamespace
from launch_ros.substitutions import FindPackageShare

def include(**arguments):
    file = PathJoinSubstitution([FindPackageShare('geolin_ros'), 'launch/linearization.launch.py'])
    return IncludeLaunchDescription(file, launch_arguments=arguments.items())

def generate_launch_description():
    return LaunchDescription([
        include(namespace='one', robot_description_file='{QUADRUPED}'),
        GroupAction([
            PushRosNamespace('two'),
            include(namespace='', name='geometry', robot_description_file='{HUMANOID}'),
        ]),
    ])
"""


def test_two_robots__are_served_by_one_launch_file(installed, tmp_path):
    file = tmp_path / 'robots.launch.py'
    file.write_text(PYTHON)
    with installed.launch(file) as launch:
        launch.wait_for('[one.linearizer]: serve quadruped')
        launch.wait_for('serve humanoid')
        assert '[two.geometry]: serve humanoid' in launch.log, launch.log
        assert launch.interrupt() == 0, launch.log
    assert launch.log.count('process has finished cleanly') == 2, launch.log
    assert 'Traceback' not in launch.log


def test_arguments_and_parameter_file__reach_the_node(installed, tmp_path):
    (tmp_path / 'robot.yaml').write_text(
        '/**:\n  ros__parameters:\n    form: discrete\n    gravity: [0.0, 0.0, -1.62]\n'
        f'    robot_description_file: {QUADRUPED}\n'
    )
    words = (
        *('linearization.launch.py', f'parameters:={tmp_path}/robot.yaml', 'name:=geometry'),
        *('namespace:=/far/away', 'odom:=/estimator/odom', 'joint_states:=joints'),
        f'robot_description_file:={HUMANOID}',
    )
    with installed.launch('geolin_ros', *words) as launch:
        launch.wait_for('[far.away.geometry]: serve humanoid')
        node = '/far/away/geometry'
        wait = '--no-daemon', '--spin-time', '5'
        assert installed.ros2('param', 'get', *wait, node, 'form') == 'String value is: discrete\n'
        gravity = installed.ros2('param', 'get', *wait, node, 'gravity')
        assert gravity == 'Double values are: [0.0, 0.0, -1.62]\n'
        info = installed.ros2('node', 'info', *wait, node)
        for topic in ('/estimator/odom', '/far/away/joints', '/far/away/joint_efforts'):
            assert f'{topic}: ' in info
        assert launch.interrupt() == 0, launch.log


def test_balance__runs_simulator_linearizer_and_lqr_node(installed, tmp_path):
    pytest.importorskip('mujoco')
    output = tmp_path / 'cases'
    output.mkdir()
    with installed.launch('geolin_demos', 'standing.launch.py', f'output:={output}') as launch:
        launch.wait_for('[simulator-4] PASS')
        launch.interrupt()
    assert 'Traceback' not in launch.log, launch.log
    assert (output / '0.json').exists()


def test_launch__ends_with_status_1_where_its_node_cannot_start(installed, tmp_path):
    bad = tmp_path / 'bad.yaml'
    bad.write_text('/**: {ros__parameters: {max_rate: -3.0}}')
    arguments = f'parameters:={bad}', f'robot_description_file:={QUADRUPED}', 'use_sim_time:=true'
    file = installed.prefix / 'share/geolin_ros/launch/linearization.launch.py'
    with installed.launch(file, *arguments) as launch:
        launch.wait_for('ended with status 1, see above')
        assert launch.process.wait() == 1, launch.log


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        ((*BALANCE, 'robot:=nope'), "robot 'nope' is not part of the bundled robots"),
        ((*BALANCE, 'state_estimator:=no'), 'state_estimator:=no, expected true or false'),
        ((*NODE, 'use_sim_time:=yes'), 'use_sim_time:=yes, expected true or false'),
        ((*NODE, 'robot_description_file:=nope.urdf'), '_file:=nope.urdf is not a file'),
        (
            ('geolin_ros', 'bringup.launch.py', 'publish_efforts:=on'),
            'publish_efforts:=on, expected true or false',
        ),
    ],
)
def test_argument_that_cannot_be__ends_the_launch_before_anything_starts(
    installed, words, sentence
):
    with installed.launch(*words) as launch:
        assert launch.wait() == 1, launch.log
    assert sentence in launch.log
    assert 'process started' not in launch.log
