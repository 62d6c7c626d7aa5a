# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Play a bag into the linearization node, by the bag's clock, and record what comes out.

Takes the arguments of linearization.launch.py too. Nothing is lost: see
`geolin_ros.ros.bag_replay`, which plays, records and counts, with `geolin_ros[offline]`. All ends
with the bag; with status 1 if something was lost, nothing could be linearized, or a process ends
before.
"""

import sys
from pathlib import Path

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

from geolin_ros.ros.bag_replay import check, parameters_of_node
from geolin_ros.ros.launching import supervise
from launch import LaunchDescription

ARGUMENTS = {
    'output': ('linearizations', 'Folder of the bag written.'),
    'rate': ('1.0', 'Speed of the replay: 0.5 is half.'),
    'namespace': ('', 'Namespace of node and topics.'),
    'name': ('linearizer', 'Name of the node.'),
    'joint_states': ('joint_states', 'sensor_msgs/JointState in the bag.'),
}


def generate_launch_description() -> LaunchDescription:
    """Start the node and what plays and records."""
    return LaunchDescription(
        [
            DeclareLaunchArgument('bag', description='Folder of the bag to be played.'),
            *(
                DeclareLaunchArgument(name, default_value=default, description=text)
                for name, (default, text) in ARGUMENTS.items()
            ),
            OpaqueFunction(function=start),
        ]
    )


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Refuse what can be seen to fail; else return the node, and what ends all."""
    bag, output, rate, namespace, name, joint_states = (
        LaunchConfiguration(argument).perform(context) for argument in ('bag', *ARGUMENTS)
    )
    above = context.launch_configurations.get('ros_namespace')
    namespace = (make_namespace_absolute(prefix_namespace(above, namespace)) or '').rstrip('/')
    node = f'{namespace}/{name}'
    topic = joint_states if joint_states.startswith('/') else f'{namespace}/{joint_states}'
    content = check(Path(bag), Path(output), topic)
    replay = ExecuteProcess(
        name='replay',
        cmd=[
            *(sys.executable, '-m', 'geolin_ros.ros.bag_replay', '--node', node),
            *('--joint-states', topic, '--bag', bag, '--output', output, '--rate', rate),
        ],
        output='screen',
    )

    def is_loss(event) -> bool:
        return isinstance(event.action, LifecycleNode) and event.action.node_name == node

    linearization = PathJoinSubstitution(
        [FindPackageShare('geolin_ros'), 'launch', 'linearization.launch.py']
    )
    parameters = parameters_of_node(content, node)
    above_files = {name: str(parameters.pop(name)) for name in ('use_sim_time', 'max_wait')}
    return [
        *(SetParameter(*parameter) for parameter in parameters.items()),
        IncludeLaunchDescription(linearization, launch_arguments=above_files.items()),
        supervise(replay, is_loss),
        replay,
    ]
