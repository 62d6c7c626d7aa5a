# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller as a process: linearizations and references in, joint efforts out.

At the end it says what solutions took; the exit status is 1 if more than one in a hundred took
longer than a period, in time of the processor: what the clock says, on a machine that may have
other things to do, is for the robot to judge.
"""

import argparse
import gc
import sys
import time
from pathlib import Path

import numpy as np
import rclpy
from geolin_control.feedback_messages import read_reference
from geolin_control.regulator import Reference
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from geolin_msgs.msg import LinearizedDynamics, ReferenceState
from geolin_ros import Contact, TreeModel
from geolin_ros.errors import GeolinError, InputError
from geolin_ros.model.tree import STANDARD_GRAVITY
from geolin_ros.ros.programs import handled_signals
from geolin_ros.ros.running import init, spin
from geolin_ros.ros.topics import LATCHED, NEWEST
from geolin_ros.stream.contacts import read_contact
from geolin_ros.stream.outputs.reading import (
    ReceivedLinearization,
    read_contact_dynamics,
    read_linearization,
)
from geolin_ros.typing import Array
from mpc.controller import ModelPredictiveControl, Settings, efforts_of


class MpcNode(Node):
    """Answers each linearization with the efforts of the next period."""

    def __init__(self, settings: Settings, overlay: Path | None, robot: Path | None) -> None:
        super().__init__('mpc')
        self.times: list[Array] = []
        """From a message to its efforts, by processor and by clock [s]; without the first one."""
        self._settings, self._overlay = settings, overlay
        self._model = None if robot is None else self._read(robot)
        self._reference: Reference | None = None
        self._active: tuple[str, ...] = ()
        self._controller: ModelPredictiveControl | None = None
        self._commands = self.create_publisher(
            Float64MultiArray, 'joint_group_effort_controller/commands', NEWEST
        )
        self._stamped = self.create_publisher(JointState, '~/command', NEWEST)
        if robot is None:
            self.create_subscription(String, 'robot_description', self._on_description, LATCHED)
        self.create_subscription(ReferenceState, 'reference', self._on_reference, NEWEST)
        self.create_subscription(
            LinearizedDynamics, 'linearizer/linearization', self._on_linearization, NEWEST
        )

    @property
    def unsolved(self) -> int:
        """How many problems had no solution."""
        return 0 if self._controller is None else self._controller.unsolved

    def _on_description(self, message: String) -> None:
        self._model = TreeModel.from_urdf(message.data, overlay=self._overlay)

    def _read(self, robot: Path) -> TreeModel:
        return TreeModel.from_file(robot, overlay=self._overlay, gravity=STANDARD_GRAVITY)

    def _on_reference(self, message: ReferenceState) -> None:
        if self._model is None:
            return
        self._reference = read_reference(message, self._model, None)
        efforts_of(self._reference)

    def _on_linearization(self, message: LinearizedDynamics) -> None:
        start = np.array((time.thread_time(), time.perf_counter()))
        contacts = read_contact_dynamics(message.contact_dynamics)
        if (
            self._model is None
            or self._reference is None
            or contacts is None
            or not contacts.active
        ):
            return
        now = read_linearization(message)
        controller = self._controller
        if is_first := controller is None or self._active != contacts.active:
            self._check(now, self._model.hash)
            closures = [
                read_contact(self._model, contact)
                for contact in message.contact_dynamics.contacts
                if contact.active
            ]
            feet = [foot for foot in closures if isinstance(foot, Contact)]
            if len(feet) < len(closures):
                raise InputError('a contact is a closed loop, expected feet on the ground alone')
            self._active = contacts.active
            controller = ModelPredictiveControl(self._model, self._reference, feet, self._settings)
            self._controller = controller
            gc.collect()
            gc.freeze()  # to go through all that was imported takes ten periods
        efforts = controller.efforts(now, contacts, self._reference).tolist()
        self._commands.publish(Float64MultiArray(data=efforts))
        stamped = JointState(name=list(message.actuated_joints), effort=efforts)
        stamped.header.stamp = message.header.stamp
        self._stamped.publish(stamped)
        if not is_first:
            self.times.append((time.thread_time(), time.perf_counter()) - start)

    def _check(self, now: ReceivedLinearization, model_hash: str) -> None:
        found = now.model_hash, now.form, now.reference, now.representation, now.dt
        period = self._settings.period
        expected = model_hash, 'discrete', 'frozen', 'body', period
        if found != expected:
            raise InputError(
                f'linearization is {found}, expected {expected}: give the linearizer the same '
                f'description and overlay, form discrete, reference frozen, dt {period:g}'
            )


def main(arguments: list[str] | None = None) -> int:
    """Run until a signal ends it; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m mpc.node', description=__doc__)
    parser.add_argument('--overlay', type=Path, help='overlay file, as of the linearizer')
    parser.add_argument('--robot', type=Path, help='MJCF file, which no topic brings')
    options, ros_arguments = parser.parse_known_args(arguments)
    settings = Settings()
    with handled_signals() as asked_to_stop:
        init(ros_arguments)
        node = MpcNode(settings, options.overlay, options.robot)
        try:
            spin(node, asked_to_stop)
        except GeolinError as error:
            print(f'mpc: {error}', file=sys.stderr)
            return 1
        finally:
            node.destroy_node()
            rclpy.try_shutdown()
    if not node.times:
        print('no linearization of a robot in contact came', file=sys.stderr)
        return 1
    (p50, by_clock), (p99, late) = 1e3 * np.percentile(node.times, (50, 99), axis=0)
    is_met = p99 < 1e3 * settings.period
    print(
        f'{"PASS" if is_met else "FAIL"}  solve time p50 {p50:.2f} ms, p99 {p99:.2f} ms of a '
        f'period of {1e3 * settings.period:g} ms ({by_clock:.2f} and {late:.2f} ms by the clock); '
        f'{len(node.times)} problems of {settings.steps} steps, {node.unsolved} without a solution'
    )
    return int(not is_met)


if __name__ == '__main__':
    sys.exit(main())
