# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robot, linearizer and checking consumer of the demo; all end when the consumer has reported."""

import sys

from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from geolin_ros.demo.__main__ import RANGE, discovery
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Start the three processes."""
    robot = ExecuteProcess(
        cmd=[
            *(sys.executable, '-m', 'geolin_ros.demo.robot'),
            *('--robot', LaunchConfiguration('robot')),
        ],
        output='screen',
    )
    linearizer = Node(
        package='geolin_ros', executable='linearizer', name='linearization_node', output='screen'
    )
    consumer = ExecuteProcess(
        cmd=[
            *(sys.executable, '-m', 'geolin_ros.demo.consumer'),
            *('--duration', LaunchConfiguration('duration')),
            *('--output', LaunchConfiguration('output')),
        ],
        output='screen',
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'robot', default_value='quadruped', description='URDF path, quadruped or humanoid'
            ),
            DeclareLaunchArgument(
                'duration', default_value='15.0', description='Measured time [s].'
            ),
            DeclareLaunchArgument(
                'output', default_value='geolin_demo.png', description='Where to save the picture.'
            ),
            SetEnvironmentVariable(RANGE, discovery()[RANGE]),
            robot,
            linearizer,
            consumer,
            RegisterEventHandler(
                OnProcessExit(target_action=consumer, on_exit=[EmitEvent(event=Shutdown())])
            ),
        ]
    )
