# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Start the linearization node of one robot."""

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode
from launch_ros.substitutions import FindPackageShare

from geolin_ros.ros.launching import check_file, is_true, supervise
from launch import LaunchDescription

TOPICS = {
    'joint_states': 'sensor_msgs/JointState with the joints of the robot, and maybe others.',
    'odom': 'nav_msgs/Odometry of the base link, or of a link fixed to it.',
    'joint_efforts': 'sensor_msgs/JointState with efforts; read if torque_source is topic.',
    'contact_states': 'geolin_msgs/ContactStates; read if contact_source is topic.',
    'imu': 'sensor_msgs/Imu of the base; read if base_source is tf.',
    'robot_description': 'std_msgs/String with a URDF; read if no file is given.',
    '/tf': 'tf2_msgs/TFMessage; read if base_source is tf.',
    '/tf_static': 'tf2_msgs/TFMessage; read if base_source is tf.',
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
                'name', default_value='linearizer', description='Name of the node.'
            ),
            DeclareLaunchArgument(
                'use_sim_time',
                default_value='',
                description='true: go by /clock. Empty: as the parameters say.',
            ),
            DeclareLaunchArgument(
                'max_wait',
                default_value='',
                description='Longest wait for odometry [s]. Empty: as the parameters say.',
            ),
            DeclareLaunchArgument(
                'end_with_parent',
                default_value='true',
                description='Whether the node ends where this launch is killed.',
            ),
            *(
                DeclareLaunchArgument(topic.strip('/'), default_value=topic, description=text)
                for topic, text in TOPICS.items()
            ),
            OpaqueFunction(function=start_node),
        ]
    )


def start_node(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the node; what is given as argument goes before the parameter file."""
    parameters: list[object] = [LaunchConfiguration('parameters')]
    check_file('parameters', LaunchConfiguration('parameters').perform(context))
    file = LaunchConfiguration('robot_description_file').perform(context)
    if file:
        check_file('robot_description_file', file)
        parameters.append({'robot_description_file': file})
    use_sim_time = LaunchConfiguration('use_sim_time').perform(context)
    if use_sim_time:
        parameters.append({'use_sim_time': is_true('use_sim_time', use_sim_time)})
    max_wait = LaunchConfiguration('max_wait').perform(context)
    if max_wait:
        parameters.append({'max_wait': float(max_wait)})
    with_parent = LaunchConfiguration('end_with_parent').perform(context)
    node = LifecycleNode(
        package='geolin_ros',
        executable='linearizer',
        namespace=LaunchConfiguration('namespace'),
        name=LaunchConfiguration('name'),
        parameters=parameters,
        remappings=[(topic, LaunchConfiguration(topic.strip('/'))) for topic in TOPICS],
        arguments=['--end-with-parent'] if is_true('end_with_parent', with_parent) else [],
        output='screen',
    )
    return [supervise(node, ends_all=False), node]
