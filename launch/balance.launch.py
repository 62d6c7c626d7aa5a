# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot that balances: simulator, linearizer and LQR node; all end with the first.

The simulator says in a line how each case ended, and leaves with 1 if the robot fell.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnProcessExit, OnShutdown
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from geolin_ros.balance.robots import ARMATURE, node_parameters, overlay, simulator_of
from geolin_ros.demo.__main__ import RANGE, discovery
from launch import LaunchDescription

EXECUTABLES = {'linearization_node': 'linearizer', 'lqr_node': 'lqr_node'}


def start(context):
    """Return the three processes for the robot that is asked for."""
    robot, feet, output = (
        LaunchConfiguration(name).perform(context) for name in ('robot', 'feet', 'output')
    )
    temporary = tempfile.TemporaryDirectory(prefix='geolin-balance-')
    rotors = Path(temporary.name, 'overlay.json')
    options = argparse.Namespace(robot=robot, feet=feet, armature=ARMATURE, friction=0.8)
    rotors.write_text(overlay(ARMATURE))
    simulator, _ = simulator_of(options)
    parameters = node_parameters(simulator, rotors, realtime=False)
    process = ExecuteProcess(
        cmd=[
            *(sys.executable, '-m', 'geolin_ros.balance.robot'),
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
    end = OnProcessExit(target_action=process, on_exit=[EmitEvent(event=Shutdown())])
    clear = OnShutdown(on_shutdown=lambda *_: temporary.cleanup())
    kept = LogInfo(msg=f'what comes of each case: {output or "not kept, give output:=FOLDER"}')
    return [kept, *nodes, process, RegisterEventHandler(end), RegisterEventHandler(clear)]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and start."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'robot', default_value='quadruped', description='URDF path, quadruped or humanoid'
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
