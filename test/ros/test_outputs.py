# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a running node publishes for good inputs, of odometry and of transforms, and markers."""

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import Imu
from support.built_messages import tf2_messages
from support.close import assert_close
from support.finite_difference import exp
from support.ros_graph import LATCHED, RELIABLE

from geolin_ros import Linearizer, State, robots
from geolin_ros.spatial import se3
from geolin_ros.spatial.se3 import rotation_from_quaternion
from geolin_ros.stream.outputs.reading import read_linearization
from geolin_ros.stream.topic_stream import nanoseconds


def state_of(model, joints, base):
    """Return the state and efforts of a joint state and an odometry about the base link."""
    pose, twist = base.pose.pose, base.twist.twist
    place, turn, linear, angular = pose.position, pose.orientation, twist.linear, twist.angular
    H = np.eye(4)
    H[:3, :3] = rotation_from_quaternion((turn.x, turn.y, turn.z, turn.w))
    H[:3, 3] = place.x, place.y, place.z
    v = (linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
    order = [joints.name.index(name) for name in model.joint_names]
    s, r, tau = (np.array(x)[order] for x in (joints.position, joints.velocity, joints.effort))
    return State(H, s, v, r), tau


@pytest.mark.parametrize('turn', [(1, 0, 0, 0), (0.5, 0.5, -0.5, 0.5)])
def test_outputs__are_those_of_the_library_to_the_last_bit(robot, turn):
    """Of such a unit quaternion no digit is lost between message and rotation."""
    stamp = robot.tick()
    base = robot.make_odometry(stamp, turn=np.array(turn), place=np.array((0.5, -2.0, 1.0)))
    joints = robot.make_joint_state(stamp)
    message = robot.ask(joints, base)
    state, tau = state_of(robot.model, joints, base)
    expected = Linearizer(robot.model)(state, tau)
    received = read_linearization(message)
    for name in ('A', 'B', 'nu_dot'):
        np.testing.assert_array_equal(getattr(received, name), getattr(expected, name))
    np.testing.assert_array_equal(received.drift, np.zeros(36))
    np.testing.assert_array_equal(received.state.data, state.data)
    np.testing.assert_array_equal(received.tau, tau)
    for found in (robot.forward_dynamics, robot.summaries):
        robot.wait_for(lambda found=found: found[-1].header.stamp == message.header.stamp)
    accelerations, summary = robot.forward_dynamics[-1], robot.summaries[-1]
    base = accelerations.base_acceleration
    of_base = [getattr(part, x) for part in (base.linear, base.angular) for x in 'xyz']
    assert of_base + list(accelerations.joint_accelerations) == list(message.nu_dot)
    assert accelerations.model_hash == message.model_hash
    assert summary.a_norm == np.abs(message.a.data).max()
    assert summary.compute_time == message.compute_time
    assert summary.compute_time < summary.latency < 1.0
    assert summary.received >= summary.published > 0


def test_analysis__follows_within_a_second_or_two(robot):
    first = nanoseconds(robot.ask().header.stamp)

    def analysed():
        robot.ask()
        return nanoseconds(robot.summaries[-1].spectrum_stamp) >= first

    robot.wait_for(analysed)
    summary = robot.summaries[-1]
    (message,) = (m for m in robot.linearizations if m.header.stamp == summary.spectrum_stamp)
    eigenvalues = np.linalg.eigvals(read_linearization(message).A)
    assert summary.largest_real_part == pytest.approx(eigenvalues.real.max())
    assert summary.spectral_radius == pytest.approx(np.abs(eigenvalues).max())
    assert 1e3 < summary.mass_matrix_condition < 1e7


def test_diagnostics__tell_rates_latencies_and_the_model(robot):
    robot.next_diagnostics()
    count = len(robot.diagnostics)

    def is_asked_all_the_time():
        robot.ask()
        rates = ('linearizations [1/s]', 'joint states [1/s]')
        return robot.diagnostics[count:] and all(
            float(robot.diagnostics[-1][2][name]) > 1.0 for name in rates
        )

    robot.wait_for(is_asked_all_the_time)
    values = robot.diagnostics[-1][2]
    assert (values['robot'], values['model hash']) == ('quadruped', robot.model.hash)
    assert values[f'publishers of {robot.topic("odom")}'] == '1'
    assert values[f'subscribers of {robot.node_name}/linearization'] == '1'
    assert 0 < float(values['latency p50 [us]']) <= float(values['latency p99 [us]'])
    assert float(values['joint state to odometry max [ms]']) == 0.0
    age, clock = values['age of the newest joint state [s]'].split(': ')  # the test's own clock
    assert float(age) > 1e6
    assert 'set use_sim_time' in clock


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
        for of, topic, qos in ((kind, 'tf', 100), (kind, 'tf_static', LATCHED), (Imu, 'imu', 100))
    )
    static = stamped(0, 'footprint', 'base', FOOTPRINT)
    static.transforms.insert(0, TransformStamped(child_frame_id='of no use'))
    static.transforms[0].transform.rotation.w = 0.0
    fixed.publish(static)  # before there is a node
    client.start(
        *('-r', f'/tf:={client.topic("tf")}', '-r', f'/tf_static:={client.topic("tf_static")}'),
        robot_description_file=str(robots.path('quadruped')),
        base_source='tf',
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
        moving.publish(stamped(stamp, 'odom', 'footprint', pose(stamp) @ se3.inverse(FOOTPRINT)))
        joints = client.make_joint_state(stamp)
        client.send(joints)
        return client.answer_soon(joints)

    message = [client.wait_for(answered) for _ in range(10)][-1]
    received = read_linearization(message)
    assert message.header.frame_id == 'odom'
    # the newest transform may be the one before, carried by its twist
    assert_close(received.state.H, pose(nanoseconds(message.header.stamp)), 5e-3)
    assert_close(received.state.v[3:], V[3:], 1e-12)


FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')


def test_markers__come_with_the_modes_of_a_linearization(client):
    markers = pytest.importorskip('visualization_msgs.msg')
    arrays = []
    client.graph.node.create_subscription(
        markers.MarkerArray, f'{client.node_name}/markers', arrays.append, RELIABLE
    )
    client.serve(contacts=[f'{foot} point' for foot in FEET], marker_rate=100.0)

    def with_modes():
        client.time += 20_000_000
        client.ask()
        return arrays and {'contact_forces', 'mode_1'} <= {one.ns for one in arrays[-1].markers}

    client.wait_for(with_modes)
