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

from geolin_ros.errors import ConfigurationError
from geolin_ros.ros.launching import check_file, fail_with
from launch import LaunchDescription

EXECUTABLES = {
    'state_estimator': 'state_estimator',
    'linearization_node': 'linearizer',
    'lqr_node': 'lqr_node',
}
TOPICS = {
    'joint_states': 'sensor_msgs/JointState with the joints of the robot.',
    'imu': 'sensor_msgs/Imu of the base.',
    'odom': 'nav_msgs/Odometry of the base, where there is no state estimator.',
    'contact_states': 'geolin_msgs/ContactStates, where there is no state estimator.',
    'robot_description': 'std_msgs/String with a URDF; heard if no file is given.',
}
ARGUMENTS = {
    'robot_description_file': ('', 'URDF file. Empty: the topic.'),
    'feet': ('', 'Frames the robot stands on, FRAME, FRAME:RADIUS or FRAME:LENGTHxWIDTH [m], ...'),
    'imu_link': ('', 'Link of the IMU. Empty: the base.'),
    'frame_prefix': ('', 'Prefix of link names in messages.'),
    'namespace': ('', 'Namespace of nodes and topics.'),
    'use_sim_time': ('false', 'Whether the nodes go by /clock.'),
    'publish_efforts': ('false', 'Whether the LQR node sends efforts to the motors.'),
    **dict.fromkeys(EXECUTABLES, ('true', 'Whether to start it.')),
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
    feet = [foot for foot in given['feet'].replace(' ', '').split(',') if foot]
    if not feet:
        raise ConfigurationError(
            'feet is empty, expected the frames that the robot stands on, as '
            'feet:=FL_foot:0.02,FR_foot:0.02'
        )
    shared = {
        'robot_description_file': given['robot_description_file'],
        'frame_prefix': given['frame_prefix'],
        'use_sim_time': is_true(given['use_sim_time']),
    }
    contacts = [f'{foot.partition(":")[0]} {kind_of(foot)}' for foot in feet]
    own = {
        'state_estimator': {'contacts': contacts, 'imu_link': given['imu_link']},
        'linearization_node': {'contacts': contacts},
        'lqr_node': {'supports': feet, 'publish_efforts': is_true(given['publish_efforts'])},
    }
    remappings = [(topic, given[topic]) for topic in TOPICS]
    if is_true(given['state_estimator']):
        estimated = {'odom': 'odometry', 'contact_states': 'contact_states'}
        remappings = [
            (topic, f'state_estimator/{estimated[topic]}' if topic in estimated else name)
            for topic, name in remappings
        ]
    started: list[LaunchDescriptionEntity] = []
    for name, executable in EXECUTABLES.items():
        if not is_true(given[name]):
            continue
        node = LifecycleNode(
            package='geolin_ros',
            executable=executable,
            namespace=given['namespace'],
            name=name,
            parameters=[given['parameters'], shared | own[name]],
            remappings=remappings,
            arguments=['--end-with-parent'],
            output='screen',
        )
        started += [fail_with(node), node]
    return started


def is_true(text: str) -> bool:
    """Return what an argument says."""
    if text.lower() not in ('true', 'false'):
        raise ConfigurationError(f'{text!r} is neither true nor false')
    return text.lower() == 'true'


def kind_of(foot: str) -> str:
    """Return the kind of contact of a support: a sole is a surface, all others are points."""
    return 'surface' if 'x' in foot.partition(':')[2] else 'point'
