# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot that balances: simulator, linearizer and LQR node; all end with the first."""

import argparse
import sys
import tempfile
from pathlib import Path

from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from geolin_ros.balance.robots import ARMATURE, node_parameters, overlay, simulator_of
from geolin_ros.demo.__main__ import RANGE, discovery
from launch import LaunchDescription

EXECUTABLES = {'linearization_node': 'linearizer', 'lqr_node': 'lqr_node'}


def start(context):
    """Return the three processes for the robot that is asked for."""
    robot, feet = (LaunchConfiguration(name).perform(context) for name in ('robot', 'feet'))
    folder = Path(tempfile.mkdtemp(prefix='geolin-balance-'))
    options = argparse.Namespace(robot=robot, feet=feet, armature=ARMATURE, friction=0.8)
    (folder / 'overlay.json').write_text(overlay(ARMATURE))
    simulator, _ = simulator_of(options)
    parameters = node_parameters(simulator, folder / 'overlay.json', realtime=False)
    process = ExecuteProcess(
        cmd=[
            *(sys.executable, '-m', 'geolin_ros.balance.robot'),
            *('--robot', robot, '--feet', feet, '--output', str(folder)),
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
    return [*nodes, process, RegisterEventHandler(end)]


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
            SetEnvironmentVariable(RANGE, discovery()[RANGE]),
            OpaqueFunction(function=start),
        ]
    )
