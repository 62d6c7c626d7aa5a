# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robot, linearizer and checking consumer of the demo; all end when the consumer has reported.

The exit status is 0 only if every check passes.
"""

import sys

from geolin_demos.demo.__main__ import RANGE, discovery
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    OpaqueFunction,
    SetEnvironmentVariable,
)
from launch.launch_context import LaunchContext
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from geolin_ros.robots import locate
from geolin_ros.ros.launching import check_file, supervise
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Start the three processes."""
    robot = ExecuteProcess(
        name='robot',
        cmd=[
            *(sys.executable, '-m', 'geolin_demos.demo.robot'),
            *('--robot', LaunchConfiguration('robot')),
        ],
        output='screen',
    )
    linearizer = Node(
        package='geolin_ros', executable='linearizer', name='linearization_node', output='screen'
    )
    consumer = ExecuteProcess(
        name='consumer',
        cmd=[
            *(sys.executable, '-m', 'geolin_demos.demo.consumer'),
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
            OpaqueFunction(function=check_robot),
            supervise(consumer, lambda event: event.action in (robot, linearizer)),
            robot,
            linearizer,
            consumer,
        ]
    )


def check_robot(context: LaunchContext) -> None:
    """Refuse a robot that is neither a file nor known by name, before anything starts."""
    robot = LaunchConfiguration('robot').perform(context)
    check_file('robot', str(locate(robot)))
