# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot in lock step with an LQR node over DDS, and all the efforts it was given."""

import itertools
import json
import time
from typing import NamedTuple

import numpy as np
import pytest

from support.ros_graph import LATCHED, PATIENCE, START, Process, parameter_request
from support.standing import SUPPORTS, held, urdf_of

pytest.importorskip('mujoco')
pytest.importorskip('geolin_msgs.msg')

from diagnostic_msgs.msg import DiagnosticArray
from geolin_demos.sim.simulator import Simulator
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from geolin_msgs.msg import ContactStates, FeedbackGains
from geolin_ros.stream.message_fields import write_pose, write_stamp, write_twist

PERIOD = 0.002
SLOWLY = 0.005
"""From state to state of a robot that is held still, by the clock [s]."""
_namespaces = itertools.count(1)


class Efforts(NamedTuple):
    """What was sent to the motors, against what is promised of it."""

    sent: int
    largest: float
    """As a share of the limit."""
    fastest: float
    """Largest change, as a share of the one that full_swing_time allows."""


class StandingRobot:
    """A simulated robot whose motors wait for the command to its last state."""

    def __init__(self, graph, folder):
        self.graph, self.folder = graph, folder
        self.model, self.point = held('quadruped')
        self.posture = self.point.state
        self.simulator = Simulator(urdf_of('quadruped'), self.model, self.point.stands_on)
        self.simulator.state = self.posture
        self.namespace = f'/standing{next(_namespaces)}'
        sensor = qos_profile_sensor_data
        self.joint_states, self.odom, self.contacts, self.description = (
            graph.publisher(kind, f'{self.namespace}/{name}', qos)
            for kind, name, qos in (
                (JointState, 'joint_states', sensor),
                (Odometry, 'odom', sensor),
                (ContactStates, 'contact_states', 10),
                (String, 'robot_description', LATCHED),
            )
        )
        self.description.publish(String(data=urdf_of('quadruped').read_text()))
        self.commands, self.efforts, self.gains, self.diagnostics = {}, [], [], []
        self.given = []  # (stamp, efforts) of all commands, in order
        node = graph.node
        many = QoSProfile(depth=1000)
        node.create_subscription(JointState, self._of_node('command'), self._on_command, many)
        node.create_subscription(
            Float64MultiArray, f'{self.namespace}/joint_group_effort_controller/commands',
            lambda message: self.efforts.append(np.array(message.data)), many,
        )  # fmt: skip
        node.create_subscription(FeedbackGains, self._of_node('gains'), self.gains.append, LATCHED)
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, many)
        self.change_state = node.create_client(ChangeState, self._of_node('change_state'))
        self.parameters = node.create_client(
            SetParametersAtomically, self._of_node('set_parameters_atomically')
        )
        self.history = [np.zeros(12)]
        self.process = None

    def _of_node(self, name):
        return f'{self.namespace}/lqr_node/{name}'

    def _on_command(self, message):
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        self.commands[stamp] = np.array(message.effort)
        self.given.append((stamp, self.commands[stamp]))

    def _on_diagnostics(self, message):
        if message.status[0].name == f'{self.namespace}/lqr_node':
            self.diagnostics.append(message.status[0])

    def start(self, *arguments, **parameters):
        """Start the node and wait until it listens."""
        overlay = self.folder / 'overlay.yaml'
        rotors = {'rotor_inertia': 0.01, 'gear_ratio': 1.0}
        overlay.write_text(json.dumps({'joints': {'*': rotors}}))
        defaults = {
            'supports': list(SUPPORTS['quadruped']),
            'overlay_file': str(overlay),
            'publish_efforts': True,
            'gains_timeout': 0.0,  # there is no linearizer
            'input_timeout': 10.0,  # lock step, on a machine that may be busy
        }
        self.process = Process(
            self.folder, defaults | parameters, self.namespace, arguments, 'lqr_node',
            environment=self.graph.environment, forked=True,
        )  # fmt: skip
        told = self.joint_states, self.odom, self.contacts, self.description
        self.wait_for(lambda: all(p.get_subscription_count() for p in told), START)

    def wait_for(self, condition, timeout=PATIENCE, every=0.0):
        return self.graph.wait_for(condition, timeout, self.process, every)

    def publish(self):
        """Publish the state at a stamp of the simulator's clock; return the stamp."""
        state, stamp = self.simulator.state, 10**12 + round(self.simulator.time * 1e9)
        joints, base = JointState(name=list(self.model.joint_names)), Odometry()
        for message in (joints, base):
            write_stamp(message.header.stamp, stamp)
        base.header.frame_id, base.child_frame_id = 'odom', 'base'
        write_pose(base.pose.pose, state.H)
        write_twist(base.twist.twist, state.v)
        joints.position, joints.velocity = state.s.tolist(), state.r.tolist()
        joints.effort = self.history[-1].tolist()
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

        self.wait_for(ramped, START, SLOWLY)
        self.history = [list(self.commands.values())[-1]]

    def live(self, duration, patience=0.5, publish=None):
        """Run in lock step; return the largest distance of the base from its posture [m].

        Motors hold what they have where no command comes within ``patience`` [s]; ``publish``
        stands in for the method.
        """
        worst = 0.0
        for _ in range(round(duration / PERIOD)):
            stamp = (publish or self.publish)()
            if self.is_answered(stamp, patience):
                self.history.append(self.commands[stamp])
            self.simulator.advance(self.history[-1], PERIOD)
            away = self.posture.difference(self.simulator.state)[:3]
            worst = max(worst, float(np.linalg.norm(away)))
        return worst

    def is_answered(self, stamp, patience):
        """Wait for the command to a state; return whether it has come."""
        deadline = time.monotonic() + patience
        while stamp not in self.commands and time.monotonic() < deadline:
            self.process.check_runs()
            self.graph.executor.spin_once(timeout_sec=0.005)
        return stamp in self.commands

    def check_efforts(self, full_swing_time=0.02, count=0):
        """Efforts were within limits and changed as slowly as is promised; return how much.

        From the one before the `count`-th on.
        """
        assert self.given
        given, limits = self.given[max(count - 1, 0) :], np.array(self.model.limits.effort)
        stamps = np.array([stamp for stamp, _ in given])
        efforts = np.array([efforts for _, efforts in given])
        # Unless both are answers to states in order, by the clock: at most one longest gap.
        elapsed = 1e-9 * np.diff(stamps)
        elapsed[(elapsed <= 0.0) | (elapsed > 0.02)] = 0.02
        elapsed[1:][elapsed[:-1] == 0.02] = 0.02
        most = 2.0 * limits * elapsed[:, None] / full_swing_time
        steps = np.abs(np.diff(efforts, axis=0)) / most
        found = Efforts(
            len(self.given) - count, np.max(np.abs(efforts) / limits), np.max(steps, initial=0.0)
        )
        assert max(found.largest, found.fastest) <= 1.0 + 1e-6, found
        return found

    def set_parameters(self, **values):
        """Ask for parameters; return the future of the answer."""
        self.wait_for(self.parameters.service_is_ready)
        return self.parameters.call_async(parameter_request(values))

    def transition(self, number):
        request = ChangeState.Request(transition=Transition(id=number))
        answer, _ = self.graph.call(self.change_state, request, self.process, PATIENCE, 1)
        assert answer.success
