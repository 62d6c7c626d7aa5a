# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a running node publishes for good inputs, one process for all tests."""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from geolin_msgs.srv import Linearize
from geolin_ros import Linearizer, State, TreeModel
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
    assert values['joint coordinates'] == '12'
    assert values[f'publishers of {robot.topic("odom")}'] == '1'
    assert values[f'subscribers of {robot.node_name}/linearization'] == '1'
    assert float(values['total mass [kg]']) == pytest.approx(robot.model.total_mass, abs=1e-3)
    assert 0 < float(values['latency p50 [us]']) <= float(values['latency p99 [us]'])
    assert float(values['latency p99 [us]']) <= float(values['latency max [us]'])
    assert float(values['joint state to odometry max [ms]']) == 0.0
    age, clock = values['age of the newest joint state [s]'].split(': ')  # the test's own clock
    assert float(age) > 1e6
    assert 'set use_sim_time' in clock
    assert 'age of the newest odometry [s]' in values


DRONE = """<robot name="drone"><link name="hull"><inertial>
<origin xyz=".1 0 .05"/><mass value="2"/>
<inertia ixx=".02" iyy=".03" izz=".04" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def test_robot_without_joints__is_linearized_at_joint_states_without_names(new_client):
    model = TreeModel.from_urdf(DRONE)
    client = new_client(model)
    client.describe(DRONE)
    client.start()
    client.wait_until_active()
    client.wait_until_serving()
    asked = client.linearize(Linearize.Request())
    assert asked.success, asked.message  # no joint state has come
    received = read_linearization(asked.linearization)
    assert (received.A.shape, received.B.shape) == ((12, 12), (12, 0))
    client.shake_hands()
    stamp = client.tick()
    joints = client.make_joint_state(stamp)
    base = client.make_odometry(stamp, **exact((0, 0, 0, 1)))
    assert not joints.name
    received = read_linearization(client.ask(joints, base))
    expected = Linearizer(model)(received.state, np.zeros(0))
    np.testing.assert_array_equal(received.A, expected.A)
    np.testing.assert_array_equal(received.nu_dot, expected.nu_dot)
    client.process.check_runs()
