# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Play a bag into the linearization node, by the bag's clock, and record what comes out.

Takes the arguments of linearization.launch.py too. The player starts paused, and goes on once
node, recorder and player know of each other. All ends with the bag; with status 1 if one of them
ends before.
"""

import subprocess
import sys
from pathlib import Path

import yaml
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode, SetParameter
from launch_ros.substitutions import FindPackageShare
from launch_ros.utilities import make_namespace_absolute, prefix_namespace

from geolin_ros.errors import ConfigurationError
from geolin_ros.ros.launching import supervise
from launch import LaunchDescription

OUTPUTS = ('linearization', 'forward_dynamics', 'summary')
LAST_ANSWERS = 1.0  # to wait for after the last message of the bag [s]


def generate_launch_description() -> LaunchDescription:
    """Start node, recorder and paused player; play when they know of each other."""
    linearization = PathJoinSubstitution(
        [FindPackageShare('geolin_ros'), 'launch', 'linearization.launch.py']
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument('bag', description='Folder of the bag to be played.'),
            DeclareLaunchArgument(
                'output', default_value='linearizations', description='Folder of the bag written.'
            ),
            DeclareLaunchArgument(
                'rate', default_value='1.0', description='Speed of the replay: 0.5 is half.'
            ),
            OpaqueFunction(function=check),
            SetParameter('use_sim_time', True),
            IncludeLaunchDescription(linearization),
            OpaqueFunction(function=play),
        ]
    )


def check(context: LaunchContext) -> None:
    """Refuse what can be seen to fail, before anything starts."""
    bag, output = (LaunchConfiguration(name).perform(context) for name in ('bag', 'output'))
    if not Path(bag).exists():
        raise ConfigurationError(f'bag:={bag} does not exist, expected a folder of rosbag2')
    if starts_at_zero(Path(bag)):
        raise ConfigurationError(
            f'bag:={bag} starts at time 0, which on /clock means that there is no time yet: '
            f'recorder and nodes would wait for ever; `geolin replay {bag} -o {output}` needs no '
            'clock'
        )
    if Path(output).exists():
        raise ConfigurationError(f'output:={output} exists, expected a folder that is to be made')
    try:
        asked = subprocess.run(['ros2', 'bag', 'record', '--help'], capture_output=True)
        is_there = asked.returncode == 0
    except FileNotFoundError:
        is_there = False
    if not is_there:
        raise ConfigurationError(
            'there is no `ros2 bag` here: install the package ros-DISTRIBUTION-rosbag2, or let '
            f'`geolin replay {bag} -o {output}` do the same without it'
        )


def starts_at_zero(bag: Path) -> bool:
    """Whether the first message of a bag is of time 0, by its metadata."""
    file = bag / 'metadata.yaml'
    if not file.is_file():
        return False
    known = yaml.safe_load(file.read_text()) or {}
    start = known.get('rosbag2_bagfile_information', {}).get('starting_time', {})
    return start.get('nanoseconds_since_epoch') == 0


def play(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return recorder, paused player, and what lets it go on and ends all."""
    bag, output, rate, namespace, name = (
        LaunchConfiguration(argument).perform(context)
        for argument in ('bag', 'output', 'rate', 'namespace', 'name')
    )
    above = context.launch_configurations.get('ros_namespace')
    namespace = make_namespace_absolute(prefix_namespace(above, namespace)) or ''
    node = f'{namespace.rstrip("/")}/{name}'
    topics = [f'{node}/{output}' for output in OUTPUTS]
    recorder = ExecuteProcess(
        name='recorder',
        cmd=[
            *('ros2', 'bag', 'record', '--use-sim-time', '--output', output),
            *('--topics', *topics, '/diagnostics'),
        ],
        output='screen',
    )
    player = ExecuteProcess(
        name='player',
        cmd=['ros2', 'bag', 'play', bag, '--clock', '--start-paused', '--rate', rate],
        output='screen',
    )
    start = ExecuteProcess(
        name='start',
        cmd=[
            *(sys.executable, '-m', 'geolin_ros.ros.replay_start'),
            *('--node', node, '--topics', *topics),
        ],
        output='screen',
    )

    def is_loss(event) -> bool:
        action = event.action
        if action is start:
            return event.returncode != 0
        return action is recorder or (
            isinstance(action, LifecycleNode) and action.node_name == node
        )

    return [supervise(player, is_loss, LAST_ANSWERS), recorder, player, start]
