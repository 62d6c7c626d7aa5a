# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The state estimator as a process, over DDS."""

import os

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from nav_msgs.msg import Odometry
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Imu, JointState
from support.messages import fill, joint_state
from support.messages import stamp as stamp_of
from support.ros_graph import RELIABLE, START, Process

from geolin_msgs.msg import ContactStates
from geolin_ros import TreeModel, robots
from geolin_ros.stream.base_stream import START_SAMPLES

QUADRUPED = robots.path('quadruped')
FEET = 'FL_foot', 'FR_foot', 'RL_foot', 'RR_foot'


@pytest.fixture
def standing(graph, tmp_path):
    """A node, and what sends it a joint state and an IMU sample of a robot that stands."""
    place = f'/base{os.getpid()}'
    parameters = {
        'robot_description_file': str(QUADRUPED),
        'imu_link': 'imu',
        'contacts': [f'{foot} point' for foot in FEET],
    }
    process = Process(tmp_path, parameters, place, module='state_estimator', forked=True)
    names, heard = TreeModel.from_urdf(QUADRUPED).joint_names, {}
    node, position = graph.node, np.tile((0.0, 0.7, -1.4), 4)
    imu, joints = (
        node.create_publisher(kind, f'{place}/{topic}', qos_profile_sensor_data)
        for kind, topic in ((Imu, 'imu'), (JointState, 'joint_states'))
    )
    for kind, topic in (
        *((Odometry, 'odometry'), (Imu, 'imu_bias'), (ContactStates, 'contact_states')),
        (DiagnosticArray, '/diagnostics'),
    ):
        name = topic if topic.startswith('/') else f'{place}/state_estimator/{topic}'
        node.create_subscription(
            kind, name, lambda message, topic=topic: heard.__setitem__(topic, message), RELIABLE
        )
    graph.wait_for(lambda: 'serve quadruped' in process.log, START, process)
    graph.wait_for(lambda: imu.get_subscription_count() and joints.get_subscription_count())

    def send(k, is_felt=True):
        at = 1_000_000_000 + k * 5_000_000
        sample = Imu()
        fill(sample.header.stamp, stamp_of(at))
        sample.linear_acceleration.z = 9.81
        if is_felt:
            imu.publish(sample)
        zeros = np.zeros(len(names))
        joints.publish(fill(JointState(), joint_state(at, names, position, zeros, zeros)))

    yield process, send, heard
    process.end()


def test_node__publishes_odometry_biases_and_contacts_of_a_robot_that_stands(graph, standing):
    process, send, heard = standing
    sent = iter(range(100_000))

    def answered():
        send(next(sent))
        return len({'odometry', 'imu_bias', 'contact_states'} & set(heard)) == 3

    graph.wait_for(answered, START, process)
    assert next(sent) > START_SAMPLES
    odometry = heard['odometry']
    assert (odometry.header.frame_id, odometry.child_frame_id) == ('odom', 'base')
    assert odometry.pose.pose.orientation.w == pytest.approx(1.0, abs=1e-4)
    assert np.all(np.diag(np.reshape(odometry.twist.covariance, (6, 6))) > 0.0)
    assert heard['imu_bias'].header.frame_id == 'imu'
    assert [contact.frame for contact in heard['contact_states'].contacts] == list(FEET)
    graph.wait_for(lambda: '/diagnostics' in heard, process=process)
    process.stop()


def test_node_without_an_imu__says_what_it_waits_for(graph, standing):
    process, send, heard = standing
    sent = iter(range(100_000))

    def is_said():
        send(next(sent), is_felt=False)
        status = heard['/diagnostics'].status[0] if '/diagnostics' in heard else None
        return status is not None and status.message.startswith('no estimates') and status

    status = graph.wait_for(is_said, START, process)
    assert status.level == DiagnosticStatus.WARN
    assert 'samples of the IMU on imu' in status.message
    ages = [
        item.value for item in status.values if item.key == 'age of the newest joint state [s]'
    ]
    assert 'another clock' in ages[0]  # these stamps are of 1970
    process.stop()
