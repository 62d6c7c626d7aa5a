# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot that stands, and is pushed, on the chain that bringup.launch.py starts.

LQR stands on the odometry of the state estimator, or on the truth with ``state_estimator:=false``.
All end with the simulator, which says in a line how each case ended, and leaves with 1 if the
robot fell.
"""

import json
import sys
import tempfile
from pathlib import Path

from geolin_demos.balance.robots import FEET, simulator_of, standing_parameters
from geolin_demos.demo.__main__ import RANGE, discovery
from geolin_demos.sim.world import text_of
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    IncludeLaunchDescription,
    OpaqueFunction,
    SetEnvironmentVariable,
)
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

from geolin_ros.ros.launching import is_true, supervise
from launch import LaunchDescription

ARGUMENTS = {
    'robot': ('quadruped', 'URDF or MJCF path, or bundled robot'),
    'feet': (FEET['quadruped'], 'Frames it stands on, with commas between them.'),
    'state_estimator': ('true', 'Whether LQR knows the base by the state estimator.'),
    'output': ('', 'Folder for what comes of each case.'),
}
FOLDER = tempfile.TemporaryDirectory(prefix='geolin-standing-')  # as long as the launch


def start(context):
    """Return the simulator and the chain for the robot that is asked for."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    robot, feet, output = given['robot'], given['feet'], given['output']
    is_estimated = is_true('state_estimator', given['state_estimator'])
    simulator = simulator_of(robot, feet)
    parameters = Path(FOLDER.name, 'nodes.yaml')
    parameters.write_text(json.dumps(standing_parameters(simulator, robot)))
    process = ExecuteProcess(
        name='simulator',
        cmd=[
            *(sys.executable, '-m', 'geolin_demos.balance.robot'),
            *('--robot', robot, '--feet', feet),
            *(('--estimated',) if is_estimated else ()),
            *(('--output', output) if output else ()),
        ],
        output='screen',
    )
    bringup = IncludeLaunchDescription(
        PathJoinSubstitution([FindPackageShare('geolin_ros'), 'launch', 'bringup.launch.py']),
        launch_arguments={
            'parameters': str(parameters),
            'feet': ','.join(map(text_of, simulator.feet.values())),
            'state_estimator': given['state_estimator'],
            'publish_efforts': 'true',
        }.items(),
    )
    end = supervise(process, lambda _: False)  # the chain ends the launch itself
    return [end, bringup, process]


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
