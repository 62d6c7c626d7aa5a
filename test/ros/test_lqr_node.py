# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The LQR node keeps MuJoCo's quadruped standing over DDS, and lets it go safely."""

import itertools
import json
import signal

import numpy as np
import pytest
from support.ros_graph import LATCHED, START, Process
from support.standing import SUPPORTS, standing_robot, urdf_of

pytest.importorskip('mujoco')
pytest.importorskip('geolin_msgs.msg')

from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nav_msgs.msg import Odometry
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from geolin_msgs.msg import ContactState, ContactStates, FeedbackGains
from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.lqr import design
from geolin_ros.control.posture import standing_posture
from geolin_ros.se3 import quaternion_from_rotation
from geolin_ros.sim.simulator import Simulator
from geolin_ros.stream.feedback_messages import read_gains

PERIOD = 0.002
LIMIT_SWING = 2.0 * PERIOD / 0.02  # of the limit, in a period, by default
_namespaces = itertools.count(1)


def put(message, names, values):
    """Set attributes of one letter each."""
    for name, value in zip(names, values, strict=True):
        setattr(message, name, float(value))


class Robot:
    """A simulated robot whose motors wait for the command to its last state."""

    def __init__(self, graph, folder):
        self.graph, self.folder = graph, folder
        self.model, supports = standing_robot('quadruped')
        self.posture = standing_posture(self.model, supports)
        self.point = equilibrium(self.model, self.posture, supports)
        self.simulator = Simulator(urdf_of('quadruped'), self.model, supports)
        self.simulator.state = self.posture
        self.namespace = f'/standing{next(_namespaces)}'
        self.joint_states = self._publisher(JointState, 'joint_states', qos_profile_sensor_data)
        self.odom = self._publisher(Odometry, 'odom', qos_profile_sensor_data)
        self.contacts = self._publisher(ContactStates, 'contact_states', 10)
        self.description = self._publisher(String, 'robot_description', LATCHED)
        self.description.publish(String(data=urdf_of('quadruped').read_text()))
        self.commands, self.efforts, self.gains, self.diagnostics = {}, [], [], []
        node = graph.node
        many = QoSProfile(depth=1000)
        node.create_subscription(JointState, self._of_node('command'), self._on_command, many)
        node.create_subscription(
            Float64MultiArray, f'{self.namespace}/joint_group_effort_controller/commands',
            lambda message: self.efforts.append(np.array(message.data)), many,
        )  # fmt: skip
        node.create_subscription(FeedbackGains, self._of_node('gains'), self.gains.append, many)
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, many)
        self.change_state = node.create_client(ChangeState, self._of_node('change_state'))
        self.history = [np.zeros(12)]
        self.process = None

    def _publisher(self, kind, name, qos):
        silent = PublisherEventCallbacks(use_default_callbacks=False)
        topic = f'{self.namespace}/{name}'
        return self.graph.node.create_publisher(kind, topic, qos, event_callbacks=silent)

    def _of_node(self, name):
        return f'{self.namespace}/lqr_node/{name}'

    def _on_command(self, message):
        stamp = message.header.stamp
        self.commands[stamp.sec * 10**9 + stamp.nanosec] = np.array(message.effort)

    def _on_diagnostics(self, message):
        if message.status[0].name == f'{self.namespace}/lqr_node':
            self.diagnostics.append(message.status[0])

    def start(self, **parameters):
        overlay = self.folder / 'overlay.yaml'
        rotors = {'rotor_inertia': 0.01, 'gear_ratio': 1.0}
        overlay.write_text(json.dumps({'joints': {'*': rotors}}))
        defaults = {
            'supports': list(SUPPORTS['quadruped']),
            'overlay_file': str(overlay),
            'publish_efforts': True,
        }
        self.process = Process(
            self.folder, defaults | parameters, self.namespace, module='lqr_node'
        )
        self.wait_for(
            lambda: (
                self.joint_states.get_subscription_count()
                and self.odom.get_subscription_count()
                and self.description.get_subscription_count()
            ),
            START,
        )

    def wait_for(self, condition, timeout=5.0):
        return self.graph.wait_for(condition, timeout, self.process)

    def publish(self, broken=False):
        """Publish the state at a stamp of the simulator's clock; return the stamp."""
        state, stamp = self.simulator.state, 10**12 + round(self.simulator.time * 1e9)
        joints, base = JointState(name=list(self.model.joint_names)), Odometry()
        for message in (joints, base):
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        base.header.frame_id, base.child_frame_id = 'odom', 'base'
        turn = quaternion_from_rotation(state.H[:3, :3])
        put(base.pose.pose.orientation, 'xyzw', turn)
        put(base.pose.pose.position, 'xyz', state.H[:3, 3])
        put(base.twist.twist.linear, 'xyz', state.v[:3])
        put(base.twist.twist.angular, 'xyz', state.v[3:])
        joints.position, joints.velocity = state.s.tolist(), state.r.tolist()
        if broken:
            joints.position[3] = float('nan')
        self.odom.publish(base)
        self.joint_states.publish(joints)
        return stamp

    def begin(self):
        """Publish the first state, the robot held still, until the node feeds back."""

        def ramped():
            self.publish()
            self.simulator.data.time += PERIOD
            return self.commands and np.allclose(
                list(self.commands.values())[-1], self.point.tau, atol=0.5
            )

        self.wait_for(ramped, START)
        self.history = [list(self.commands.values())[-1]]

    def live(self, duration, lossless=True):
        """Run in lock step; return the largest distance of the base from its posture [m]."""
        worst = 0.0
        for _ in range(round(duration / PERIOD)):
            stamp = self.publish()
            self.wait_for(lambda stamp=stamp: stamp in self.commands)
            self.history.append(self.commands[stamp])
            self.simulator.advance(self.history[-1], PERIOD)
            away = self.posture.difference(self.simulator.state)[:3]
            worst = max(worst, float(np.linalg.norm(away)))
        return worst

    def check_efforts(self):
        """Whatever happened, efforts were within limits and changed slowly."""
        limits = np.array(self.model.limits.effort)
        efforts = np.array(self.history)
        assert np.all(np.abs(efforts) <= limits + 1e-9)
        assert np.all(np.abs(np.diff(efforts, axis=0)) <= LIMIT_SWING * limits + 1e-9)

    def transition(self, number):
        future = self.change_state.call_async(
            ChangeState.Request(transition=Transition(id=number))
        )
        assert self.wait_for(future.done)
        assert future.result().success


@pytest.fixture
def robot(graph, tmp_path):
    robot = Robot(graph, tmp_path)
    yield robot
    if robot.process is not None:
        robot.process.kill()


def test_quadruped__stands_and_its_gains_are_those_of_the_library(robot):
    robot.start()
    robot.begin()
    assert robot.live(1.0) < 0.01
    robot.check_efforts()
    robot.wait_for(lambda: robot.gains and robot.efforts)
    message = robot.gains[0]
    expected = design(robot.model, robot.point)
    state, feedforward, K, columns = read_gains(message)
    np.testing.assert_allclose(K, expected.K + expected.K_complement, rtol=1e-6, atol=1e-3)
    np.testing.assert_allclose(feedforward, robot.point.tau, atol=1e-6)
    np.testing.assert_allclose(state.data, robot.posture.data, atol=1e-9)
    assert message.model_hash == robot.model.hash
    assert columns == tuple(label.name for label in expected.columns)
    assert [contact.frame for contact in message.contacts] == list(expected.contacts)
    assert message.solved == message.SOLVED_COLD
    assert 0.9 < message.margin < 1.0
    robot.wait_for(lambda: robot.diagnostics)
    assert robot.diagnostics[-1].message == 'feedback'
    robot.process.stop()


def test_silence__of_the_robot_lets_its_joints_go(robot):
    robot.start(input_timeout=0.05)
    robot.begin()
    robot.live(0.1)
    robot.efforts.clear()
    robot.wait_for(lambda: robot.efforts and not robot.efforts[-1].any())
    steps = np.abs(np.diff([robot.history[-1], *robot.efforts], axis=0))
    assert np.all(steps <= 2.0 * np.array(robot.model.limits.effort))
    robot.wait_for(lambda: robot.diagnostics and 'no state' in robot.diagnostics[-1].message)
    assert 'release: no state for' in robot.process.log


def test_deactivation__damps_and_activation_stands_again(robot):
    robot.start()
    robot.begin()
    robot.live(0.2)
    robot.transition(Transition.TRANSITION_DEACTIVATE)
    robot.live(0.02)
    rates = robot.simulator.state.r
    limits = np.array(robot.model.limits.effort)
    stamp = robot.publish()
    robot.wait_for(lambda: stamp in robot.commands)
    expected = -0.05 * limits * rates
    np.testing.assert_allclose(robot.commands[stamp], expected, atol=0.01 * limits.max())
    assert 'damping: the node is not active' in robot.process.log
    robot.check_efforts()
    robot.transition(Transition.TRANSITION_ACTIVATE)
    robot.process.stop(signal.SIGTERM)


def test_broken_states__are_dropped_and_counted(robot):
    robot.start()
    robot.begin()
    for _ in range(20):
        robot.publish(broken=True)
        robot.simulator.data.time += PERIOD
        robot.graph.executor.spin_once(timeout_sec=0.001)
    assert robot.live(0.3) < 0.02
    robot.check_efforts()
    robot.wait_for(
        lambda: any(
            value.key == 'dropped: NaN or inf' and int(value.value) >= 1
            for status in robot.diagnostics
            for value in status.values
        )
    )


def test_contact_that_is_no_support__is_refused_and_another_switches_gains(robot):
    robot.start()
    robot.begin()
    unknown = ContactStates(contacts=[ContactState(frame='nose', active=True)])
    robot.contacts.publish(unknown)
    robot.live(0.05)
    robot.wait_for(lambda: "support 'nose'" in robot.process.log)
    frames = [text.split(':')[0] for text in SUPPORTS['quadruped']]
    two = ContactStates(contacts=[ContactState(frame=f, active=True) for f in frames[:2]])
    robot.contacts.publish(two)
    robot.live(0.1)  # no equilibrium on two feet in front: the gains in use stay
    robot.wait_for(lambda: 'no new gains' in robot.process.log)
    robot.check_efforts()
