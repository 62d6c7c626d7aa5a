# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Our launch files, started by `ros2 launch` as users do, included from files of their own."""

import pytest
from support.installation import NOT_HERE

from geolin_ros import robots

pytest.importorskip('launch_ros', reason=NOT_HERE)
pytest.importorskip('ros2launch', reason=NOT_HERE)

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
XML = f"""
<launch>
  <include file="$(find-pkg-share geolin_ros)/launch/linearization.launch.py">
    <arg name="namespace" value="one"/>
    <arg name="robot_description_file" value="{QUADRUPED}"/>
  </include>
  <group>
    <push-ros-namespace namespace="two"/>
    <include file="$(find-pkg-share geolin_ros)/launch/linearization.launch.py">
      <arg name="name" value="geometry"/>
      <arg name="namespace" value=""/>
      <arg name="robot_description_file" value="{HUMANOID}"/>
    </include>
  </group>
</launch>
"""
YAML = f"""
launch:
- include:
    file: $(find-pkg-share geolin_ros)/launch/linearization.launch.py
    arg:
    - {{name: namespace, value: one}}
    - {{name: robot_description_file, value: "{QUADRUPED}"}}
- group:
  - push_ros_namespace: {{namespace: two}}
  - include:
      file: $(find-pkg-share geolin_ros)/launch/linearization.launch.py
      arg:
      - {{name: name, value: geometry}}
      - {{name: namespace, value: ""}}
      - {{name: robot_description_file, value: "{HUMANOID}"}}
"""


@pytest.mark.parametrize(('name', 'text'), [('py', PYTHON), ('xml', XML), ('yaml', YAML)])
def test_two_robots__are_served_by_one_launch_file_of_any_kind(installed, name, text, tmp_path):
    file = tmp_path / f'robots.launch.{name}'
    file.write_text(text)
    with installed.launch(file) as launch:
        launch.wait_for('[one.linearizer]: serve quadruped')
        launch.wait_for('serve humanoid')
        assert '[two.geometry]: serve humanoid' in launch.log, launch.log
        assert launch.interrupt() == 0, launch.log
    assert launch.log.count('process has finished cleanly') == 2, launch.log
    assert 'Traceback' not in launch.log


def test_arguments__are_shown_with_defaults_and_meaning(installed):
    shown = installed.ros2('launch', 'geolin_ros', 'linearization.launch.py', '--show-args')
    for name in ('robot_description_file', 'parameters', 'namespace', 'name', 'odom'):
        assert f"'{name}':" in shown
    assert 'URDF file. Empty: the one of the parameters, else the topic.' in shown


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


EVENTS = f"""
from launch import LaunchDescription
from launch.actions import EmitEvent, RegisterEventHandler
from launch.event_handlers import OnProcessStart
from launch.events import matches_action
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition

def generate_launch_description():
    node = LifecycleNode(
        package='geolin_ros', executable='linearizer', name='geometry', namespace='',
        parameters=[{{'autostart': False, 'robot_description_file': '{QUADRUPED}'}}],
        output='screen',
    )

    def change(transition):
        return EmitEvent(event=ChangeState(
            lifecycle_node_matcher=matches_action(node), transition_id=transition))

    return LaunchDescription([
        node,
        RegisterEventHandler(OnProcessStart(
            target_action=node, on_start=[change(Transition.TRANSITION_CONFIGURE)])),
        RegisterEventHandler(OnStateTransition(
            target_lifecycle_node=node, goal_state='inactive', start_state='configuring',
            entities=[change(Transition.TRANSITION_ACTIVATE)])),
    ])
"""


def test_lifecycle_events_of_launch__bring_the_node_up(installed, tmp_path):
    file = tmp_path / 'events.launch.py'
    file.write_text(EVENTS)
    wait = '--no-daemon', '--spin-time', '5'
    with installed.launch(file) as launch:
        launch.wait_for('[geometry]: serve quadruped')
        state = ''
        for _ in range(20):
            state = installed.ros2('lifecycle', 'get', *wait, '/geometry')
            if state != 'activating [13]\n' and state != 'inactive [2]\n':
                break
        assert state == 'active [3]\n', launch.log
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
    ('package', 'file', 'argument'),
    [
        ('geolin_ros', 'linearization.launch.py', 'use_sim_time:=yes'),
        ('geolin_ros', 'bringup.launch.py', 'use_sim_time:=1'),
        ('geolin_ros', 'bringup.launch.py', 'publish_efforts:=on'),
        ('geolin_demos', 'standing.launch.py', 'state_estimator:=no'),
    ],
)
def test_argument_that_is_neither_true_nor_false__is_refused(installed, package, file, argument):
    with installed.launch(package, file, argument) as launch:
        assert launch.wait() == 1, launch.log
    assert f'{argument}, expected true or false' in launch.log
