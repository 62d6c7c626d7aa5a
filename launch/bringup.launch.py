# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Start the chain of one robot: state estimator, linearizer and LQR node, connected.

What they share is given once; ``config/bringup.yaml`` holds what is of one node alone.
"""

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode
from launch_ros.substitutions import FindPackageShare

from geolin_ros.ros.bringup import NODES, chain, check_package
from geolin_ros.ros.launching import check_file, is_true, supervise
from launch import LaunchDescription

TOPICS = {
    'joint_states': 'sensor_msgs/JointState with the joints of the robot.',
    'imu': 'sensor_msgs/Imu of the base.',
    'odom': 'nav_msgs/Odometry of the base, where there is no state estimator.',
    'contact_states': 'geolin_msgs/ContactStates, where there is no state estimator.',
    'robot_description': 'std_msgs/String with a URDF; read if no file is given.',
}
ARGUMENTS = {
    'robot_description_file': ('', 'URDF file. Empty: the topic.'),
    'feet': ('', 'Frames the robot stands on, FRAME, FRAME:RADIUS or FRAME:LENGTHxWIDTH [m], ...'),
    'imu_link': ('', 'Link of the IMU. Empty: the base.'),
    'frame_prefix': ('', 'Prefix of link names in messages.'),
    'namespace': ('', 'Namespace of nodes and topics.'),
    'use_sim_time': ('', 'Whether the nodes go by /clock. Empty: as the parameters say.'),
    'end_with_parent': ('true', 'Whether the nodes end where this launch is killed.'),
    'publish_efforts': ('false', 'Whether the LQR node sends efforts to the motors.'),
    **dict.fromkeys(NODES, ('true', 'Whether to start it.')),
}


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and start the nodes."""
    defaults = PathJoinSubstitution([FindPackageShare('geolin_ros'), 'config', 'bringup.yaml'])
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'parameters', default_value=defaults, description='ROS parameter file.'
            ),
            *(
                DeclareLaunchArgument(name, default_value=default, description=text)
                for name, (default, text) in ARGUMENTS.items()
            ),
            *(
                DeclareLaunchArgument(topic, default_value=topic, description=text)
                for topic, text in TOPICS.items()
            ),
            OpaqueFunction(function=start),
        ]
    )


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the nodes that are asked for."""
    given = {
        name: LaunchConfiguration(name).perform(context)
        for name in ('parameters', *ARGUMENTS, *TOPICS)
    }
    check_file('parameters', given['parameters'])
    if given['robot_description_file']:
        check_file('robot_description_file', given['robot_description_file'])
    true = {
        name: is_true(name, given[name]) for name, (default, _) in ARGUMENTS.items() if default
    }
    shared: dict[str, object] = {}
    if given['use_sim_time']:
        shared['use_sim_time'] = is_true('use_sim_time', given['use_sim_time'])
    for name in ('robot_description_file', 'frame_prefix'):
        if given[name]:
            shared[name] = given[name]
    nodes = chain(
        given['feet'],
        {topic: given[topic] for topic in TOPICS},
        shared,
        given['imu_link'],
        true['publish_efforts'],
        [name for name in NODES if true[name]],
    )
    started: list[LaunchDescriptionEntity] = []
    for wanted in nodes:
        check_package(wanted.name)
        node = LifecycleNode(
            package=NODES[wanted.name],
            executable=wanted.name,
            namespace=given['namespace'],
            name=wanted.name,
            parameters=[given['parameters'], wanted.parameters],
            remappings=list(wanted.remappings.items()),
            arguments=['--end-with-parent'] if true['end_with_parent'] else [],
            output='screen',
        )
        started += [supervise(node, ends_all=False), node]
    return started
