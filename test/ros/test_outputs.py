# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a running node publishes for good inputs, one process for all tests."""

import numpy as np
import pytest
from support.close import assert_close
from support.finite_difference import exp
from support.messages import fill
from support.ros_graph import DiagnosticStatus

from geolin_msgs.srv import Linearize
from geolin_ros import Linearizer, State, TreeModel, robots
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


def test_linearization__says_what_it_is_about(robot):
    message = robot.ask()
    assert message.model_name == 'quadruped'
    assert message.model_hash == robot.model.hash
    assert message.base_frame == 'base'
    assert message.floating_base
    assert message.header.frame_id == 'odom'
    assert tuple(message.joint_names) == tuple(message.actuated_joints) == robot.model.joint_names
    assert message.effort_source == message.EFFORT_MEASURED
    assert message.nu_dot_source == message.NU_DOT_PREDICTED
    assert (message.reference, message.form) == (message.REFERENCE_MOVING, message.FORM_CONTINUOUS)
    assert message.method == message.METHOD_NONE
    assert message.representation == message.REPRESENTATION_BODY
    assert message.gravity.z == -9.81
    assert not message.trust.checked
    assert not message.contact_dynamics.contacts
    assert 0.0 < message.compute_time < 1.0


def test_stamps__are_those_of_the_inputs(robot):
    odometry = robot.make_odometry(robot.tick())
    joints = robot.make_joint_state(robot.tick(7))
    message = robot.ask(joints, odometry)
    assert message.header.stamp == joints.header.stamp
    assert message.odometry_stamp == odometry.header.stamp
    robot.wait_for(lambda: robot.forward_dynamics[-1].header.stamp == joints.header.stamp)
    robot.wait_for(lambda: robot.summaries[-1].header.stamp == joints.header.stamp)
    assert robot.summaries[-1].odometry_age == pytest.approx(7e-3)


def test_newest_odometry__is_carried_to_the_joint_state(robot):
    robot.send(base=robot.make_odometry(robot.tick()))
    base = robot.make_odometry(robot.tick())
    joints = robot.make_joint_state(robot.tick(30))
    received = read_linearization(robot.ask(joints, base))
    state, _ = state_of(robot.model, joints, base)
    assert_close(received.state.H, state.H @ exp(0.03 * state.v), 1e-14)
    np.testing.assert_array_equal(received.state.v, state.v)


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


class TestNames:
    def test_joints__may_be_in_any_order_among_others(self, robot):
        stamp = robot.tick()
        names = ['gripper', *robot.model.joint_names[::-1], 'lidar']
        joints = robot.make_joint_state(stamp, names)
        joints.velocity[0] = float('nan')
        base = robot.make_odometry(stamp, **exact((0, 1, 0, 0)))
        received = read_linearization(robot.ask(joints, base))
        state, tau = state_of(robot.model, joints, base)
        np.testing.assert_array_equal(received.A, Linearizer(robot.model)(state, tau).A)

    def test_odometry__may_be_about_a_link_fixed_to_the_base(self, robot):
        stamp = robot.tick()
        joints = robot.make_joint_state(stamp)
        imu = robot.make_odometry(stamp, child_frame_id='imu')
        received = read_linearization(robot.ask(joints, imu))
        at_imu, _ = state_of(robot.model, joints, imu)
        P = robot.model.frame('imu').placement
        assert_close(received.state.H @ P, at_imu.H, 1e-14)
        offset = P[:3, 3]
        at_offset = received.state.v[:3] + np.cross(received.state.v[3:], offset)
        assert_close(at_offset, at_imu.v[:3], 1e-14)


def test_long_quaternion__is_normalised(robot):
    stamp = robot.tick()
    turn = np.array((0.5, 0.5, -0.5, 0.5))
    joints, base = robot.make_joint_state(stamp), robot.make_odometry(stamp, turn=1.004 * turn)
    received = read_linearization(robot.ask(joints, base))
    assert_close(received.state.H[:3, :3], rotation_from_quaternion(turn), 1e-15)


def test_clock_that_was_set_back__is_followed(robot):
    robot.ask()
    robot.time -= 500 * 1_000_000_000
    message = robot.ask()
    assert message.header.stamp.sec == robot.time // 1_000_000_000


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


def test_ages__are_unknown_until_a_clock_that_is_waited_for_comes(new_client, quadruped):
    client = new_client(quadruped)
    client.start(use_sim_time=True, robot_description_file=str(robots.path('quadruped')))
    client.wait_until_active()
    client.wait_until_serving()
    client.ask()
    _, _, values = client.next_diagnostics()
    unknown = 'unknown: use_sim_time is set, but nothing came on /clock yet'
    ages = {key: value for key, value in values.items() if key.startswith('age of the newest')}
    assert set(ages.values()) == {unknown}
    assert len(ages) == 2
    client.process.stop()


class TestService:
    def request(self, robot):
        from support.messages import pose, robot_state, twist

        from geolin_msgs.srv import Linearize

        state = robot_state(12)
        state.base_pose = pose((1, 2, 3), (1, 0, 0, 0))
        state.base_twist = twist((0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
        state.joint_positions = np.linspace(-1, 1, 12)
        state.joint_rates = np.linspace(2, -2, 12)
        request = Linearize.Request(joint_efforts=np.linspace(-5, 5, 12).tolist())
        fill(request.state, state)
        H = np.diag((1.0, -1.0, -1.0, 1.0))
        H[:3, 3] = 1, 2, 3
        return request, State(H, state.joint_positions, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
                              state.joint_rates)  # fmt: skip

    def test_answer__equals_the_library(self, robot):
        request, state = self.request(robot)
        response = robot.linearize(request)
        assert response.success, response.message
        expected = Linearizer(robot.model)(state, np.linspace(-5, 5, 12))
        np.testing.assert_array_equal(
            np.reshape(response.linearization.a.data, (36, 36)), expected.A
        )

    def test_permuted_joints__give_the_same(self, robot):
        request, _ = self.request(robot)
        straight = robot.linearize(request).linearization
        request.joint_names = list(robot.model.joint_names[::-1])
        for owner, field in (
            (request, 'joint_efforts'),
            (request.state, 'joint_positions'),
            (request.state, 'joint_rates'),
        ):
            setattr(owner, field, list(getattr(owner, field))[::-1])
        assert robot.linearize(request).linearization.a == straight.a

    def test_wrench_and_gravity__count(self, robot):
        from geolin_msgs.msg import ExternalWrench

        request, _ = self.request(robot)
        plain = robot.linearize(request).linearization
        request.override_gravity = True
        weightless = robot.linearize(request).linearization
        assert weightless.nu_dot != plain.nu_dot
        assert weightless.gravity.z == 0.0
        push = ExternalWrench(link='FL_foot', kind=ExternalWrench.KIND_WORLD)
        push.wrench.force.z = 100.0
        request.external_wrenches = [push]
        pushed = robot.linearize(request).linearization
        assert pushed.nu_dot != weightless.nu_dot
        assert pushed.external_wrenches == [push]

    @pytest.mark.parametrize(
        ('field', 'value', 'says'),
        [
            ('joint_efforts', [0.0], '1 entries in joint_efforts, expected 12'),
            ('form', 9, 'form = 9, expected 0 or one of [1, 2]'),
            ('joint_names', ['knee'] * 12, "joint 'knee' is not part of robot 'quadruped'"),
        ],
    )
    def test_bad_request__is_refused_with_the_reason(self, robot, field, value, says):
        request, _ = self.request(robot)
        setattr(request, field, value)
        response = robot.linearize(request)
        assert not response.success
        assert says in response.message

    def test_unknown_wrench_link__is_refused_with_near_names(self, robot):
        from geolin_msgs.msg import ExternalWrench

        request, _ = self.request(robot)
        request.external_wrenches = [ExternalWrench(link='FL_feet', kind=1)]
        response = robot.linearize(request)
        assert not response.success
        assert "link 'FL_feet' is not part of" in response.message
        assert "'FL_foot'" in response.message

    def test_flood_of_requests__is_refused_and_the_robot_still_served(self, robot):
        request, _ = self.request(robot)
        assert robot.set_parameters(service__rate=1)[0]
        robot.wait_for(lambda: 'within a second' in robot.linearize(request).message)
        robot.ask()
        assert not robot.set_parameters(service__rate=0)[0]
        assert robot.set_parameters(service__rate=100)[0]
        robot.wait_for(lambda: robot.linearize(request).success)


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
