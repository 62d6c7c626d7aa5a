# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The state estimator as a process, over DDS."""

import math
import os

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geolin_estimation.base_stream import START_SAMPLES, BaseStream, base_settings
from geolin_estimation.state_estimator import ImuQueue
from nav_msgs.msg import Odometry
from rclpy.duration import Duration
from rclpy.qos import QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import Imu, JointState
from support.messages import fill, joint_state
from support.messages import stamp as stamp_of
from support.ros_graph import RELIABLE, START, Process

from geolin_msgs.msg import ContactStates
from geolin_ros import TreeModel, robots
from geolin_ros.ros.topics import input_reader
from geolin_ros.stream.parameters.file import default_values

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


def test_node__says_what_it_waits_for_then_publishes_odometry_biases_and_contacts(graph, standing):
    """Of a robot that stands."""
    process, send, heard = standing
    sent = iter(range(100_000))

    def waits():
        send(next(sent), is_felt=False)
        status = heard['/diagnostics'].status[0] if '/diagnostics' in heard else None
        return status is not None and status.message.startswith('no estimates') and status

    status = graph.wait_for(waits, START, process)
    assert status.level == DiagnosticStatus.WARN
    assert 'samples of the IMU on imu' in status.message
    ages = {item.key: item.value for item in status.values}
    assert 'another clock' in ages['age of the newest joint state [s]']  # these are of 1970

    def answered():
        send(next(sent))
        return len({'odometry', 'imu_bias', 'contact_states'} & set(heard)) == 3

    first = next(sent)
    graph.wait_for(answered, START, process)
    assert next(sent) - first > START_SAMPLES
    odometry = heard['odometry']
    assert (odometry.header.frame_id, odometry.child_frame_id) == ('odom', 'base')
    assert odometry.pose.pose.orientation.w == pytest.approx(1.0, abs=1e-4)
    assert np.all(np.diag(np.reshape(odometry.twist.covariance, (6, 6))) > 0.0)
    assert heard['imu_bias'].header.frame_id == 'imu'
    assert [contact.frame for contact in heard['contact_states'].contacts] == list(FEET)
    process.stop()


def samples_of(rng, count):
    """Return Imu messages, among them ones that say something new, are wrong, or come late."""
    messages = []
    for k in range(count):
        message = Imu()
        at = 1_000_000_000 + k * 500_000 + (1_500_000_000 if k >= 500 else 0)
        fill(message.header.stamp, stamp_of(messages[-1][0] if k == 300 else at))
        message.header.frame_id = {200: 'tray', 250: 'imu'}.get(k, 'imu' if k > 350 else '')
        w, a = message.angular_velocity, message.linear_acceleration
        w.x, w.y, w.z, a.x, a.y, a.z = rng.normal((0, 0, 0, 0, 0, 9.8)).tolist()
        message.orientation.w = float(rng.normal())
        message.linear_acceleration_covariance[0] = -1.0 if k == 150 else 0.1 * (k > 180)
        if k == 100:
            a.y = math.nan
        messages.append((at, message))
    return messages


def test_samples_that_wait__are_used_as_those_that_are_taken_one_by_one(graph):
    """Bit for bit, and none before a joint state that it was measured after."""
    model = TreeModel.from_urdf(QUADRUPED)
    contacts = [f'{foot} point' for foot in FEET]
    values = default_values('state_estimator') | {'contacts': contacts, 'imu_link': 'imu'}
    one, other = (BaseStream(model, base_settings(values, model.base_link)) for _ in range(2))
    for stream in (one, other):
        stream.on_drop = lambda drop: None
    reader, sent = input_reader(Imu), samples_of(np.random.default_rng(0), 700)
    kept = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
    node, slow = rclpy.create_node('taker', context=graph.node.context), []

    def take(data):
        slow.append(data)
        list(one.take('imu', reader.read(data)))

    try:
        queue = ImuQueue(node.create_subscription(Imu, 'waiting', take, kept, raw=True))
        publisher = node.create_publisher(Imu, 'waiting', kept)
        graph.wait_for(publisher.get_subscription_count)
        names, position = model.joint_names, np.tile((0.0, 0.7, -1.4), 4)
        answers, zeros = [], np.zeros(len(names))
        for part in (sent[:500], sent[500:]):
            for _, message in part:
                publisher.publish(message)
            assert publisher.wait_for_all_acked(Duration(seconds=30))
            for k in range(3, len(part), 4):
                at = part[k][0]
                joints = fill(JointState(), joint_state(at, names, position, zeros, zeros))
                queue.take(one.repeat_imu, at)
                for _, message in part[k - 3 : k + 1]:
                    list(other.take('imu', message))
                answers.append([list(s.take('joint_states', joints)) for s in (one, other)])
    finally:
        node.destroy_node()
    pairs = [(a[0].estimate, b[0].estimate) for a, b in answers if a and b]
    assert [len(a) for a, _ in answers] == [len(b) for _, b in answers]
    assert len(pairs) > 150
    for a, b in pairs:
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    assert one.counts == other.counts
    assert one.counts.dropped >= 4
    assert len(slow) < 60
