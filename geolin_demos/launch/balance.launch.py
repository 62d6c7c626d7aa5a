# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot that balances: simulator, linearizer and LQR node; all end with the first.

The simulator says in a line how each case ended, and leaves with 1 if the robot fell.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from geolin_demos.balance.robots import ARMATURE, node_parameters, overlay, simulator_of
from geolin_demos.demo.__main__ import RANGE, discovery
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnShutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from geolin_ros.ros.launching import supervise
from launch import LaunchDescription

EXECUTABLES = {'linearization_node': 'linearizer', 'lqr_node': 'lqr_node'}


def start(context):
    """Return the three processes for the robot that is asked for."""
    robot, feet, output = (
        LaunchConfiguration(name).perform(context) for name in ('robot', 'feet', 'output')
    )
    options = argparse.Namespace(
        robot=robot, feet=feet, armature=ARMATURE, effort_limit=None, friction=0.8
    )
    simulator, _ = simulator_of(options)
    temporary = tempfile.TemporaryDirectory(prefix='geolin-balance-')
    rotors = Path(temporary.name, 'overlay.json')
    rotors.write_text(overlay(ARMATURE))
    parameters = node_parameters(simulator, robot, rotors, realtime=False)
    process = ExecuteProcess(
        name='simulator',
        cmd=[
            *(sys.executable, '-m', 'geolin_demos.balance.robot'),
            *('--robot', robot, '--feet', feet),
            *(('--output', output) if output else ()),
        ],
        output='screen',
    )
    nodes = [
        Node(
            package='geolin_ros',
            executable=EXECUTABLES[name],
            name=name,
            parameters=[values],
            output='screen',
        )
        for name, values in parameters.items()
    ]
    clear = OnShutdown(on_shutdown=lambda *_: temporary.cleanup())
    kept = LogInfo(msg=f'what comes of each case: {output or "not kept, give output:=FOLDER"}')
    end = supervise(process, lambda event: event.action in nodes)
    return [kept, RegisterEventHandler(clear), end, *nodes, process]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and start."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'robot',
                default_value='quadruped',
                description='URDF or MJCF path, or bundled robot',
            ),
            DeclareLaunchArgument(
                'feet',
                default_value='FL_foot,FR_foot,RL_foot,RR_foot',
                description='Frames it stands on, with commas between them.',
            ),
            DeclareLaunchArgument(
                'output', default_value='', description='Folder for what comes of each case.'
            ),
            SetEnvironmentVariable(RANGE, discovery()[RANGE]),
            OpaqueFunction(function=start),
        ]
    )
