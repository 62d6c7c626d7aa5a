# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator's process under a controller that is none of ours, over DDS.

The controller knows the topics alone. It compensates gravity by Pinocchio, with forces at the feet
that carry the base, and adds a spring and a damper to each joint.
"""

import json
import os
import re
import subprocess
import sys
import time

import numpy as np
import pinocchio as pin
import pytest

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
from support.processes import Program  # noqa: E402

from geolin_ros import robots  # noqa: E402

pytestmark = pytest.mark.usefixtures('ros_domain')

FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')
STIFFNESS, DAMPING = 8.0, 0.01  # in effort limits a radian; in s of that


def stamp_of(message):
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


class GravityCompensation:
    """A controller on a graph.

    Parameters
    ----------
    is_stamped
        Whether it says which state its efforts answer.
    leaves_out
        It leaves out one state of so many.
    share
        Of the efforts that it should send.
    """

    def __init__(self, is_stamped, leaves_out=None, share=1.0):
        self.model = pin.buildModelFromUrdf(
            str(robots.path('quadruped')), pin.JointModelFreeFlyer()
        )
        self.data, self._share, self._leaves_out = self.model.createData(), share, leaves_out
        self.clocks, self.loads, self.states = set(), [], []
        self._base = self._start = None
        self._wrenches = {}
        context = Context()
        rclpy.init(context=context)
        self._node = rclpy.create_node('gravity', context=context)
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self._node)
        listen = self._node.create_subscription
        # all that comes, also where this process has to rest
        best_effort = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
        listen(Odometry, 'odom', self._on_base, best_effort)
        listen(JointState, 'joint_states', self._on_joints, best_effort)
        listen(Clock, '/clock', self._on_clock, best_effort)
        for foot in FEET:
            listen(
                WrenchStamped,
                f'{foot}/wrench',
                lambda message, foot=foot: self._wrenches.update({foot: message}),
                best_effort,
            )
        speak = self._node.create_publisher
        self._commands = speak(Float64MultiArray, 'joint_group_effort_controller/commands', 1)
        self._stamped = speak(JointState, 'gravity/command', 1) if is_stamped else None

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

    def _on_clock(self, message):
        self.clocks.add(message.clock.sec * 10**9 + message.clock.nanosec)

    def _on_base(self, message):
        self._base = message

    def _on_joints(self, message):
        if self._base is None:
            return
        self.states.append(stamp_of(message))
        if self._leaves_out and len(self.states) % self._leaves_out == 0:
            return
        efforts = self._share * self._efforts(message)
        if self._stamped is not None:
            answer = JointState(effort=efforts.tolist())
            answer.header.stamp = message.header.stamp
            self._stamped.publish(answer)
        self._commands.publish(Float64MultiArray(data=efforts.tolist()))

    def _efforts(self, message):
        model, data, pose = self.model, self.data, self._base.pose.pose
        p, o = pose.position, pose.orientation
        names = list(message.name)
        order = [names.index(name) for name in model.names[2:]]
        s, r = np.array(message.position)[order], np.array(message.velocity)[order]
        q = np.concatenate(([p.x, p.y, p.z, o.x, o.y, o.z, o.w], s))
        gravity = pin.computeGeneralizedGravity(model, data, q)
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        frames = [model.getFrameId(foot) for foot in FEET]
        aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = np.vstack([pin.getFrameJacobian(model, data, frame, aligned)[:3] for frame in frames])
        carried = np.linalg.lstsq(J[:, :6].T, gravity[:6], rcond=None)[0]
        if len(self._wrenches) == len(FEET):
            felt = [self._wrenches[foot].wrench.force for foot in FEET]
            turned = zip(frames, felt, strict=True)
            forces = [data.oMf[at].rotation @ (f.x, f.y, f.z) for at, f in turned]
            self.loads.append(np.sum(forces, axis=0))
        if self._start is None:
            self._start = s
        limits = model.effortLimit[6:]
        spring = STIFFNESS * limits * (self._start - s - DAMPING * r)
        efforts = np.empty(len(names))
        efforts[order] = gravity[6:] - J[:, 6:].T @ carried + spring
        return efforts


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
    process = simulator('--answers=gravity/command', '--patience=9')
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 1
    topic = r'/joint_group_effort_controller/commands \(std_msgs/msg/Float64MultiArray\)'
    assert re.search(rf'^robot waits for a publisher of {topic}: start the', said, re.MULTILINE)
    assert re.search(r'^simulator: no controller leads the robot within 9 s, which', said, re.M)
    assert 'the last state was not answered' in said


def test_foreign_controller__keeps_the_robot_standing_by_what_is_published(tmp_path):
    controller = GravityCompensation(is_stamped=True)
    process = simulator('--answers=gravity/command', '--output', tmp_path)
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
    weight = 9.81 * pin.computeTotalMass(controller.model)
    assert controller.loads[-1] == pytest.approx([0.0, 0.0, weight], abs=0.05 * weight)


def test_controller_that_says_no_stamp__is_heard_and_what_it_leaves_out_is_counted():
    controller = GravityCompensation(is_stamped=False, leaves_out=4)
    process = simulator('--answers', '--realtime', '--noise=0.01', '--delay=1')
    said = controller.serve(process)
    (missed, periods), *more = re.findall(r'(\d+) of (\d+) periods missed', said)
    assert not more
    assert process.returncode == int('FAIL' in said)  # 1 on a machine that is too slow
    assert int(periods) // 4 <= int(missed) <= int(periods), said


def test_controller_without_strength__lets_it_fall_which_is_the_exit_status():
    controller = GravityCompensation(is_stamped=True, share=0.0)
    process = simulator('--answers=gravity/command')
    said = controller.serve(process)
    assert process.returncode == 1, said
    assert re.search(r'^FAIL  4 feet, J 0.06 s: falls at 0.\d\d s', said, re.MULTILINE), said


@pytest.mark.parametrize('frame', ['01_lf_foot', 'left_foot', 'foot.l/sole', 'Fuß'])
def test_topic__of_any_frame_is_one_of_ros(frame):
    assert validate_topic_name(f'{topic_name(frame)}/wrench')
    with_digit = frame[0].isdigit()
    assert topic_name(frame).startswith('foot_' if with_digit else frame[0])
