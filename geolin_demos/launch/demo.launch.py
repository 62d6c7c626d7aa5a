# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robot, linearizer and checking consumer of the demo; all end when the consumer has reported.

The exit status is 0 only if every check passes.
"""

import sys

from geolin_demos.demo.__main__ import RANGE, discovery
from geolin_demos.demo.descriptions import file_parameter
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    OpaqueFunction,
    SetEnvironmentVariable,
)
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from geolin_ros.robots import locate
from geolin_ros.ros.launching import check_file, supervise
from launch import LaunchDescription


def start(context):
    """Return the three processes; refuse a robot that is no file and not known by name."""
    robot, duration, output = (
        LaunchConfiguration(name).perform(context) for name in ('robot', 'duration', 'output')
    )
    path = locate(robot)
    check_file('robot', str(path))
    read = file_parameter(path)
    flight = ExecuteProcess(
        name='robot',
        cmd=[sys.executable, '-m', 'geolin_demos.demo.robot', '--robot', robot],
        output='screen',
    )
    linearizer = Node(
        package='geolin_ros',
        executable='linearizer',
        name='linearizer',
        parameters=[read] if read else [],
        arguments=['--end-with-parent'],
        output='screen',
    )
    asked = ['--duration', duration, '--output', output, *(('--robot', robot) if read else ())]
    consumer = ExecuteProcess(
        name='consumer',
        cmd=[sys.executable, '-m', 'geolin_demos.demo.consumer', *asked],
        output='screen',
    )
    end = supervise(consumer, lambda event: event.action in (flight, linearizer))
    return [end, flight, linearizer, consumer]


ARGUMENTS = {
    'robot': ('quadruped', 'URDF or MJCF path, or bundled robot'),
    'duration': ('5.0', 'Measured time [s].'),
    'output': ('geolin_demo.png', 'Where to save the picture.'),
}


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and start."""
    return LaunchDescription(
        [
            *(
                DeclareLaunchArgument(name, default_value=default, description=text)
                for name, (default, text) in ARGUMENTS.items()
            ),
            SetEnvironmentVariable(RANGE, discovery()[RANGE]),
            OpaqueFunction(function=start),
        ]
    )
