# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator's process under a controller that is none of ours, over DDS.

The controller knows the topics alone: efforts of the posture, springs and dampers.
"""

import json
import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from support.processes import Program
from support.standing import held

pytest.importorskip('mujoco')
pytest.importorskip('geolin_msgs.msg')
rclpy = pytest.importorskip('rclpy')

from geolin_demos.balance.graph import topic_name  # noqa: E402
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.context import Context  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.qos import QoSProfile, ReliabilityPolicy  # noqa: E402
from rclpy.validate_topic_name import validate_topic_name  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402

from geolin_ros.dynamics.kinematics import Kinematics  # noqa: E402
from geolin_ros.stream.message_fields import read_pose  # noqa: E402
from geolin_ros.stream.topic_stream import nanoseconds  # noqa: E402

pytestmark = pytest.mark.usefixtures('ros_domain')

FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')
STIFFNESS, DAMPING = 8.0, 0.01  # in effort limits a radian; in s of that


class Controller:
    """A controller on a graph, which says what state its efforts answer."""

    def __init__(self):
        self.clocks, self.states, self.newest, self.start = set(), [], {}, None
        self.model, self.point = held('quadruped')
        context = Context()
        rclpy.init(context=context)
        self._node = rclpy.create_node('foreign', context=context)
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self._node)
        # all that comes, also where this process has to rest
        best_effort = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
        wrenches = ((WrenchStamped, f'{foot}/wrench') for foot in FEET)
        for kind, topic in ((Odometry, 'odom'), *wrenches):
            self._node.create_subscription(
                kind, topic, lambda m, topic=topic: self.newest.update({topic: m}), best_effort
            )
        self._node.create_subscription(JointState, 'joint_states', self._answer, best_effort)
        self._node.create_subscription(
            Clock, '/clock', lambda m: self.clocks.add(nanoseconds(m.clock)), best_effort
        )
        speak = self._node.create_publisher
        self._commands = speak(Float64MultiArray, 'joint_group_effort_controller/commands', 1)
        self._stamped = speak(JointState, 'foreign/command', 1)

    def serve(self, process, deadline=200.0):
        """Answer until a process has ended; return all that it said."""
        end = time.monotonic() + deadline
        while process.poll() is None and time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.05)
        process.kill()  # unless it has ended
        self._executor.shutdown()
        self._node.destroy_node()
        self._node.context.try_shutdown()
        return process.communicate()[0]

    def _answer(self, message):
        order = [message.name.index(name) for name in self.model.joint_names]
        self.s, r = np.array(message.position)[order], np.array(message.velocity)[order]
        if self.start is None:
            self.start = self.s
        self.states.append(nanoseconds(message.header.stamp))
        spring = STIFFNESS * self.model.limits.effort * (self.start - self.s - DAMPING * r)
        efforts = np.empty(len(order))
        efforts[order] = self.point.tau + spring
        answer = JointState(effort=efforts.tolist())
        answer.header.stamp = message.header.stamp
        self._stamped.publish(answer)
        self._commands.publish(Float64MultiArray(data=efforts.tolist()))

    def load(self):
        """Return the newest force on all feet [N], in world axes."""
        H, model = read_pose(self.newest['odom'].pose.pose), self.model
        at = Kinematics(model, model.state(H, self.s, np.zeros(6), np.zeros(model.n)))
        felt = {foot: self.newest[f'{foot}/wrench'].wrench.force for foot in FEET}
        return sum(at.pose(foot)[:3, :3] @ (f.x, f.y, f.z) for foot, f in felt.items())


def simulator(*arguments):
    command = [sys.executable, '-m', 'geolin_demos.balance.robot', '--robot=quadruped']
    return Program(
        [*command, '--cases=4 feet', '--pushes=1', *map(str, arguments)],
        env={**os.environ, 'PYTHONUNBUFFERED': '1'},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_robot_without_controller__says_what_it_waits_for_and_fails():
    process = simulator('--answers=foreign/command', '--patience=4')
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 1
    topic = r'/joint_group_effort_controller/commands \(std_msgs/msg/Float64MultiArray\)'
    assert re.search(rf'^robot waits for a publisher of {topic}: start the', said, re.MULTILINE)
    assert re.search(r'^simulator: no controller leads the robot within 4 s, which', said, re.M)
    assert 'the last state was not answered' in said


def test_foreign_controller__keeps_the_robot_standing_by_what_is_published(tmp_path):
    controller = Controller()
    process = simulator('--answers=foreign/command', '--output', tmp_path)
    said = controller.serve(process)
    assert process.returncode == 0, said
    assert re.search(r'^PASS  4 feet, J 0.06 s: stands, base off by at most', said, re.MULTILINE)
    outcome = json.loads((tmp_path / '0.json').read_text())
    assert outcome['stands']
    assert outcome['periods'] == 1250
    assert len(np.load(tmp_path / '0.npz')['times']) == 250
    # Lock step: each state came once, 2 ms after the one before, and the clock goes with it.
    assert np.unique(np.diff(controller.states[-1000:])).tolist() == [2_000_000]
    assert set(controller.states[-1000:]) <= controller.clocks
    weight = 9.81 * controller.model.total_mass
    assert controller.load() == pytest.approx([0.0, 0.0, weight], abs=0.05 * weight)


@pytest.mark.parametrize('frame', ['01_lf_foot', 'left_foot', 'foot.l/sole', 'Fuß'])
def test_topic__of_any_frame_is_one_of_ros(frame):
    assert validate_topic_name(f'{topic_name(frame)}/wrench')
    with_digit = frame[0].isdigit()
    assert topic_name(frame).startswith('foot_' if with_digit else frame[0])
