# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Play a bag into the linearization node, by the bag's clock, and record what comes out.

Takes the arguments of linearization.launch.py too. The bag is played once the node is active, and
all ends with it.
"""

from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.launch_context import LaunchContext
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import SetParameter
from launch_ros.event_handlers import OnStateTransition
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

OUTPUTS = ('linearization', 'forward_dynamics', 'summary')


def generate_launch_description() -> LaunchDescription:
    """Start the node and the recorder; play when the node is active."""
    linearization = PathJoinSubstitution(
        [FindPackageShare('geolin_ros'), 'launch', 'linearization.launch.py']
    )
    player = ExecuteProcess(
        cmd=[
            *('ros2', 'bag', 'play', LaunchConfiguration('bag')),
            *('--clock', '--rate', LaunchConfiguration('rate')),
        ],
        output='screen',
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
            SetParameter('use_sim_time', True),
            IncludeLaunchDescription(linearization),
            OpaqueFunction(function=record),
            RegisterEventHandler(OnStateTransition(goal_state='active', entities=[player])),
            RegisterEventHandler(
                OnProcessExit(target_action=player, on_exit=[EmitEvent(event=Shutdown())])
            ),
        ]
    )


def record(context: LaunchContext) -> list[ExecuteProcess]:
    """Return the recorder of the node's outputs and of its diagnostics."""
    node = '/'.join(
        name
        for name in (
            LaunchConfiguration(part).perform(context).strip('/') for part in ('namespace', 'name')
        )
        if name
    )
    topics = [f'/{node}/{output}' for output in OUTPUTS]
    return [
        ExecuteProcess(
            cmd=[
                *('ros2', 'bag', 'record', '--use-sim-time'),
                *('--output', LaunchConfiguration('output')),
                *('--topics', *topics, '/diagnostics'),
            ],
            output='screen',
        )
    ]
