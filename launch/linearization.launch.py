# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Start the linearization node of one robot."""

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.launch_context import LaunchContext
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode
from launch_ros.substitutions import FindPackageShare

from geolin_ros.ros.launching import check_file
from launch import LaunchDescription

TOPICS = {
    'joint_states': 'sensor_msgs/JointState with the joints of the robot, and maybe others.',
    'odom': 'nav_msgs/Odometry of the base link, or of a link fixed to it.',
    'joint_efforts': 'sensor_msgs/JointState with efforts; heard if torque_source is topic.',
    'robot_description': 'std_msgs/String with a URDF; heard if no file is given.',
}


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and start the node."""
    defaults = PathJoinSubstitution([FindPackageShare('geolin_ros'), 'config', 'linearizer.yaml'])
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'robot_description_file',
                default_value='',
                description='URDF file. Empty: the one of the parameters, else the topic.',
            ),
            DeclareLaunchArgument(
                'parameters', default_value=defaults, description='ROS parameter file.'
            ),
            DeclareLaunchArgument(
                'namespace', default_value='', description='Namespace of node and topics.'
            ),
            DeclareLaunchArgument(
                'name', default_value='linearization_node', description='Name of the node.'
            ),
            *(
                DeclareLaunchArgument(topic, default_value=topic, description=text)
                for topic, text in TOPICS.items()
            ),
            OpaqueFunction(function=start_node),
        ]
    )


def start_node(context: LaunchContext) -> list[LifecycleNode]:
    """Return the node; a file given as argument goes before that of the parameter file."""
    parameters: list[object] = [LaunchConfiguration('parameters')]
    check_file('parameters', LaunchConfiguration('parameters').perform(context))
    file = LaunchConfiguration('robot_description_file').perform(context)
    if file:
        check_file('robot_description_file', file)
        parameters.append({'robot_description_file': file})
    return [
        LifecycleNode(
            package='geolin_ros',
            executable='linearizer',
            namespace=LaunchConfiguration('namespace'),
            name=LaunchConfiguration('name'),
            parameters=parameters,
            remappings=[(topic, LaunchConfiguration(topic)) for topic in TOPICS],
            output='screen',
        )
    ]
