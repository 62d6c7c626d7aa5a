# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The base from /tf and an IMU, over DDS."""

import numpy as np
from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import Imu
from support.built_messages import tf2_messages
from support.close import assert_close
from support.finite_difference import exp
from support.ros_graph import LATCHED

from geolin_ros import robots
from geolin_ros.spatial import se3
from geolin_ros.stream.outputs.reading import read_linearization

V = np.array((0.4, -0.3, 0.2, 0.5, 1.0, -0.7))
FOOTPRINT = exp(np.array((0.0, 0.1, -0.3, 0.0, 0.2, 0.0)))


def stamped(stamp, parent, child, pose):
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = parent
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
    place, turn = message.transform.translation, message.transform.rotation
    place.x, place.y, place.z = pose[:3, 3].tolist()
    turn.x, turn.y, turn.z, turn.w = se3.quaternion_from_rotation(pose[:3, :3]).tolist()
    kind, _ = tf2_messages()
    return kind(transforms=[message])


def test_base__comes_from_transforms_and_imu(client):
    node = client.graph.node
    kind, client.environment = tf2_messages()
    moving, fixed, imu = (
        node.create_publisher(of, client.topic(topic), qos)
        for of, topic, qos in (
            (kind, 'tf', 100),
            (kind, 'tf_static', LATCHED),
            (Imu, 'imu', 100),
        )
    )
    fixed.publish(stamped(0, 'footprint', 'base', FOOTPRINT))  # before there is a node
    client.start(
        *('-r', f'/tf:={client.topic("tf")}', '-r', f'/tf_static:={client.topic("tf_static")}'),
        robot_description_file=str(robots.path('quadruped')),
        base_source='tf',
        tf_velocity_cutoff=50.0,
    )
    client.wait_until_active()
    client.wait_until_serving()
    client.wait_for(lambda: moving.get_subscription_count() and imu.get_subscription_count())
    start = client.time
    mount = client.model.frame('imu').placement[:3, :3]

    def pose(stamp):
        return exp((stamp - start) * 1e-9 * V)

    def answered():
        stamp = client.tick(4)
        rate = Imu()
        rate.header.frame_id = 'imu'
        rate.header.stamp.sec, rate.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
        w = rate.angular_velocity
        w.x, w.y, w.z = (mount.T @ V[3:]).tolist()
        imu.publish(rate)
        base = pose(stamp) @ se3.inverse(FOOTPRINT)
        moving.publish(stamped(stamp, 'odom', 'footprint', base))
        joints = client.make_joint_state(stamp)
        client.send(joints)
        return client.answer_soon(joints)

    answers = [client.wait_for(answered) for _ in range(40)]
    message = answers[-1]
    received = read_linearization(message)
    assert message.header.frame_id == 'odom'
    # the newest transform may be the one before, carried by its twist
    stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
    assert_close(received.state.H, pose(stamp), 1e-3)
    assert_close(received.state.v[3:], V[3:], 1e-12)
    assert_close(received.state.v[:3], V[:3], 2e-2)
    _, _, values = client.next_diagnostics()
    assert 4.0 < float(values['delay of the linear velocity of the base [ms]']) < 10.0
    assert 'age of the newest transform [s]' in values
