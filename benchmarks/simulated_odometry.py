# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot whose base nobody measures: an IMU, joint positions and foot forces, by messages."""

from typing import Any

import numpy as np
from geolin_demos.sim.simulator import Imu, ImuSensor, Simulator
from geolin_demos.sim.world import OFF, ON
from geolin_estimation.base_state import Deviations
from geolin_estimation.base_stream import BaseAnswer, BaseSettings, BaseStream
from geolin_estimation.imu_input import ImuTopic

from geolin_ros.model.state import State
from geolin_ros.offline.bags import IMU, JOINT_STATE, WRENCH, empty_message
from geolin_ros.stream.contacts import ContactSettings, ContactSource, FootForce
from geolin_ros.stream.message_fields import write_stamp, write_wrench
from geolin_ros.typing import Array

EPOCH = 1_000_000_000
TRUSTED = 0.3
"""So long the state is the true one: until then a robot is taken to be carried [s]."""
SLIP = {'point': 0.1, 'surface': 0.003}
"""How points and soles slip, densities [m/s/sqrt(Hz)]: a foot in the air that scuffs the floor
then counts little beside a sole that has stood."""


class Odometry:
    """Turns true states into those that the state estimator knows, one call a control period.

    Its inputs are an IMU on the base, which integrates over the period, joint states, and the
    forces on the feet if it is to find by them which stand. Joints are as they are; the base is
    where the estimator has it from `TRUSTED` on, in the world of the simulator: place and heading
    at the start are given, as nothing measures them.

    Parameters
    ----------
    simulator
        Tells the forces on its feet.
    imu
        How good it is.
    seed
        Of its noise and biases.
    source
        Whether feet stand by their forces, or by joint efforts.

    Attributes
    ----------
    answer
        The newest of the estimator, or None.
    """

    def __init__(
        self,
        simulator: Simulator,
        imu: Imu | None = None,
        seed: int = 0,
        source: ContactSource = 'forces',
    ) -> None:
        imu, model = imu or Imu(), simulator.model
        supports = list(simulator.feet.values())
        share = model.total_mass * float(np.linalg.norm(model.gravity)) / len(supports)
        feet = [FootForce(f'{support.frame}/force', support.frame) for support in supports]
        contacts = ContactSettings(
            source=source,
            contacts=tuple(support.contact for support in supports),
            foot_forces=tuple(feet),
            on_force=ON * share,
            off_force=OFF * share,
        )
        settings = BaseSettings(
            ImuTopic('imu', model.base_link),
            contacts,
            sole=min(_half_width(support.points) for support in supports) or 0.05,
            foot_radius=supports[0].radius,
            deviations=Deviations(
                gyro_bias=imu.gyro_bias,
                accelerometer_bias=imu.accelerometer_bias,
                slip=SLIP[supports[0].kind],
            ),
        )
        self.stream = BaseStream(model, settings)
        self.stream.warm_up()
        self.answer: BaseAnswer | None = None
        self._simulator, self._sensor = simulator, ImuSensor(model.gravity, imu, seed)
        self._world: Array | None = None
        self._imu, self._joints = empty_message(IMU), empty_message(JOINT_STATE)
        self._joints.name = list(model.joint_names)
        self._wrenches = {foot.frame: (foot.topic, empty_message(WRENCH)) for foot in feet}

    def __call__(self, state: State) -> State:
        """Return the state as it is known now."""
        time = self._simulator.time
        sample = self._sensor(time, state)
        if sample is not None:
            self._take(sample, state, time)
        if self.answer is None or time < TRUSTED:
            return state
        estimate = self.answer.estimate
        if self._world is None:
            self._world = _placed(state.H, estimate.H)
        known = state.copy()
        known.H[:], known.v[:] = self._world @ estimate.H, estimate.v
        return known

    def _take(self, sample: Array, state: State, time: float) -> None:
        imu, joints = self._imu, self._joints
        stamp = EPOCH + round(time * 1e9)
        messages: list[tuple[str, Any]] = [('imu', imu)]
        turning, acceleration = imu.angular_velocity, imu.linear_acceleration
        turning.x, turning.y, turning.z = sample[:3].tolist()
        acceleration.x, acceleration.y, acceleration.z = sample[3:].tolist()
        for frame, wrench in self._simulator.wrenches().items():
            topic, message = self._wrenches[frame]
            write_wrench(message.wrench, wrench)
            messages.append((topic, message))
        joints.position, joints.velocity, joints.effort = state.s, state.r, self._simulator.efforts
        messages.append(('joint_states', joints))
        for topic, message in messages:
            write_stamp(message.header.stamp, stamp)
            for answer in self.stream.take(topic, message):
                self.answer = answer


def _half_width(points: Any) -> float:
    return 0.5 * float(np.ptp(np.asarray(points), axis=0)[:2].min())


def _placed(H: Array, estimated: Array) -> Array:
    """Return the turn about the vertical, and the way, that put an estimate where the base is."""
    turn = H[:3, :3] @ estimated[:3, :3].T
    yaw = np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1])
    world = np.eye(4)
    world[:2, :2] = [[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]
    world[:3, 3] = H[:3, 3] - world[:3, :3] @ estimated[:3, 3]
    return world
