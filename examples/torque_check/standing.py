# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A humanoid that stands on a floor, moves its arms and is pushed now and then.

Simulated by MuJoCo (extra ``mujoco``), regulated by `geolin_ros.control`. Publishes
joint_states with the efforts that its motors really give, imu, and the wrench of the floor on each
sole: the inputs of a torque estimator, and the truth to compare with.
"""

import sys
from pathlib import Path

import mujoco
import numpy as np
from geolin_demos.demo.robot import PERIOD, run_robot
from geolin_demos.sim.simulator import Push, Simulator
from geolin_demos.sim.world import Floor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Imu, JointState

from geolin_msgs.msg import WrenchWithCovariance
from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.lqr import Feedback, design
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.support import Support
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.message_fields import allocate, write_matrix, write_stamp, write_wrench
from geolin_ros.typing import Array

IMU = 'imu'
STEP = PERIOD * 1e-9  # over which efforts are constant [s]
SOLES = {'left_sole': '0.18x0.08', 'right_sole': '0.18x0.08'}
LOAD_CELLS = np.diag([1.0, 1.0, 1.0, 0.05, 0.05, 0.05]) ** 2
"""Covariance that the soles say they measure with [N, N m]."""
WAVING = {
    'left_shoulder_pitch': 0.5,
    'left_elbow': 0.8,
    'right_shoulder_pitch': 0.6,
    'right_elbow': 0.7,
}
"""Joints that move, and how often [Hz]."""
AMPLITUDE = 0.3  # [rad]
PUSH = Push(2.0, (0.0, 30.0, 0.0), every=1.0)


class StandingRobot:
    """Stands, waves, and says what its sensors read.

    Attributes
    ----------
    model
        The robot.
    state
        Where it was at the beginning of the last step.
    tau : (n,)
        What the motors gave from then on.
    """

    def __init__(self, model: TreeModel, path: Path) -> None:
        supports = [Support.parse(f'{link}:{size}') for link, size in SOLES.items()]
        point = equilibrium(model, standing_posture(model, supports), supports)
        self.model, self._law = model, Feedback(design(model, point))
        self._simulator = Simulator(path, model, supports, Floor(timestep=STEP), pushes=[PUSH])
        self._simulator.state = point.state
        self._arms = [model.joint_index(name) for name in WAVING]
        self.state, self.tau = point.state, point.tau

    def advance(self) -> None:
        """Go on by a `STEP` with new efforts."""
        self.state = self._simulator.state
        self.tau = self._efforts()
        self._simulator.advance(self.tau, STEP)

    def measured(self) -> tuple[Array, Array, dict[str, Array]]:
        """Return proper acceleration and turning of the IMU, and the wrenches on the soles.

        At `state`, by MuJoCo, in axes of the link.
        """
        world, data, found = self._simulator.mujoco_model, self._simulator.data, np.zeros((2, 6))
        link = mujoco.mjtObj.mjOBJ_XBODY, world.body(IMU).id
        mujoco.mj_rnePostConstraint(world, data)
        mujoco.mj_objectAcceleration(world, data, *link, found[0], 1)
        mujoco.mj_objectVelocity(world, data, *link, found[1], 1)
        return found[0, 3:], found[1, :3], self._simulator.wrenches()

    def _efforts(self) -> Array:
        reference = self._law.gains.state
        wave = 2.0 * np.pi * np.array(list(WAVING.values()))
        s, r = reference.s.copy(), reference.r.copy()
        s[self._arms] += AMPLITUDE * (1.0 - np.cos(wave * self._simulator.time))
        r[self._arms] = AMPLITUDE * wave * np.sin(wave * self._simulator.time)
        wanted = self._law.efforts(self.state, reference=State(reference.H, s, reference.v, r))
        return np.clip(wanted, -self.model.limits.effort, self.model.limits.effort)


class PublishedRobot:
    """A standing robot on the graph.

    Every sample is published, `PERIOD` apart in its own time: where the processor is busy
    elsewhere that time runs slower than the clock.
    """

    def __init__(self, node: Node, model: TreeModel, path: Path) -> None:
        self._robot, self._time_ns = StandingRobot(model, path), 0
        self._joints, self._imu = JointState(name=list(model.joint_names)), Imu()
        self._fields = [
            allocate(self._joints, field, model.n) for field in ('position', 'velocity', 'effort')
        ]
        self._imu.header.frame_id = IMU
        self._imu.orientation_covariance[0] = -1.0  # not measured
        self._wrenches = {link: WrenchWithCovariance() for link in SOLES}
        for link, wrench in self._wrenches.items():
            wrench.header.frame_id = link
            write_matrix(wrench.covariance, LOAD_CELLS)
        self._to = {
            name: node.create_publisher(kind, name, qos_profile_sensor_data)
            for kind, name in (
                (JointState, 'joint_states'),
                (Imu, 'imu'),
                *((WrenchWithCovariance, f'{link}/wrench') for link in SOLES),
            )
        }

    def advance(self, duration: float) -> None:
        """Go on by one sample, whatever is due."""
        self._robot.advance()

    def publish(self, time_ns: int) -> None:
        """Publish what the sensors read, the joint states last."""
        self._time_ns = time_ns = self._time_ns + PERIOD if self._time_ns else time_ns
        acceleration, turning, wrenches = self._robot.measured()
        state, joints, imu = self._robot.state, self._joints, self._imu
        write_stamp(imu.header.stamp, time_ns)
        for values, vector in (
            (acceleration, imu.linear_acceleration),
            (turning, imu.angular_velocity),
        ):
            vector.x, vector.y, vector.z = values.tolist()
        self._to['imu'].publish(imu)
        for link, message in self._wrenches.items():
            write_stamp(message.header.stamp, time_ns)
            write_wrench(message.wrench, wrenches[link])
            self._to[f'{link}/wrench'].publish(message)
        write_stamp(joints.header.stamp, time_ns)
        for field, values in zip(self._fields, (state.s, state.r, self._robot.tau), strict=True):
            field[:] = values
        self._to['joint_states'].publish(joints)


def main(arguments: list[str] | None = None) -> int:
    """Run the robot until a signal ends it; return the exit status."""
    return run_robot(PublishedRobot, 'standing', 'humanoid', arguments)


if __name__ == '__main__':
    sys.exit(main())
