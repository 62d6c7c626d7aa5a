# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node that keeps a standing robot where it should be: linearizations in, gains out."""

import sys

if __name__ == '__main__':  # before the imports that take seconds, as the console script
    from geolin_control.programs import lqr_node

    sys.exit(lqr_node())

import time
import traceback
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from nav_msgs.msg import Odometry
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from geolin_control.feedback_messages import gains_message
from geolin_control.feedback_stream import LQR_TABLE, FeedbackStream
from geolin_control.regulator import Command, Mode
from geolin_msgs import msg
from geolin_msgs.msg import ContactStates, FeedbackGains, LinearizedDynamics, ReferenceState
from geolin_ros.errors import GeolinError
from geolin_ros.ros.robot_node import Input, Output, Pipeline, Reading, RobotNode
from geolin_ros.ros.running import STEADY, Program, run
from geolin_ros.ros.topics import LATCHED, NEWEST, overridable
from geolin_ros.stream.message_fields import write_stamp
from geolin_ros.stream.warm_up import warm_up, warm_up_discretization

LINEARIZATIONS = 'linearizer/linearization'
"""Where the linearizer of the same namespace publishes, unless it is called otherwise."""
PROGRAM = Program(
    'lqr_node',
    'Keeps a standing robot where it should be, by LQR about linearizations: docs/lqr_node.md.',
    f'robot_description, joint_states, odom, {LINEARIZATIONS}, contact_states, reference',
    '~/gains; with publish_efforts:=true joint_group_effort_controller/commands, ~/command',
)
MOTION = Input(JointState, 'joint_states'), Input(Odometry, 'odom')
WATCH_PERIOD = 0.005
"""How often the age of the newest state is looked at [s]."""
REPETITIONS = 3
"""How often zero efforts are sent, before the node goes."""


class LqrNode(RobotNode):
    """Makes gains of linearizations, in a thread of its own, and, if asked, efforts of states.

    Efforts are published while active and, as damping, after a deactivation until the node is
    cleaned up. However it goes, it brings them to zero before: controllers keep the last ones.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__('lqr_node', LQR_TABLE, **options)
        self._designer = self.worker('gains')
        self._design: Future[None] | None = None
        self._next_design = 0.0
        self._designed_on: tuple[Any, ...] = ()
        self._newest: Command | None = None
        self._modes: Counter[str] = Counter()
        self._supervised: list[Any] = []

    def compile(self) -> None:
        """Compile, or load from the cache, what every linearization and gain needs."""
        warm_up()
        warm_up_discretization()

    def outputs(self) -> Sequence[Output]:
        """Return what is published."""
        return (Output(FeedbackGains, '~/gains', LATCHED),)

    def inputs(self) -> Sequence[Input]:
        """Return what is subscribed to."""
        return (
            *MOTION,
            Input(LinearizedDynamics, LINEARIZATIONS, partial(self.take, 'linearization')),
            Input(ContactStates, 'contact_states', qos=NEWEST),
            Input(ReferenceState, 'reference', qos=NEWEST),
        )

    def make_stream(self, reading: Reading) -> FeedbackStream:
        """Return a stream; it looks up all frames and joints that parameters name."""
        return FeedbackStream(reading.model, reading.values, self._counts)

    def make_pipeline(self, reading: Reading) -> Pipeline:
        """Return a regulator that has made gains once, and the writer of its messages."""
        stream = self.make_stream(reading)
        stream.warm_up()
        return Pipeline(
            stream, partial(gains_message, lambda name: getattr(msg, name)(), reading.model)
        )

    def adopt(self, pipeline: Pipeline, earlier: Pipeline | None) -> None:
        """Go on where the regulator of the earlier one is."""
        stream = pipeline.stream
        stream.is_active = self._is_active
        stream.is_obeyed = self._values['publish_efforts']
        if earlier is not None:
            stream.resume(earlier.stream)

    async def until_ready(self) -> None:
        """Wait for a robot, too, and for the kernels of its gains: active is who can act."""
        await self.until_settled()
        while self._pipeline is None and self._source is not None:
            await self.next_news()

    def on_changed(self, names: set[str]) -> None:
        """Ramp efforts down before they are published no more."""
        if 'publish_efforts' in names and not self._values['publish_efforts']:
            self._ramp_down('efforts are not published any more')

    # ---- lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Offer efforts too; they are no lifecycle topics, to be damped once inactive."""
        array = Float64MultiArray, 'joint_group_effort_controller/commands'
        self._efforts = tuple(
            self.create_publisher(kind, topic, **overridable(NEWEST))
            for kind, topic in (array, (JointState, '~/command'))
        )
        result = super().on_configure(state)
        self._periodic.append(self.create_timer(WATCH_PERIOD, self._watch, clock=STEADY))
        return result

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Regulate from now on, and publish the gains: nobody received those made meanwhile."""
        self._stop_supervision()
        result = super().on_activate(state)
        if self._pipeline is not None:
            self._pipeline.stream.regulator.renew()
            self._pipeline.stream.is_active = True
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop to regulate; joints are damped as long as their states come."""
        if self._pipeline is not None:
            self._pipeline.stream.is_active = False
        result = super().on_deactivate(state)
        self._supervised = [self._open(given) for given in MOTION]
        return result

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Ramp efforts down, and forget everything but the parameters."""
        self._stop_supervision()
        self._ramp_down('the node is cleaned up')
        if self._design is not None:
            self._design.exception()  # what is being designed is not wanted any more
        self._design = None
        for publisher in self._efforts:
            self.destroy_publisher(publisher)
        return super().on_cleanup(state)

    def destroy_node(self) -> None:
        """Ramp efforts down, then go."""
        if self.context.ok():
            self._ramp_down('the node ends')
        super().destroy_node()

    def _stop_supervision(self) -> None:
        for subscription in self._supervised:
            self.destroy_subscription(subscription)
        self._supervised.clear()

    # ---- gains

    def _start_design(self, pipeline: Pipeline) -> None:
        """Let the designer look at what there is, if it is idle and its time has come."""
        now, about = time.monotonic(), (pipeline, pipeline.stream.regulator.standing_on)
        is_due = now >= self._next_design or about != self._designed_on  # a change does not wait
        if is_due and (self._design is None or self._design.done()):
            self._designed_on = about
            self._next_design = now + 1.0 / self._values['design_rate']
            self._design = self._designer.submit(self._redesign, pipeline)

    def _redesign(self, pipeline: Pipeline) -> None:
        start, stream = time.perf_counter(), pipeline.stream
        try:
            gains = stream.design()
        except Exception as error:  # else the thread would keep it to itself
            if not isinstance(error, GeolinError):
                self.get_logger().error(traceback.format_exc())
            self._warn('design', f'no new gains: {error}')
            return
        if gains is not None and self._is_active:
            elapsed = time.perf_counter() - start
            source = stream.regulator.source
            self._outputs[0].publish(
                pipeline.writer(gains, source, stream.stamp, stream.world_frame, elapsed)
            )

    # ---- efforts

    def publish(self, pipeline: Pipeline, answer: Command, start: float) -> None:
        """Publish efforts, if they are asked for, and say so when their kind changes."""
        if self._is_active:
            self._start_design(pipeline)
        self._modes[answer.mode.value] += 1
        if self._newest is None or answer.mode is not self._newest.mode:
            words = f'{answer.mode.value}: {answer.reason}'.removesuffix(': ')
            if answer.mode is Mode.FEEDBACK:
                self.get_logger().info(words)
            else:
                self.get_logger().warning(words)
        self._newest = answer
        if self._values['publish_efforts'] and pipeline.stream.is_obeyed:
            self._send(pipeline, answer)

    def _send(self, pipeline: Pipeline, answer: Command) -> None:
        efforts = answer.efforts.tolist()
        stamped = JointState(name=list(pipeline.model.actuated_joints), effort=efforts)
        write_stamp(stamped.header.stamp, pipeline.stream.stamp)
        array, command = self._efforts
        array.publish(Float64MultiArray(data=efforts))
        command.publish(stamped)

    def _watch(self) -> None:
        """Ramp efforts down when states do not come any more."""
        pipeline = self._pipeline
        if pipeline is not None and pipeline.stream.silence > self._values['input_timeout']:
            reason = f'no state for {pipeline.stream.silence:.3f} s'
            self.publish(pipeline, pipeline.stream.release(reason), time.perf_counter())

    def _ramp_down(self, reason: str) -> None:
        """Bring the efforts to zero, as slowly as they may change, and send no more of them."""
        pipeline = self._pipeline
        if pipeline is None or not pipeline.stream.is_obeyed:
            return
        if pipeline.stream.regulator.guard.has_begun:
            self.get_logger().info(f'release: {reason}')
            commands = list(pipeline.stream.ramp_down(reason, WATCH_PERIOD))
            for command in commands + REPETITIONS * commands[-1:]:
                self._send(pipeline, command)
                time.sleep(WATCH_PERIOD)
        pipeline.stream.is_obeyed = False

    # ---- once a second

    def report(self, waits_for: str | None) -> DiagnosticArray:
        """Return mode, gains and counts."""
        mode, reason, warning = Mode.RELEASE, 'no state yet', ''
        if self._newest is not None:
            _, mode, reason = self._newest
        values = {
            'states': str(self._counts.received),
            **{mode.value: str(self._modes[mode.value]) for mode in Mode},
            **{f'dropped: {c.value}': str(count) for c, count in self._counts.drops.items()},
        }
        if self._pipeline is not None:
            regulator = self._pipeline.stream.regulator
            warning = regulator.warning
            values['standing on'] = ', '.join(regulator.standing_on)
            values['last design failed'] = regulator.failure or 'no'
            if regulator.gains is not None:
                values['gains made of'] = regulator.source
                values['largest closed-loop eigenvalue'] = f'{regulator.gains.margin:.6f}'
        is_well = mode is Mode.FEEDBACK and not warning
        level = DiagnosticStatus.OK if is_well else DiagnosticStatus.WARN
        words = f'{mode.value} {waits_for or reason or warning}'.strip()
        return self._diagnostics.message(self.get_clock().now(), level, words, values)


main = partial(run, LqrNode, PROGRAM)
