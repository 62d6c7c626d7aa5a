# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a running node publishes for good inputs, of odometry and of transforms, and markers."""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import Imu
from support.built_messages import tf2_messages
from support.close import assert_close
from support.finite_difference import exp
from support.ros_graph import LATCHED, RELIABLE

from geolin_ros import Linearizer, State, robots
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.spatial import se3
from geolin_ros.spatial.se3 import rotation_from_quaternion
from geolin_ros.stream.inputs.stamps import nanoseconds
from geolin_ros.stream.outputs.reading import read_linearization


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


def exact(turn):
    """Return a unit quaternion of which no digit is lost between message and rotation."""
    return {'turn': np.array(turn), 'place': np.array((0.5, -2.0, 1.0))}


@pytest.mark.parametrize('turn', [(0, 0, 0, 1), (1, 0, 0, 0), (0.5, 0.5, -0.5, 0.5)])
def test_linearization__equals_that_of_the_library_to_the_last_bit(robot, turn):
    stamp = robot.tick()
    joints, base = robot.make_joint_state(stamp), robot.make_odometry(stamp, **exact(turn))
    message = robot.ask(joints, base)
    state, tau = state_of(robot.model, joints, base)
    expected = Linearizer(robot.model)(state, tau)
    received = read_linearization(message)
    np.testing.assert_array_equal(received.A, expected.A)
    np.testing.assert_array_equal(received.B, expected.B)
    np.testing.assert_array_equal(received.nu_dot, expected.nu_dot)
    np.testing.assert_array_equal(received.drift, np.zeros(36))
    np.testing.assert_array_equal(received.state.data, state.data)
    np.testing.assert_array_equal(received.tau, tau)


def test_forward_dynamics_and_summary__go_with_the_linearization(robot):
    message = robot.ask()
    robot.wait_for(lambda: robot.forward_dynamics[-1].header.stamp == message.header.stamp)
    robot.wait_for(lambda: robot.summaries[-1].header.stamp == message.header.stamp)
    accelerations, summary = robot.forward_dynamics[-1], robot.summaries[-1]
    linear, angular = (
        accelerations.base_acceleration.linear,
        accelerations.base_acceleration.angular,
    )
    base = [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
    assert base + list(accelerations.joint_accelerations) == list(message.nu_dot)
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
    sec, nanosec = summary.spectrum_stamp.sec, summary.spectrum_stamp.nanosec
    (analysed_message,) = [
        m for m in robot.linearizations
        if (m.header.stamp.sec, m.header.stamp.nanosec) == (sec, nanosec)
    ]  # fmt: skip
    eigenvalues = np.linalg.eigvals(read_linearization(analysed_message).A)
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
    level, text, values = robot.diagnostics[-1]
    # random joint states may be beyond their limits, and a stretch of them is warned of
    assert level in (DiagnosticStatus.OK, DiagnosticStatus.WARN), text
    assert values['robot'] == 'quadruped'
    assert values['model hash'] == robot.model.hash
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


FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')


def ends(marker):
    return np.array([(point.x, point.y, point.z) for point in marker.points])


def test_markers__are_the_contact_forces_and_modes_of_the_linearization(client):
    markers = pytest.importorskip('visualization_msgs.msg')
    arrays = []
    client.graph.node.create_subscription(
        markers.MarkerArray, f'{client.node_name}/markers', arrays.append, RELIABLE
    )
    client.serve(contacts=[f'{foot} point' for foot in FEET], marker_rate=100.0)

    def with_modes():
        client.time += 20_000_000
        client.ask()
        return arrays and any(marker.ns == 'mode_1' for marker in arrays[-1].markers)

    client.wait_for(with_modes)
    array = arrays[-1]
    stamp = array.markers[0].header.stamp
    (message,) = [one for one in client.linearizations if one.header.stamp == stamp]
    first, *rest = array.markers
    assert first.action == markers.Marker.DELETEALL
    assert {one.header.frame_id for one in rest} == {'odom'}
    assert len({(one.ns, one.id) for one in rest}) == len(rest)
    forces = [one for one in rest if one.ns == 'contact_forces']
    at = Kinematics(client.model, read_linearization(message).state)
    scale = 0.6 / (9.81 * client.model.total_mass)
    for foot, contact, arrow in zip(FEET, message.contact_dynamics.contacts, forces, strict=True):
        H, force = at.pose(foot), contact.wrench.force
        assert arrow.type == markers.Marker.ARROW
        start, end = ends(arrow)
        assert_close(start, H[:3, 3], 1e-9)
        assert_close(end - start, scale * H[:3, :3] @ (force.x, force.y, force.z), 1e-9)
    modes = [one for one in rest if one.ns == 'mode_1']
    arrows = [one for one in modes if one.type == markers.Marker.ARROW]
    (words,) = [one.text for one in modes if one.type == markers.Marker.TEXT_VIEW_FACING]
    assert len(arrows) == len(client.model.body_names)
    lengths = [np.linalg.norm(np.diff(ends(one), axis=0)) for one in arrows]
    assert max(lengths) == pytest.approx(0.3, rel=1e-6)
    assert ' Hz, ' in words
