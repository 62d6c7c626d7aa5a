# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node that keeps a standing robot where it should be: linearizations in, gains out."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from nav_msgs.msg import Odometry
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from geolin_msgs.msg import (
    ContactState,
    ContactStates,
    FeedbackGains,
    LinearizedDynamics,
    ReferenceState,
)
from geolin_ros.control.regulator import Command, Mode, Reference, Regulator
from geolin_ros.errors import GeolinError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.ros.qos import NEWEST, overridable
from geolin_ros.ros.robot_node import RobotNode, guarded, run
from geolin_ros.stream.drops import DroppedInput
from geolin_ros.stream.feedback_messages import (
    GainsWriter,
    frames_in_force,
    read_measured,
    read_reference,
)
from geolin_ros.stream.lqr_parameters import LQR_TABLE, regulator_settings, supports_of
from geolin_ros.stream.parameter_file import default_values
from geolin_ros.stream.parameters import stream_settings
from geolin_ros.stream.stamps import nanoseconds
from geolin_ros.stream.state_input import StateInput
from geolin_ros.warm_up import warm_up

WATCH_PERIOD = 0.005
"""How often the age of the newest state is looked at [s]."""
SWITCH_INTERVAL = 5e-4
"""How long the design may keep the interpreter from the feedback [s]."""


@dataclass
class Pipeline:
    """All that belongs to one model."""

    model: TreeModel
    regulator: Regulator
    states: StateInput
    state: State
    writer: GainsWriter
    is_known: bool = False
    """Whether ``state`` has been measured."""


class LqrNode(RobotNode):
    """Makes gains of linearizations and, if asked, efforts of states.

    Efforts are published while active and, as damping, after a deactivation until the node is
    cleaned up. Feedback never waits for gains: they are made in a thread of their own.
    """

    def __init__(self, **options: Any) -> None:
        self._designer = ThreadPoolExecutor(1, thread_name_prefix='gains')
        super().__init__('lqr_node', LQR_TABLE, **options)
        self._design: Future[None] | None = None
        self._next_design = 0.0
        self._linearization: Any = None
        self._last_state: tuple[float, float] | None = None
        self._said: tuple[Mode, str] | None = None
        self._tallies: Counter[str] = Counter()
        self._supervised: list[Any] = []

    def compile(self) -> None:
        """Compile, or load from the cache, what a linearization needs."""
        warm_up()

    def outputs(self) -> Sequence[tuple[type, str]]:
        """Return what is published."""
        return ((FeedbackGains, '~/gains'),)

    def inputs(self) -> Sequence[tuple[type, str, Callable[[Any], None]]]:
        """Return what is subscribed to."""
        return (
            *self._motion_inputs(),
            (LinearizedDynamics, 'linearization', self._on_linearization),
            (ContactStates, 'contact_states', self._on_contacts),
            (ReferenceState, 'reference', self._on_reference),
        )

    def make_pipeline(self, model: TreeModel, earlier: Any) -> Pipeline:
        """Return a regulator; gains, reference and contacts have to come anew."""
        values = default_values() | self._values
        return Pipeline(
            model,
            Regulator(model, supports_of(values), regulator_settings(values)),
            StateInput(model, stream_settings(values)),
            model.neutral_state(),
            GainsWriter(FeedbackGains, ContactState, model),
        )

    def _motion_inputs(self) -> tuple[tuple[type, str, Callable[[Any], None]], ...]:
        return (
            (JointState, 'joint_states', self._on_joint_state),
            (Odometry, 'odom', self._on_odometry),
        )

    # ---- lifecycle

    @guarded
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Offer efforts too; they are no lifecycle topics, to be damped once inactive."""
        self._efforts_publisher = self.create_publisher(
            Float64MultiArray, 'joint_group_effort_controller/commands', **overridable(NEWEST)
        )
        self._command_publisher = self.create_publisher(
            JointState, '~/command', **overridable(NEWEST)
        )
        result = super().on_configure(state)
        self._periodic.append(self.create_timer(WATCH_PERIOD, self._watch))
        return result

    @guarded
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Regulate from now on."""
        self._stop_supervision()
        return super().on_activate(state)

    @guarded
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop to regulate; joints are damped as long as their states come."""
        result = super().on_deactivate(state)
        self._supervised = [
            self.create_subscription(kind, topic, callback, **overridable(NEWEST))
            for kind, topic, callback in self._motion_inputs()
        ]
        return result

    @guarded
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let the joints go, and forget everything but the parameters."""
        self._stop_supervision()
        if self._design is not None:
            self._design.exception()  # what is being designed is not wanted any more
        self._design = self._linearization = self._last_state = None
        self.destroy_publisher(self._efforts_publisher)
        self.destroy_publisher(self._command_publisher)
        return super().on_cleanup(state)

    def destroy_node(self) -> None:
        """Wait for the gains that are being made, then go."""
        self._designer.shutdown(wait=True, cancel_futures=True)
        super().destroy_node()

    def _stop_supervision(self) -> None:
        for subscription in self._supervised:
            self.destroy_subscription(subscription)
        self._supervised.clear()

    # ---- inputs

    def _on_odometry(self, message: Odometry) -> None:
        if self._pipeline is not None:
            self._try('odometry', self._pipeline.states.take_odometry, message)

    def _on_joint_state(self, message: JointState) -> None:
        """Answer one joint state: the path that is run at the rate of the robot."""
        pipeline = self._pipeline
        if pipeline is None:
            return
        stamp = nanoseconds(message.header.stamp)
        try:
            pipeline.states.check_order(stamp)
            pipeline.states.read(message, stamp, pipeline.state)
        except DroppedInput as drop:
            self._tallies[drop.cause.value] += 1
            self._warn(drop.cause, str(drop))
            return
        pipeline.is_known = True
        self._tallies['states'] += 1
        now = stamp * 1e-9
        self._last_state = (now, time.monotonic())
        regulator: Regulator = pipeline.regulator
        if not self._is_active:
            self._send(pipeline, regulator.damp(now, pipeline.state, 'the node is not active'))
            return
        if not regulator.is_led:
            regulator.follow(Reference(at_rest(pipeline.state)))
        self._start_design(pipeline)
        self._send(pipeline, regulator.command(now, pipeline.state))

    def _on_linearization(self, message: LinearizedDynamics) -> None:
        if self._pipeline is not None:
            self._tallies['linearizations'] += 1
            self._linearization = message
            self._pipeline.regulator.hear(nanoseconds(message.header.stamp) * 1e-9)

    def _on_contacts(self, message: ContactStates) -> None:
        if self._pipeline is not None:
            before = self._pipeline.regulator.standing_on
            self._try('contacts', self._pipeline.regulator.stand_on, frames_in_force(message))
            if self._pipeline.regulator.standing_on != before:
                self._next_design = 0.0

    def _on_reference(self, message: ReferenceState) -> None:
        pipeline = self._pipeline
        if pipeline is None:
            return
        posture = pipeline.state if pipeline.is_known else None
        try:
            pipeline.regulator.follow(read_reference(message, pipeline.model, posture))
        except GeolinError as error:
            self._tallies['references dropped'] += 1
            self._warn('reference', str(error))

    def _try(self, kind: str, take: Callable[[Any], object], message: Any) -> None:
        try:
            take(message)
        except GeolinError as error:
            self._tallies[f'{kind} dropped'] += 1
            self._warn(kind, str(error))

    # ---- gains

    def _start_design(self, pipeline: Pipeline) -> None:
        """Let the designer look at what there is, if it is idle and its time has come."""
        now = time.monotonic()
        if now < self._next_design or (self._design is not None and not self._design.done()):
            return
        self._next_design = now + 1.0 / self._values['design_rate']
        newest, self._linearization = self._linearization, None
        self._design = self._designer.submit(self._redesign, pipeline, newest)

    def _redesign(self, pipeline: Pipeline, newest: Any) -> None:
        start = time.perf_counter()
        try:
            if newest is not None:
                pipeline.regulator.take(read_measured(newest, pipeline.model))
            if not pipeline.regulator.redesign():
                return
        except GeolinError as error:
            self._tallies['designs failed'] += 1
            self._warn('design', f'no new gains: {error}')
            return
        self._tallies['designs'] += 1
        gains = pipeline.regulator.gains
        if gains is not None and self._is_active:
            stamp = round((self._last_state or (0.0, 0.0))[0] * 1e9)
            self._outputs[0].publish(
                pipeline.writer.write(
                    gains, stamp, pipeline.states.world_frame, time.perf_counter() - start
                )
            )

    # ---- efforts

    def _send(self, pipeline: Pipeline, command: Command) -> None:
        self._tallies[command.mode.value] += 1
        said = (command.mode, command.reason.partition(',')[0])
        if said[0] is not (self._said or (None,))[0]:
            words = f'{command.mode.value}: {command.reason}' if command.reason else 'feedback'
            (self.get_logger().info if not command.reason else self._log)(words)
        self._said = said
        if not self._values['publish_efforts']:
            return
        efforts = command.efforts.tolist()
        self._efforts_publisher.publish(Float64MultiArray(data=efforts))
        answer = JointState(name=list(pipeline.model.actuated_joints), effort=efforts)
        seconds = (self._last_state or (0.0, 0.0))[0]
        answer.header.stamp.sec, answer.header.stamp.nanosec = divmod(
            round(seconds * 1e9), 1_000_000_000
        )
        self._command_publisher.publish(answer)

    def _log(self, words: str) -> None:
        self._warn(words[:40], words)

    def _watch(self) -> None:
        """Let the joints go when states do not come any more."""
        pipeline, last = self._pipeline, self._last_state
        if pipeline is None or last is None:
            return
        silent = time.monotonic() - last[1]
        if silent > self._values['input_timeout']:
            reason = f'no state for {silent:.3f} s'
            self._send(pipeline, pipeline.regulator.release(last[0] + silent, reason))

    # ---- once a second

    def report(self, waits_for: str | None) -> DiagnosticArray:
        """Return mode, gains and counts."""
        status = DiagnosticStatus(
            name=self.get_fully_qualified_name(), hardware_id=self.get_name()
        )
        mode, reason = self._said or (None, waits_for or 'no state yet')
        status.level = DiagnosticStatus.OK if mode is Mode.FEEDBACK else DiagnosticStatus.WARN
        status.message = f'{mode.value if mode else "waits for"} {reason}'.strip()
        values = {name: str(count) for name, count in self._tallies.items()}
        if self._pipeline is not None:
            regulator = self._pipeline.regulator
            values['standing on'] = ', '.join(regulator.standing_on)
            values['last design failed'] = regulator.failure or 'no'
            if regulator.gains is not None:
                values['largest closed-loop eigenvalue'] = f'{regulator.gains.margin:.6f}'
        status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = self.get_clock().now().to_msg()
        return message


def at_rest(state: State) -> State:
    """Return the posture of a state, without its motion."""
    posture = state.copy()
    posture.v[:], posture.r[:] = 0.0, 0.0
    return posture


def main(arguments: list[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; return the exit status."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    return run(LqrNode, 'lqr', arguments)


if __name__ == '__main__':
    sys.exit(main())
